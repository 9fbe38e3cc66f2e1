"""Runs as one page: the numbers in it are the runs', and what it is made of can do no harm."""

import dataclasses
import datetime
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bup
from bup import cli
from bup.errors import BupError
from bup.explanation.reasons import Reasoner
from bup.explanation.sentences import because
from bup.methods import METHODS, complete
from bup.results.store import Store
from bup.training import fitting
from dashboard.cache import shared_cache
from dashboard.export import page as pages
from dashboard.export import reasons as export_reasons
from dashboard.export.document import SharedLists, labels
from dashboard.export.page import page, refusal
from dashboard.network.rate_limits import RateLimit
from dashboard.session import run_link
from dashboard.session.run_link import find_spec
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.theme import Theme
from dashboard.views import exports
from tests.support.exports import HOSTILE, hostile_graph, loaded_run, numbers, read_document

DAY = datetime.date(2026, 3, 9)
SMALL = "synthetic:nodes=200,classes=3,words=60"


@pytest.fixture(scope="module")
def made(cora, run, rival) -> str:
    return page([loaded_run(run, cora), loaded_run(rival, cora)], DAY)


@pytest.fixture(scope="module")
def content(made) -> dict:
    return read_document(made)


def test_the_page_of_cora_is_small_and_says_what_it_is(made, content):
    assert len(made.encode()) < 6e6
    assert content["title"] == "Cora: BUP: Published rule, GCN"
    assert content["size"] == "2,708 papers, 5,278 citations, 7 classes"
    assert content["made"] == "9 March 2026"
    assert "never shown: Rule Learning" in content["runs"][0]["facts"]


@pytest.mark.parametrize("number", [0, 1])
def test_a_run_in_the_page_has_the_numbers_of_the_run(content, cora, run, rival, number):
    result, there = (run, rival)[number], content["runs"][number]
    probs = numbers(there["probs"]).reshape(result.probs.shape)
    np.testing.assert_allclose(probs, result.probs, atol=2e-5)
    assert np.array_equal(numbers(there["said"]), result.predicted)
    assert np.array_equal(numbers(there["truth"]), cora.labels)
    assert np.array_equal(np.flatnonzero(numbers(there["test"])), np.sort(result.split.test))
    table = result.table()
    for colour in there["colours"]:
        column, first_step = columns.menu_columns(table)[colour["name"]], colour["scale"]
        assert colour["seen"] == [
            cora.noun.apply_to(column.map_sentence(dark)) for dark in (False, True)
        ]
        shades = first_step[0] + numbers(colour["shades"]) * first_step[1]
        if column.kind == "score":
            want = column.shade(table[colour["name"]].to_numpy(float))
            finite = np.isfinite(want)
            np.testing.assert_allclose(shades[finite], want[finite], atol=first_step[1])
            assert (numbers(colour["shades"])[~finite] == 65535).all()


def test_intervals_and_messages_are_those_of_the_inspector(content, cora, run):
    there, one = content["runs"][0], loaded_run(run, cora)
    shape = run.probs.shape
    low, high, mean, std = (
        numbers(there[name]).reshape(shape) for name in ("low", "high", "mean", "std")
    )
    for node in (0, 35, 1000, 2707):
        seen = one.inspection(node)
        np.testing.assert_allclose(low[node], seen.low, atol=2e-4)
        np.testing.assert_allclose(high[node], seen.high, atol=2e-4)
        np.testing.assert_allclose(mean[node], seen.mean, atol=1e-3)
        np.testing.assert_allclose(std[node], np.sqrt(seen.var), atol=1e-3)
    without = content["runs"][1]
    assert without["low"] is None and "no variance" in without["no_interval"]


def members(chart: dict) -> list[int]:
    return sorted(node for _, nodes in chart["groups"].values() for node in nodes)


