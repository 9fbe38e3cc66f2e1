"""Charts and the app from a notebook."""

import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

import bup
from bup.explanation.reasons import Reasoner
from bup.results.result import node_table
from bup.run.splits import usual_sizes
from bup.training import fitting
from dashboard import notebook
from dashboard.figures.reasons import group_figure, reasons_figure
from dashboard.figures.reliability import reliability_figure
from dashboard.ui.theme import Theme
from tests.support.folder_files import write

NAME = "synthetic:nodes=200,classes=3,words=60,mean_degree=6"


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))


@pytest.fixture(scope="module")
def graph() -> bup.Graph:
    return bup.load_graph(NAME)


@pytest.fixture(scope="module")
def result(graph) -> bup.Result:
    validation, test = usual_sizes(graph)
    return bup.fit(graph, per_class=5, validation=validation, test=test, left_out=[2], epochs=20)


def test_a_result_knows_its_graph_and_its_table(graph, result):
    assert result.graph is graph
    assert result.table().equals(node_table(result, graph))
    fitting.save(result, graph)
    assert fitting.load(result.spec, graph).graph is graph
    assert bup.Result.unpack(result.spec, result.pack()).get_graph().digest == graph.digest


def test_what_a_cell_prints_does_not_grow_with_the_graph(graph, result):
    assert repr(graph.class_names) in repr(graph) and len(repr(graph)) < 500
    assert repr(result.spec) in repr(result) and len(repr(result)) < len(repr(result.spec)) + 200


def test_charts_are_those_of_the_app(graph, result):
    probs, targets, _ = result.judged(graph)
    bins = bup.metrics.reliability_bins(probs, targets, 10)
    theme = Theme(noun=graph.noun)
    expected = reliability_figure(bins, theme, bup.methods.describe_run(result.spec))
    assert bup.figures.reliability(result) == expected


@pytest.mark.parametrize(
    "chart",
    ["compare", "confidence", "risk_coverage", "set_sizes", "unseen", "roc", "against", "training"],
)
def test_every_chart_is_drawn_in_both_themes(result, chart):
    light, dark = (getattr(bup.figures, chart)(result, dark=dark) for dark in (False, True))
    assert light.data and light.layout.font.color != dark.layout.font.color


def test_rivals_are_drawn_beside(graph, result):
    rival = bup.fit(graph, "gcn", per_class=5, validation=40, test=None, left_out=[2], epochs=5)
    for chart in (bup.figures.reliability, bup.figures.risk_coverage):
        assert len(chart(result, rival).data) > len(chart(result).data)


def test_what_cannot_be_drawn_is_explained(graph, result):
    with pytest.raises(bup.BupError, match="no score 'luck'"):
        bup.figures.unseen(result, "luck")
    whole = bup.fit(graph, "gcn", per_class=5, validation=40, test=None, epochs=2)
    with pytest.raises(bup.BupError, match="left_out"):
        bup.figures.roc(whole)
    with pytest.raises(bup.BupError, match="nothing to compare"):
        bup.figures.compare()


def test_the_app_opens_on_the_run(graph, result, monkeypatch):
    opened, served = [], []
    monkeypatch.setattr(notebook.webbrowser, "open", opened.append)
    monkeypatch.setattr(notebook, "_serve", served.append)
    url = bup.explore(result, port=8555)
    assert opened == [url] and served == [8555]
    asked = parse_qs(urlsplit(url).query)
    assert asked["graph"] == [NAME] and asked["per_class"] == ["5"]
    assert fitting.load(result.spec, graph) is not None


def test_a_graph_that_only_the_notebook_has_is_kept_for_the_app(graph, monkeypatch):
    monkeypatch.setattr(notebook, "_serve", lambda port: None)
    mine = bup.Graph.from_pyg(graph.to_pyg(), graph.class_names, name="mine")
    probs = np.full((200, 3), 1 / 3)
    result = bup.fit(mine, model=lambda g, s: probs, per_class=5, validation=40, test=None)
    asked = parse_qs(urlsplit(bup.explore(result, browser=False)).query)
    (name,) = asked["graph"]
    assert name.startswith("own:") and bup.load_graph(name).digest == mine.digest
    assert asked["method"] == ["Own"] and len(asked["own.predictions"][0]) == 20
    odd = bup.fit(mine, model=lambda g, s: probs, per_class=5, validation=30, test=None)
    with pytest.raises(bup.BupError, match="validation=40 and test=None"):
        bup.explore(odd)


def test_a_folder_that_the_app_was_not_offered_is_kept_for_it(graph, tmp_path):
    write(graph, tmp_path)
    folder = bup.load_graph(f"folder:{tmp_path}")
    result = bup.fit(folder, "gcn", per_class=5, validation=40, test=None, epochs=2)
    (name,) = parse_qs(urlsplit(bup.address(result)).query)["graph"]
    assert name.startswith("own:") and bup.load_graph(name).digest == folder.digest


def test_neither_the_core_nor_its_charts_load_streamlit():
    script = "import sys, bup; bup.load_graph; assert 'plotly' not in sys.modules;"
    script += "bup.figures; assert 'streamlit' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_reasons_are_drawn_of_a_node_and_of_a_group(graph, result):
    reasons = bup.explain(result, 35).reasons
    theme = Theme(noun=graph.noun)
    assert reasons.figure() == reasons_figure(reasons, theme)
    assert bup.figures.reasons(reasons, dark=True) != reasons.figure()
    group = Reasoner(graph, result).explain_group([3, 5, 8])
    assert group.figure() == group_figure(group, theme)
    with pytest.raises(bup.BupError, match=r"those that bup\.explain returns"):
        bup.figures.reasons(result)
