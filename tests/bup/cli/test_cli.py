import json
import subprocess
import sys
from pathlib import Path

import pytest

from bup import __version__, cli, evaluate, fit, load_graph
from bup.cli.progress import duration
from bup.errors import BupError

SMALL = "synthetic:nodes=200,classes=3,words=60"


def run(monkeypatch, capsys, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["bup", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    captured = capsys.readouterr()
    return stop.value.code, captured.out, captured.err


@pytest.fixture
def bup(monkeypatch, capsys):
    return lambda *arguments: run(monkeypatch, capsys, *arguments)


def test_graph_prints_the_published_counts_as_json(bup):
    code, out, _ = bup("graph", "cora", "--json")
    figures = json.loads(out)
    assert code == 0
    assert [figures[k] for k in ("nodes", "edges", "features", "classes")] == [2708, 5278, 1433, 7]
    assert figures["components"] == {"count": 78, "largest": 2485, "isolated": 0}


def test_graph_prints_tables_for_people(bup):
    code, out, _ = bup("graph", "citeseer")
    assert code == 0
    for words in ("3,327", "homophily", "Information Retrieval", "isolated nodes", "15 papers"):
        assert words in out


def test_graphs_lists_every_graph(bup):
    code, out, _ = bup("graphs", "--json")
    assert code == 0
    names = [row["name"] for row in json.loads(out)]
    assert names == [
        *("cora", "citeseer", "pubmed", "almanac", "synthetic"),
        *("fewer:GRAPH:SHARE", "noisy:GRAPH:SHARE", "pyg:SET/NAME", "folder:PATH", "own:TOKEN"),
    ]
    assert "folder:PATH" in bup("graphs")[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["graph", "atlantis"], "no graph 'atlantis'"),
        (["graph", "folder:/no/such/place"], "/no/such/place"),
        (["graph", "folder:"], "choose one of"),
        (["graph", "synthetic:weight=3"], "weight"),
        (["graph"], "NAME"),
        (["graph", "cora", "--colour"], "--colour"),
        (["sing"], "sing"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(bup, arguments, words):
    code, out, err = bup(*arguments)
    assert code == 2 and out == ""
    assert err.startswith("bup: ") and err.count("\n") == 1 and words in err


def test_help_reads_well(bup):
    code, out, _ = bup("--help")
    assert code == 0 and "List the graphs that can be loaded" in out
    assert bup("graph", "-h")[0] == 0
    assert bup("--version")[1].strip() == __version__


def test_a_fetch_that_fails_still_lists_the_rest(bup, monkeypatch):
    def fail(name):
        raise BupError("no network")

    monkeypatch.setattr("bup.load_graph", fail)
    code, out, err = bup("graphs", "--fetch")
    assert code == 0 and "synthetic" in out and err.count("no network") == 3


def test_methods_say_what_they_do_and_one_of_them_all_about_itself(bup):
    code, out, _ = bup("methods", "--json")
    assert code == 0 and {"bup", "gcn"} <= {method["name"] for method in json.loads(out)}
    (described,) = json.loads(bup("methods", "bup", "--json")[1])
    assert "lam" in {setting["name"] for setting in described["settings"]}
    for words in ("lam", "message_std"):
        assert words in bup("methods", "bup")[1]


def test_fit_prints_what_evaluate_says_and_finds_the_run_again(bup, tmp_path, monkeypatch):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    asked = ["--graph", SMALL, "--method", "gcn", "--per-class", "5", "--validation", "50"]
    asked += ["--test", "0", "--set", "epochs=5", "--json"]
    first, again = (json.loads(bup("fit", *asked)[1]) for _ in range(2))
    assert (first.pop("stored"), again.pop("stored")) == (False, True)
    assert first == again and first["epochs"] == 5
    graph = load_graph(SMALL)
    result = fit(graph, "gcn", per_class=5, validation=50, test=None, epochs=5)
    assert first["test"] == evaluate(result, graph)["test"]


def test_the_installed_command_starts_without_torch():
    """Listing graphs must not wait for the slowest import."""
    script = "import sys, bup.cli; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 s"),
        (89, "89 s"),
        (90, "2 min"),
        (3569, "59 min"),
        (3571, "1 h 0 min"),
        (9e4, "25 h 0 min"),
    ],
)
def test_how_long_a_plan_takes_is_told_in_its_own_unit(seconds, words):
    assert duration(seconds) == words


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
@pytest.mark.parametrize("command", [("graphs",), ("graph", "synthetic:nodes=50", "--json"), ()])
def test_output_that_nothing_takes_is_said_in_a_line(command):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bup.cli", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "cannot read or write the output (No space left" in done.stderr
