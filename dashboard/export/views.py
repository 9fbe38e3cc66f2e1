"""The charts of an exported page: figures of the app with their captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from bup import metrics
from bup.experiments import epistemic_score
from bup.explanation import detection
from bup.metrics import METRICS
from dashboard.figures import ood
from dashboard.figures.compare import metrics_table, overlay_reliability, wide_table
from dashboard.figures.ood import DetectionCurve
from dashboard.figures.reliability import (
    confidence_histogram,
    reliability_figure,
    risk_coverage_figure,
)
from dashboard.figures.structure import (
    MOST_POINTS,
    against_figure,
    binned_medians,
    factor_figure,
    points_caption,
)
from dashboard.session.view import View
from dashboard.ui import columns

BARS = 20
COVERAGE = 0.8
Group = tuple[str, np.ndarray]
"""A title such as "with a confidence of 60% to 70%", and its nodes."""


class Chart(NamedTuple):
    """A figure whose points carry nodes, or the numbers of ``groups``."""

    title: str
    figure: go.Figure
    words: str
    groups: Mapping[int, Group] | None = None


class Block(NamedTuple):
    """The charts of a view for one score; ``label`` is empty if the view has no choice."""

    label: str
    numbers: Sequence[tuple[str, str, str]]  # name, value, meaning
    charts: Sequence[Chart]


def reliability(view: View) -> list[Block]:
    """Whether confidence is calibrated."""
    probs, targets, nodes = view.judged()
    bins = metrics.reliability_bins(probs, targets, 10)
    confidence, right = metrics.confidence(probs), metrics.hits(probs, targets)
    test = view.loaded_run.report()["test"]
    numbers = [_number(view, key, test[key]) for key in ("accuracy", "ece", "ace", "nll", "brier")]
    by_bin = {
        b: (
            f"with a confidence of {100 * bins.edges[b]:.3g}% to {100 * bins.edges[b + 1]:.3g}%",
            nodes[bins.member == b],
        )
        for b in np.flatnonzero(bins.count).tolist()
    }
    bar = 2 * (confidence * BARS).astype(int).clip(max=BARS - 1) + ~right
    by_bar = {
        k: (
            f"answered {'wrongly' if k % 2 else 'rightly'}, with a confidence of "
            f"{k // 2 / BARS:.0%} to {(k // 2 + 1) / BARS:.0%}",
            nodes[bar == k],
        )
        for k in np.unique(bar).tolist()
    }
    curve = metrics.risk_coverage(1 - confidence, right)
    entering = np.empty(len(curve.threshold), dtype=np.int64)
    entering[np.searchsorted(curve.threshold, 1 - confidence)] = nodes
    say = view.say
    charts = [
        Chart(
            "Confidence against accuracy",
            reliability_figure(bins, view.theme, "bins"),
            say(
                "On the diagonal, confidence is what it claims to be; below it the model is right "
                "less often than it says. Whiskers are 95% intervals. Click a bin for its nodes."
            ),
            by_bin,
        ),
        Chart(
            "How confident is it?",
            confidence_histogram(confidence, right, view.theme, BARS),
            say("Test nodes by confidence, right and wrong ones. Click a bar for its nodes."),
            by_bar,
        ),
        Chart(
            "Answer only when sure",
            risk_coverage_figure(curve, COVERAGE, view.theme, "surest first", nodes=entering),
            say(
                "The surest nodes are answered first. A model that knows what it does not know "
                "gains accuracy with every doubtful node that it leaves unanswered. Click the line "
                "to pick the node that comes next there."
            ),
        ),
    ]
    return [Block("", numbers, charts)]


def unseen(view: View) -> list[Block]:
    """Whether each score detects classes that were left out; empty if there are none."""
    search = detection.unseen(view.result, view.graph)
    if not search.possible:
        return []
    scores, own = columns.score_columns(view.table), epistemic_score(view.spec.method)
    doubts = view.result.uncertainties()
    taken = _taken_for(view, search)
    blocks = []
    for name in sorted(scores, key=lambda name: name != own):
        doubt = doubts[name][search.nodes]
        numbers = [
            _number(view, key, measure(doubt, search.positive)) for key, measure in _FINDING.items()
        ]
        curve = _curve(scores[name].label, doubt, search.positive)
        charts = [
            Chart(
                f"{scores[name].label} of what it knows and what it does not",
                ood.score_histograms(view.table, name, view.theme),
                view.say(
                    f"{scores[name].meaning} The less these overlap, the better the score tells "
                    "them apart. Click a bar for its nodes."
                ),
                _bars(view, name),
            ),
            Chart(
                "Found against false alarms (ROC)",
                ood.roc_figure(
                    [curve],
                    view.theme,
                    nodes=search.node_at(doubts[name], curve.roc.threshold),
                ),
                view.say(
                    "Flag nodes from the most doubted down: the share found against the share of "
                    "the others flagged by mistake. Click the line to pick the node flagged there."
                ),
            ),
            taken,
        ]
        blocks.append(Block(scores[name].label, numbers, charts))
    return blocks


_FINDING = {"auroc": metrics.auroc, "aupr": metrics.aupr, "fpr95": metrics.fpr_at_95}


def _bars(view: View, score: str) -> dict[int, Group]:
    """The nodes behind the bars of ``ood.score_histograms``."""
    test = view.table[view.table.part == "test"]
    values = test[score].to_numpy(float)
    parts = ood.node_groups(test.ood.to_numpy(bool), test.correct.fillna(False).to_numpy(bool))
    edges = np.histogram_bin_edges(values, ood.BINS)
    bar = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, ood.BINS - 1)
    return {
        p * ood.BINS + b: (
            f"({part.name}) from {edges[b]:.3g} to {edges[b + 1]:.3g}",
            test.index.to_numpy()[part.member & (bar == b)],
        )
        for p, part in enumerate(parts)
        for b in np.unique(bar[part.member]).tolist()
    }


def _taken_for(view: View, search: detection.DetectionNodes) -> Chart:
    graph, names = view.graph, view.graph.class_names
    nodes = search.nodes[search.positive]
    true, assigned = graph.labels[nodes], view.result.predicted[nodes]
    counts = detection.confusion(true, assigned, graph.num_classes)
    groups = {
        i * len(names) + j: (
            f"of the class {names[i]}, taken for {names[j]}",
            nodes[(true == i) & (assigned == j)],
        )
        for i, j in np.argwhere(counts).tolist()
    }
    rows, answers = np.flatnonzero(counts.sum(axis=1)).tolist(), list(view.result.split.classes)
    return Chart(
        "What are they taken for?",
        ood.matrix_figure(counts, rows, answers, names, view.theme),
        view.say("A row is a class never shown, a column the answer. Click a cell for its nodes."),
        groups,
    )


AXES = {
    "degree": ("Degree (linked nodes + 1)", True, "Against degree"),
    "mean_distance": (
        "Mean distance to training (links)",
        False,
        "Against distance to training",
    ),
}


def structure(view: View) -> list[Block]:
    """How each score goes with a node's place in the graph."""
    scores, rule = columns.score_columns(view.table), []
    if (factor := _factor(view)) is not None:
        rule.append(factor)
    return [
        Block(column.label, [], [*(_against(view, name, axis) for axis in AXES), *rule])
        for name, column in scores.items()
    ]


