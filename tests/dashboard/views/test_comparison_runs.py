"""Any run on the same nodes is a rival: stored ones, predictions that were brought, by name."""

import dataclasses
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

import bup
from bup import experiments
from bup.datasets import uploads
from bup.imported import predictions
from bup.io import files
from bup.methods import complete, describe_run, parse_run
from bup.run.spec import Run
from bup.training import fitting
from bup.training.torch_model import run_of_predictions
from dashboard.cache.run_cache import LoadedRun
from dashboard.session.view import View
from dashboard.ui.theme import Theme
from dashboard.views import comparison_runs

NAME = "synthetic:nodes=150,classes=3,words=40,mean_degree=5"


@pytest.fixture
def graph(tmp_path, monkeypatch) -> bup.Graph:
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    return bup.load_graph(NAME)


def every_spec() -> list[bup.Spec]:
    found = [
        bup.Spec(method=who.method, settings=who.settings)
        for question in experiments.QUESTIONS.values()
        for who in question.variants
    ]
    return list(dict.fromkeys(map(complete, found)))


def test_words_of_a_run_are_read_backwards():
    specs = every_spec()
    assert len({describe_run(spec) for spec in specs}) == len(specs) > 50
    for spec in specs:
        assert parse_run(describe_run(spec), bup.Spec()) == spec
    spec = parse_run("bup (lam=2,dropout=0.5)", bup.Spec(seed=3, left_out=(1,)))
    assert (spec.seed, spec.left_out) == (3, (1,)) and dict(spec.settings)["lam"] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("luck", "no method 'luck'"),
        ("gcn (hidden)", "NAME=VALUE"),
        ("gcn (hidden=0)", "at least 1"),
        ("gcn+luck", "calibrate must be one of"),
        ("Two words (x=1)", "named by its method"),
        ("gcn (hidden=64", "named by its method"),
    ],
)
def test_words_that_name_no_run_are_explained(words, said):
    with pytest.raises(bup.BupError, match=said):
        parse_run(words, bup.Spec())


def test_stored_runs_beside_are_those_on_the_same_nodes(graph):
    ask = {"per_class": 5, "epochs": 3, "store": True}
    first = bup.fit(graph, "gcn", **ask)
    same = [
        bup.fit(graph, "gcn", hidden=8, **ask),
        bup.fit(graph, "gcn+gats", **ask),
        bup.fit(graph, "mlp", **ask),
    ]
    for other in ({"seed": 1}, {"per_class": 6}, {"left_out": [1]}, {"test": 50}):
        bup.fit(graph, "gcn", **(ask | other))
    changed = bup.Graph.from_pyg(graph.to_pyg(), name=NAME)
    assert changed.digest != graph.digest  # other names of classes
    bup.fit(changed, "gcn", hidden=9, **ask)
    run = fitting.run_of(first.spec, graph)
    found = bup.Store().find_comparable(run)
    slow = [
        Run.from_dict(files.read(path).values["run"])
        for path in sorted(bup.Store().root.glob("*/result.bup"))
    ]
    assert found == [
        other
        for other in slow
        if other.digest == graph.digest
        and other.spec != first.spec
        and (other.spec.seed, other.spec.per_class, other.spec.left_out, other.spec.test)
        == (0, 5, (), None)
    ]
    assert {other.spec for other in found} == {result.spec for result in same}


def test_damaged_and_foreign_files_are_no_rivals(graph):
    ask = {"per_class": 5, "epochs": 3, "store": True}
    first, second = bup.fit(graph, "gcn", **ask), bup.fit(graph, "mlp", **ask)
    store, run = bup.Store(), fitting.run_of(first.spec, graph)
    (other,) = store.find_comparable(run)
    path = store.path(other)
    whole = path.read_bytes()
    for content in (b"", b"\xff" * 20, whole[:40], files.pack({}, {"version": 1})):
        path.unlink()
        path.write_bytes(content)
        assert store.find_comparable(run) == []
    path.unlink()
    path.write_bytes(whole)
    assert [r.spec for r in store.find_comparable(run)] == [second.spec]