def test_bars_and_cells_lead_to_all_of_their_papers_once(content, cora, run):
    there = content["runs"][0]["views"]
    bins, bars, _ = there["reliability"][0]["charts"]
    judged = sorted(run.judged(cora).nodes.tolist())
    for chart in (bins, bars):
        assert members(chart) == judged
    unseen = there["unseen"]
    assert len(unseen) == len(columns.score_columns(run.table()))
    test = run.split.test
    for block in unseen:
        histogram, _, share = block["charts"]
        assert members(histogram) == sorted(test.tolist())
        assert members(share) == sorted(test[run.split.is_ood(cora.labels[test])].tolist())
    # The counts that a bar is drawn from are those of its group.
    counts = [0] * 20
    for key, (_, nodes) in bars["groups"].items():
        counts[int(key) // 2] += len(nodes)
    confidence = run.probs.max(axis=1)[judged]
    assert counts == np.histogram(confidence, np.linspace(0, 1, 21))[0].tolist()


def test_points_of_compared_runs_lead_to_papers(content, cora, run, rival):
    calibration, roc = content["compare"]["charts"]
    judged = [node for one in (run, rival) for node in one.judged(cora).nodes.tolist()]
    assert members(calibration) == sorted(judged) and roc["groups"] is None


def test_lists_that_charts_share_travel_once():
    shared, long = SharedLists(), [f"node {i}" for i in range(500)]
    first = shared.share({"text": long, "name": "a"})
    assert first == {"text": {"$": 0}, "name": "a"} == shared.share({"text": [*long], "name": "a"})
    assert shared.values == [long]
    assert shared.share(["few", "words"]) == ["few", "words"]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUP_CACHE", str(tmp_path_factory.mktemp("cache")))
        graph = hostile_graph()
        fitted = bup.fit(graph, epochs=5, per_class=5, validation=30, test=None)
        return page([loaded_run(fitted, graph)], DAY)


def test_no_name_can_become_markup(hostile):
    assert HOSTILE in read_document(hostile)["classes"][0]
    assert "window.hurt" not in hostile.replace(
        "&lt;/script&gt;&lt;script&gt;window.hurt = 1&lt;/script&gt;&lt;img src=x "
        "onerror=&quot;window.hurt = 1&quot;&gt;",
        "",
    )
    assert hostile.count("<script") == hostile.count("</script>") == 3


def test_a_run_without_unseen_classes_has_no_such_view(hostile):
    (there,) = read_document(hostile)["runs"]
    assert there["views"]["unseen"] == [] and read_document(hostile)["compare"] is None


def test_what_is_too_large_is_refused_in_a_sentence(cora, run, monkeypatch):
    assert refusal(cora, 2) == ""
    assert "at most 6 runs, got 7" in refusal(cora, 7)
    monkeypatch.setattr(pages, "PAGE_LIMITS", (2000, 180_000))
    with pytest.raises(BupError, match="cora has 2,708 and 5,278: choose a smaller graph"):
        page([loaded_run(run, cora)], DAY)


def test_test_nodes_in_another_order_are_not_called_different(cora, run, rival):
    test = rival.split.test

    def said(nodes: np.ndarray) -> str:
        other = dataclasses.replace(rival, split=dataclasses.replace(rival.split, test=nodes))
        return read_document(page([loaded_run(run, cora), loaded_run(other, cora)], DAY))[
            "compare"
        ]["words"]

    assert "different papers" not in said(np.sort(test))
    assert "different papers" in said(test[1:])


def test_the_app_offers_the_page_of_what_it_compares(cora, run, rival, monkeypatch):
    offered, said = [], []
    monkeypatch.setattr(exports.st, "download_button", lambda *a, **k: offered.append(a))
    monkeypatch.setattr(exports.st, "caption", said.append)
    monkeypatch.setattr(exports, "page", lambda known, day: [one.spec.method for one in known])
    views = [View(loaded_run(result, cora), 0, Theme()) for result in (run, rival)]
    exports._web_page_button(views)
    label, make, name, kind = offered.pop()
    assert label == "These runs as a web page" and kind == "text/html"
    assert make() == ["bup", "gcn"] and name == f"{views[0].run.key}.html"
    exports._web_page_button(views * 4)
    assert not offered and "at most 6 runs, got 8" in said[0]


def test_a_page_is_made_once_and_one_visitor_has_few_of_them_made(cora, run, monkeypatch):
    ration, made, offered, said = RateLimit("web pages", 2, 600), [], [], []
    monkeypatch.setattr(shared_cache, "SHARED_CACHE", shared_cache.SharedCache())
    monkeypatch.setattr(exports, "PAGES", ration)
    monkeypatch.setattr(exports.st, "download_button", lambda *a, **k: offered.append(a[1]))
    monkeypatch.setattr(exports.st, "caption", said.append)
    monkeypatch.setattr(exports, "page", lambda known, day: made.append(1) or f"{len(made)}")

    def pages(of: bup.Result, times: int) -> set[str]:
        """Asked for at once."""
        for _ in range(times):
            exports._web_page_button([View(loaded_run(of, cora), 0, Theme())])
        asked = [offered.pop() for _ in range(times)]
        with ThreadPoolExecutor(times) as pool:
            return set(pool.map(lambda make: make(), asked))

    assert pages(run, 12) == {"1"} and not said
    test = run.split.test
    part = [
        dataclasses.replace(run, split=dataclasses.replace(run.split, test=test[n:]))
        for n in (1, 2)
    ]
    assert pages(part[0], 1) == {"2"} and pages(run, 3) == {"1"}
    with pytest.raises(bup.BupError, match="you had 2 web pages in the last 10 minutes"):
        pages(part[1], 1)
    assert "try again in 10 min" in said[-1] and len(made) == 2


def test_runs_of_one_name_are_told_apart():
    one, two = (complete(bup.Spec(seed=seed)) for seed in (0, 1))
    assert labels([one, two]) == ["BUP: Published rule (seed 0)", "BUP: Published rule (seed 1)"]
    wide = complete(bup.Spec(settings=(("hidden", 48),)))
    assert labels([one, wide])[1] == "BUP: Published rule (Width of the hidden layer 48)"
    assert labels([complete(bup.Spec(method="gcn+gats")), one])[0] == "GCN + GATS"


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("bup", {}),
        ("bup", {"lam": 2.5, "propagation": "paper", "calibrate": "none"}),
        ("gcn", {"hidden": 64, "calibrate": "temperature"}),
        ("ensemble", {}),
    ],
)
def test_a_link_of_the_app_means_its_run(cora, method, settings):
    spec = complete(
        bup.Spec(
            method=method,
            per_class=10,
            left_out=(2, 6),
            seed=3,
            settings=tuple((dict(METHODS[method].app_defaults) | settings).items()),
        )
    )
    assert find_spec(f"http://localhost:8501/explore?{run_link.query(spec, cora)}&node=35") == spec
    spec = complete(dataclasses.replace(spec, split="20/10/70"))
    assert find_spec(f"http://localhost:8501/?{run_link.query(spec, cora)}") == spec