def _against(view: View, score: str, axis: str) -> Chart:
    label, log, title = AXES[axis]
    noun, values = view.graph.noun, view.table[score].to_numpy()
    x = view.table[axis].to_numpy(float) + log  # logs have no zero
    nodes = np.flatnonzero(np.isfinite(x))
    x, y = x[nodes], values[nodes]
    words = "One of the two does not vary, so there is no correlation."
    if np.ptp(x) and np.ptp(y):
        found = metrics.spearman(x, y, resamples=200)
        words = (
            f"Spearman {found.value:+.2f} (95% interval {found.low:+.2f} to {found.high:+.2f}) "
            f"over {noun.count(found.count)}."
        )
    if len(nodes) < view.graph.num_nodes:
        lost = noun.count(view.graph.num_nodes - len(nodes))
        words += f" Not drawn: {lost} without a path to any training {noun.one}."
    figure = against_figure(
        x,
        y,
        nodes,
        _ids(view, nodes),
        view.theme,
        view.say(label),
        columns.score_columns(view.table)[score].label,
        log,
        binned_medians(x, y),
    )
    return Chart(title, figure, f"{words} {points_caption(len(nodes), view.theme)}")


def _factor(view: View) -> Chart | None:
    rule = view.loaded_run.propagation if view.explains.variance else None
    if rule is None or rule.factor is None:
        return None
    nodes = np.arange(view.graph.num_nodes)
    figure = factor_figure(
        view.graph.looped_degree,
        rule.factor,
        view.table.message_std.to_numpy(),
        nodes,
        _ids(view, nodes),
        view.theme,
    )
    words = (
        "Above: what this run's propagation rule multiplies a node's variance by. Below: the "
        "standard deviation of its message. The more alike the two, the less a node's own words "
        "matter."
    )
    return Chart("How much of it is the rule alone?", figure, view.say(words))


