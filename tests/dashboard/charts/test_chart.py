"""Charts of a run with their texts and the nodes behind their points."""

import tomllib

import numpy as np
import pytest

from bup.explanation import detection
from dashboard.charts import compare, reliability, structure, unseen
from dashboard.charts.chart import nodes_by
from dashboard.charts.unseen import UNSEEN, DetectionTask, Detector
from dashboard.session.view import View
from dashboard.ui.theme import Theme
from tests.support import ROOT
from tests.support.exports import loaded_run

TEXTS = tomllib.loads((ROOT / "dashboard" / "charts" / "charts.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def views(cora, run, rival) -> dict[str, View]:
    theme = Theme(noun=cora.noun)
    return {
        name: View(loaded_run(result, cora), int(result.split.test[0]), theme)
        for name, result in (("one {run}", run), ("other", rival))
    }


@pytest.fixture(scope="module")
def task(views, cora) -> DetectionTask:
    detectors = [
        Detector(name, view, "confidence", view.result.uncertainties()["confidence"])
        for name, view in views.items()
    ]
    search = detection.unseen(detectors[0].view.result, cora)
    return DetectionTask(UNSEEN, search, tuple(detectors), 0.05)


def test_titles_and_captions_are_filled_and_say_what_a_node_is(views, task):
    view = task.first.view
    charts = [
        reliability.calibration(view),
        reliability.confidences(view),
        reliability.selective(view, 0.8),
        *(structure.against(view, axis, "confidence")[0] for axis in structure.AXES),
        structure.factor(view),
        compare.calibration(views),
        compare.roc(views),
        *(draw(task) for draw in (unseen.distributions, unseen.roc, unseen.precision_recall)),
        *(draw(task) for draw in (unseen.found_by, unseen.confusion)),
    ]
    keys = [chart.key for chart in charts]
    assert len(keys) == len(set(keys)) and set(keys) <= TEXTS.keys()
    for chart in charts:
        words = f"{chart.title} {chart.caption}"
        assert "{" not in words and "  " not in words and "node" not in words


def test_found_nodes_are_listed_by_the_methods_that_find_them(task):
    lists = unseen.found_by(task).lists
    assert sum(len(nodes.nodes) for nodes in lists.values()) == task.search.positive.sum()
    assert any("one {run}" in nodes.title for nodes in lists.values())
    for nodes in lists.values():
        doubt = task.first.doubt[nodes.nodes]
        assert (np.diff(doubt) <= 0).all(), "the most doubted first"


def test_nodes_of_each_value_keep_their_order():
    values, nodes = np.array([2, 0, 2, 0]), np.array([9, 8, 7, 6])
    found = {value: part.tolist() for value, part in nodes_by(values, nodes).items()}
    assert found == {0: [8, 6], 2: [9, 7]}
    assert nodes_by(values[:0], nodes[:0]) == {}