def test_a_link_or_name_of_nothing_is_explained(tmp_path, monkeypatch):
    with pytest.raises(BupError, match="no class 'Alchemy' as in the link"):
        find_spec("?graph=Cora&left_out=Alchemy")
    with pytest.raises(BupError, match="seed of the link must be a whole number, got 'x'"):
        find_spec("?graph=Cora&seed=x")
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    for name in ("nobody", "..", ""):
        with pytest.raises(BupError, match="there is no stored run"):
            find_spec(name)


@pytest.fixture
def bup_command(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path / "cache"))

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bup", "export", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return stop.value.code, captured.out, captured.err

    return call


def test_the_command_trains_what_is_missing_and_finds_it_by_name(bup_command, tmp_path):
    out = tmp_path / "page.html"
    fitting = ("--per-class", "5", "--left-out", "1", "--set", "epochs=5", "--set", "bup.lam=2")
    code, said, _ = bup_command(
        "--graph", SMALL, "--method", "bup", "--method", "gcn", *fitting, "-o", out
    )
    assert code == 0 and said.endswith("2 runs\n")
    assert out.stat().st_mode & 0o777 == 0o644
    first = read_document(out.read_text())["runs"]
    assert "--set lam=2" in first[0]["command"] and "--set lam" not in first[1]["command"]
    assert all("--set epochs=5" in one["command"] for one in first)
    (name,) = (folder.name for folder in Store().root.glob("*-bup-*"))
    assert bup_command(name, "-o", out)[0] == 0
    (again,) = read_document(out.read_text())["runs"]
    assert again["probs"] == first[0]["probs"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--graph", SMALL, "--method", "bup", "--set", "nix=2"],
            "none of bup has the setting 'nix=2'",
        ),
        (["--graph", SMALL, "--method", "nobody"], "no method 'nobody'"),
        (["nobody"], "there is no stored run 'nobody'"),
        (["--site", "folder"], "give one of -o page.html"),
        ([f"?graph={SMALL}", "?graph=synthetic"], "shows runs on one graph, got synthetic:"),
    ],
)
def test_what_cannot_be_is_one_line_and_leaves_the_file(bup_command, tmp_path, arguments, words):
    out = tmp_path / "page.html"
    out.write_text("what was there")
    code, _, said = bup_command(*arguments, "-o", out)
    assert code == 2 and words in said and said.count("\n") == 1
    assert out.read_text() == "what was there"


