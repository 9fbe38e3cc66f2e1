"""The views of an exported page: figures of the app with their captions."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bup.experiments import epistemic_score
from bup.explanation import detection
from dashboard.charts import compare, reliability, structure, unseen
from dashboard.charts.chart import Chart, metric_texts
from dashboard.charts.unseen import UNSEEN, DetectionTask, Detector
from dashboard.session.view import View
from dashboard.ui import columns

COVERAGE = 0.8


class Block(NamedTuple):
    """The charts of a view for one score; ``label`` is empty if the view has no choice."""

    label: str
    numbers: Sequence[tuple[str, str, str]]  # name, value, meaning
    charts: Sequence[Chart]


def reliability_blocks(view: View) -> list[Block]:
    """Whether confidence is calibrated."""
    test = view.loaded_run.report()["test"]
    charts = [
        reliability.calibration(view),
        reliability.confidences(view),
        reliability.selective(view, COVERAGE),
    ]
    keys = reliability.METRIC_KEYS
    return [Block("", metric_texts(view, {key: test[key] for key in keys}), charts)]


def unseen_blocks(view: View) -> list[Block]:
    """Whether each score detects classes that were left out; empty if there are none."""
    search = detection.unseen(view.result, view.graph)
    if not search.possible:
        return []
    scores, own = columns.score_columns(view.table), epistemic_score(view.spec.method)
    doubts = view.result.uncertainties()
    blocks = []
    for name in sorted(scores, key=lambda name: name != own):
        label = scores[name].label
        task = DetectionTask(UNSEEN, search, (Detector(label, view, name, doubts[name]),), 0)
        charts = [unseen.distributions(task), unseen.roc(task), unseen.confusion(task)]
        blocks.append(Block(label, metric_texts(view, task.measures(task.first)), charts))
    return blocks


def structure_blocks(view: View) -> list[Block]:
    """How each score goes with a node's place in the graph."""
    rule = structure.factor(view)
    return [
        Block(
            column.label,
            [],
            [
                *(structure.against(view, axis, name)[0] for axis in structure.AXES),
                *([] if rule is None else [rule]),
            ],
        )
        for name, column in columns.score_columns(view.table).items()
    ]


def compare_charts(views: Mapping[str, View]) -> list[Chart]:
    """Several runs in common charts."""
    roc = compare.roc(views)
    return [compare.calibration(views), *([] if roc is None else [roc])]
