"""Does the model doubt what it should? How well scores detect unseen classes and mistakes."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bup import metrics
from bup.explanation import detection
from bup.explanation.detection import DetectionNodes
from dashboard.charts.chart import COLUMNS, Chart, NodeList, make_chart, nodes_by
from dashboard.components.chart import Mark
from dashboard.figures import ood
from dashboard.figures.ood import BINS, DetectionCurve, NodeGroup
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.theme import IN, WRONG

UNSEEN, MISTAKES = "unseen", "mistakes"
MEASURES = {"auroc": metrics.auroc, "aupr": metrics.aupr, "fpr95": metrics.fpr_at_95}


@dataclass(frozen=True, eq=False)
class Detector:
    """A run, and the score by which it ranks nodes."""

    label: str
    view: View
    score: str
    doubt: np.ndarray  # [n] higher is less certain

    @property
    def title(self) -> str:
        return columns.score_columns(self.view.table)[self.score].label


@dataclass(frozen=True, eq=False)
class DetectionTask:
    """What to find among the test nodes, by which scores, at which false alarms."""

    target: str  # UNSEEN or MISTAKES
    search: DetectionNodes
    detectors: tuple[Detector, ...]  # this run first
    false_alarms: float

    @property
    def first(self) -> Detector:
        """The page's own run."""
        return self.detectors[0]

    @property
    def words(self) -> str:
        return "of a class never shown" if self.target == UNSEEN else "answered wrongly"

    @property
    def others(self) -> str:
        return "of known classes" if self.target == UNSEEN else "answered rightly"

    @cached_property
    def flags(self) -> dict[str, np.ndarray]:
        """Which nodes each detector flags [m], all at the same share of false alarms."""
        return {d.label: self.search.flagged(d.doubt, self.false_alarms) for d in self.detectors}

    @property
    def missed(self) -> np.ndarray:
        """The nodes to find that the page's own run does not flag."""
        return self.search.nodes[self.search.positive & ~self.flags[self.first.label]]

    def measures(self, detector: Detector) -> dict[str, float]:
        """AUROC, AUPR and FPR95 of a detector, by the metrics' keys."""
        doubt, positive = detector.doubt[self.search.nodes], self.search.positive
        return {key: measure(doubt, positive) for key, measure in MEASURES.items()}

    @cached_property
    def curves(self) -> list[DetectionCurve]:
        nodes, positive = self.search.nodes, self.search.positive
        return [DetectionCurve.of(d.label, d.doubt[nodes], positive) for d in self.detectors]


def ranked(doubt: np.ndarray, nodes: np.ndarray, surest_first: bool = False) -> np.ndarray:
    """Nodes from the most to the least doubted, or back; ties in the order of the graph."""
    nodes = np.sort(nodes)
    return nodes[np.argsort(-doubt[nodes], kind="stable")][:: -1 if surest_first else 1]


def distributions(task: DetectionTask) -> Chart:
    """The score among right, wrong and unseen nodes; with other methods, the ranks of all."""
    search, run, view = task.search, task.first, task.first.view
    table = view.table.iloc[search.nodes]
    right = table.correct.fillna(False).to_numpy(bool)
    parts = ood.node_groups(table.ood.to_numpy(bool), right)
    if task.target != UNSEEN:
        parts = [NodeGroup("right", right, IN, ""), NodeGroup("wrong", ~right, WRONG, "/")]
    column = columns.score_columns(view.table)[run.score]
    if len(task.detectors) > 1:
        runs = [(d.label, search.ranks(d.doubt)) for d in task.detectors]
        axis = view.say("share of the test nodes that are surer")
    else:
        runs = [(run.label, view.table[run.score].to_numpy(float)[search.nodes])]
        axis = column.axis or column.label
    values = runs[0][1]
    edges = np.histogram_bin_edges(np.concatenate([v for _, v in runs]), BINS)
    bar = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, BINS - 1)
    lists = {}
    for p, part in enumerate(parts):
        for b, nodes in nodes_by(bar[part.member], search.nodes[part.member]).items():
            title = f"({part.name}) from {edges[b]:.3g} to {edges[b + 1]:.3g}"
            lists[p * BINS + b] = _node_list(task, title, nodes)
    marks = [
        Mark(float(values[i]), 0.0, "" if p == 0 else str(p + 1))
        for i in np.flatnonzero(np.isin(search.nodes, view.marked))
        for p, part in enumerate(parts)
        if part.member[i]
    ]
    figure = ood.histograms(parts, runs, view.theme, axis)
    settings = (task.target, run.score, *(d.label for d in task.detectors))
    label, meaning = column.label, view.say(column.meaning)
    return make_chart(
        view, "histograms", figure, lists, marks, settings, label=label, meaning=meaning
    )


def roc(task: DetectionTask) -> Chart:
    """How many nodes are found for how many others flagged by mistake, by every method."""
    view, curve = task.first.view, task.curves[0].roc
    nodes = task.search.node_at(task.first.doubt, curve.threshold)
    dashed = ", the dashed line the false alarms chosen above" if task.false_alarms else ""
    figure = ood.roc_figure(task.curves, view.theme, task.false_alarms or None, nodes)
    return make_chart(view, "roc", figure, dashed=dashed)


def precision_recall(task: DetectionTask) -> Chart:
    """Which share of the flagged nodes is flagged rightly, by every method."""
    view, curve = task.first.view, task.curves[0].precision_recall
    nodes = task.search.node_at(task.first.doubt, curve.threshold)
    base_rate = float(task.search.positive.mean())
    figure = ood.precision_recall_figure(task.curves, base_rate, view.theme, nodes)
    return make_chart(view, "precision_recall", figure)


def found_by(task: DetectionTask) -> Chart:
    """What one method finds and another misses, at equal false alarms."""
    view, lists = task.first.view, {}
    groups = detection.group_by_detectors(task.search, task.flags)
    for number, (labels, nodes) in enumerate(groups.items()):
        methods = " and ".join(labels) or "none of the methods"
        lists[number] = _node_list(task, f"{task.words}, found by {methods}", nodes)
    settings = (task.target, task.false_alarms, *((d.label, d.score) for d in task.detectors))
    figure = ood.found_by_figure(groups, view.theme)
    alarms = task.false_alarms
    return make_chart(view, "catches", figure, lists, settings=settings, false_alarms=alarms)


def confusion(task: DetectionTask) -> Chart:
    """True class against predicted class, for the nodes to find."""
    view = task.first.view
    graph, names = view.graph, view.graph.class_names
    nodes = task.search.nodes[task.search.positive]
    true, predicted = graph.labels[nodes], view.result.predicted[nodes]
    counts = detection.confusion(true, predicted, graph.num_classes)
    lists = {}
    for number, members in nodes_by(true * len(names) + predicted, nodes).items():
        i, j = divmod(number, len(names))
        title = f"of the class {names[i]}, taken for {names[j]}"
        lists[number] = _node_list(task, title, members, surest_first=True)
    rows, answers = np.flatnonzero(counts.sum(axis=1)).tolist(), list(view.result.split.classes)
    figure = ood.matrix_figure(counts, rows, answers, names, view.theme)
    return make_chart(view, "matrix", figure, lists, settings=task.target)


def _node_list(
    task: DetectionTask, title: str, nodes: np.ndarray, surest_first: bool = False
) -> NodeList:
    """Nodes in the order of the score, with the score as a column."""
    order = ranked(task.first.doubt, nodes, surest_first)
    return NodeList(title, order, tuple(dict.fromkeys((*COLUMNS, task.first.score))))