def test_a_place_that_is_not_there_is_said_before_anything_is_trained(bup_command, monkeypatch):
    monkeypatch.setattr(fitting, "fit_specs", None)
    code, _, said = bup_command("-o", "/no/such/place/page.html")
    assert code == 2 and "there is no folder /no/such/place" in said


def test_what_is_no_address_is_said():
    for text in ("http://[::1", "http://[" + "x" * 1000 + "]?graph=cora"):
        with pytest.raises(BupError, match="no address"):
            find_spec(text)


@pytest.mark.parametrize("number", [0, 1])
def test_the_page_has_the_strongest_reasons_of_every_answer(content, cora, run, rival, number):
    there = content["runs"][number]["reasons"]
    reasoner = Reasoner(cora, (run, rival)[number])
    nodes = numbers(there["nodes"]).reshape(cora.num_nodes, -1)
    values = numbers(there["values"]).reshape(nodes.shape)
    gap, told = numbers(there["gap"]), np.flatnonzero(numbers(there["told"]))
    assert there["why"] == "" and nodes.shape[1] == export_reasons.STRONGEST
    assert told.tolist() == np.sort(run.split.train).tolist()
    for node in (0, 7, 1033, int(cora.degree.argmax())):
        found = reasoner.explain(node)
        count = min(len(found.nodes), export_reasons.STRONGEST)
        assert nodes[node, :count].tolist() == found.nodes[:count].tolist()
        assert (nodes[node, count:] == 65535).all()
        np.testing.assert_allclose(values[node, :count], found.contributions[:count], atol=1e-3)
        assert gap[node] == pytest.approx(found.gap, abs=1e-3)
        assert there["because"][node] == because(found)


def test_of_a_large_graph_the_page_has_the_reasons_of_test_nodes_first(monkeypatch):
    graph = bup.load_graph(SMALL)
    result = bup.fit(graph, per_class=5, epochs=3)
    monkeypatch.setattr(export_reasons, "MOST_EXPLAINED", len(result.split.test) - 2)
    there = export_reasons.reasons(View(loaded_run(result, graph), 0, Theme(noun=graph.noun)))
    explained = [node for node, text in enumerate(there["because"]) if text]
    assert explained == sorted(result.split.test[:-2].tolist())
    assert (
        there["why"]
        == f"The page has the reasons of {len(explained)} papers only, not of this one."
    )
    assert (there["nodes"][explained, 0] != 65535).all()


@pytest.mark.parametrize(("method", "words"), [("ggp", "no sum over words"), ("gpn", "too long")])
def test_a_page_says_why_it_has_no_reasons(method, words):
    graph = bup.load_graph(SMALL)
    one = loaded_run(bup.fit(graph, method, per_class=5, epochs=3), graph)
    there = read_document(page([one], DAY))["runs"][0]["reasons"]
    assert list(there) == ["why"] and words in there["why"]