def _ids(view: View, nodes: np.ndarray) -> list[str]:
    return [view.graph.node_id(i) for i in nodes.tolist()] if len(nodes) <= MOST_POINTS else []


def compare(views: Mapping[str, View]) -> dict[str, Any]:
    """Several runs in one table and in common charts."""
    first = next(iter(views.values()))
    parts = {label: v.judged()[:2] for label, v in views.items()}
    spans = {label: metrics.bootstrap_intervals(*part) for label, part in parts.items()}
    table = wide_table(metrics_table({k: v.loaded_run.report() for k, v in views.items()}, spans))
    bins = {label: metrics.reliability_bins(p, y, 10) for label, (p, y) in parts.items()}
    charts = [
        Chart(
            "Calibration",
            overlay_reliability(list(bins.items()), first.theme),
            "The nearer a line is to the diagonal, the more its confidence can be taken at its "
            "word: below it a method is over-confident.",
        )
    ]
    curves = []
    for label, view in views.items():
        search, score = detection.unseen(view.result, view.graph), epistemic_score(view.spec.method)
        if search.possible:
            doubt = view.result.uncertainties()[score][search.nodes]
            name = f"{label}, {columns.score_columns(view.table)[score].label.lower()}"
            curves.append(_curve(name, doubt, search.positive))
    if curves:
        charts.append(
            Chart(
                "Who finds the classes never shown?",
                ood.roc_figure(curves, first.theme),
                first.say(
                    "Each method by its own score: the share of the nodes of unseen classes found "
                    "against the share of the others flagged by mistake."
                ),
            )
        )
    alike = len({np.sort(v.result.split.test).tobytes() for v in views.values()}) == 1
    words = first.say(
        "In brackets: 95% intervals from resampling the test nodes. A star marks the best; where "
        "intervals overlap, the difference may be chance."
    )
    if not alike:
        words += first.say(" These runs were tested on different nodes, which is a part of it.")
    return {"head": list(table.columns), "rows": table.to_numpy().tolist(), "words": words} | {
        "charts": charts
    }


def _curve(label: str, doubt: np.ndarray, sought: np.ndarray) -> DetectionCurve:
    roc, area = metrics.roc(doubt, sought), metrics.auroc(doubt, sought)
    return DetectionCurve(label, roc, area, metrics.precision_recall(doubt, sought))


def _number(view: View, key: str, value: float) -> tuple[str, str, str]:
    metric = METRICS[key]
    written = f"{value:.1%}" if metric.percent else f"{value:.3f}"
    return metric.short, written, view.say(metric.meaning)