def test_the_head_of_a_file_is_what_the_file_says(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(files.pack({"a": np.zeros(3), "b": np.ones((2, 2))}, {"x": [1, {"y": None}]}))
    names, values = files.read_header(path)
    whole = files.read(path)
    assert names == set(whole.arrays) and values == whole.values


def test_no_run_is_offered_under_two_names(run, cora):
    view = View(LoadedRun(fitting.run_of(run.spec, cora), cora, run), 0, Theme())
    specs = comparison_runs.comparable_specs(view)
    assert len(set(specs.values())) == len(specs) > 10
    for formerly in comparison_runs.OLD_LABELS:
        (spec,) = comparison_runs.specs_of_labels(view, [formerly], specs)
        assert spec.left_out == run.spec.left_out


# On the pages.


def cora_run(cora, method, **settings) -> bup.Result:
    return bup.fit(cora, method, epochs=3, store=True, **settings)


@pytest.mark.parametrize(
    ("page", "key"), [("compare", "rivals"), ("reliability", "rival"), ("ood", "ood_rivals")]
)
def test_stored_runs_are_offered_and_shown(open_app, stocked_cache, cora, page, key):
    for method in ("gcn+gats", "gcn"):
        cora_run(cora, method, left_out=[6])
    label = "gcn+gats (epochs=3)"
    chosen = {key: label if key == "rival" else [label]}
    app = open_app(page, left_out="Rule Learning", **chosen)
    assert not app.exception and not app.error and not app.warning
    widget = app.selectbox(key=key) if key == "rival" else app.multiselect(key=key)
    assert {label, "gcn (epochs=3)", "GCN", "GCN, temperature-scaled"} <= set(widget.options)
    assert widget.value == chosen[key]


def test_what_names_no_run_is_said(open_app):
    app = open_app("compare", rivals=["GCN", "luck"])
    assert not app.exception
    assert any("there is no method" in warning.value for warning in app.warning)


def brought(cora, title="mine") -> predictions.Predictions:
    probs = np.full((cora.num_nodes, 7), 0.05)
    probs[np.arange(cora.num_nodes), cora.labels] = 0.7
    given = dataclasses.replace(predictions.check(cora, probs), title=title)
    (result,) = fitting.fit_specs(cora, [run_of_predictions(cora, given)])
    fitting.save(result, cora)
    return given


def test_predictions_from_python_are_offered_by_name(open_app, stocked_cache, cora):
    given = brought(cora)
    app = open_app("compare", rivals=["Own: mine"])
    assert not app.exception and not app.warning
    assert "Own: mine" in app.multiselect(key="rivals").options
    assert "Own" in app.selectbox(key="method").options
    app.selectbox(key="method").set_value("own").run()
    assert not app.exception and not app.error
    assert app.selectbox(key="own_predictions").options == ["mine"]
    assert app.session_state["own.predictions"] == given.key
    predictions.delete(given.key)


def test_on_a_shared_server_nobody_is_told_of_others_predictions(open_app, cora, monkeypatch):
    monkeypatch.setenv("BUP_SHARED", "1")
    given = brought(cora)
    app = open_app("compare")
    assert not app.exception
    assert not any("Own" in option for option in app.multiselect(key="rivals").options)
    assert "Own" not in app.selectbox(key="method").options
    predictions.delete(given.key)


def test_a_file_and_a_model_give_their_names(graph):
    def half(graph, split):
        return np.full((graph.num_nodes, 3), 1 / 3)

    rows = "".join(f"{i},0.5,0.25,0.25\n" for i in range(graph.num_nodes))
    text = f"id,{','.join(graph.class_names)}\n{rows}"
    predictions.read(graph, "my probs.csv", text.encode()).save()
    bup.fit(graph, model=half, per_class=5)
    assert [about.title for about in predictions.list_stored(graph.digest)] == ["half", "my probs"]
    assert predictions.list_stored("another") == []


def test_a_graph_in_memory_is_kept_once(graph, tmp_path):
    mine = bup.Graph.from_pyg(graph.to_pyg(), name="mine")
    four = [
        bup.fit(mine, method, per_class=5, epochs=2, seed=seed)
        for method in ("gcn", "mlp")
        for seed in (0, 1)
    ]
    names = {parse_qs(urlsplit(bup.address(result)).query)["graph"][0] for result in four}
    assert len(names) == 1 and len(list(Path(tmp_path).glob("own/graphs/*.bup"))) == 1
    (name,) = names
    assert bup.load_graph(name).digest == mine.digest and name.endswith("-mine")
    other = dataclasses.replace(mine, labels=(mine.labels + 1) % 3)
    assert uploads.save_once(other) != uploads.save_once(mine) == name


def test_a_stored_run_that_no_method_has_any_more_is_not_offered():
    assert comparison_runs.can_offer(complete(bup.Spec(method="gcn")))
    assert not comparison_runs.can_offer(bup.Spec(method="gcn", settings=(("hidden", 3),)))
    assert not comparison_runs.can_offer(bup.Spec(method="gone"))


def test_an_own_graph_is_called_what_its_people_call_it(open_app, stocked_cache):
    small = bup.load_graph(NAME)
    name = uploads.save(small, "My papers")
    try:
        app = open_app(graph=name, per_class="5", seed="9")
        assert not app.exception and not app.error
        said = " ".join(text.value for text in (*app.caption, *app.markdown))
        assert "**my papers**: only people with its link" in said and "on **my papers**" in said
        assert uploads.title_of("own:" + "a" * 20) == "a graph of your own"
        assert app.selectbox(key="graph").value == name
    finally:
        uploads.delete(name)
