"""Is 80% really 80%? Confidence against accuracy, and answering only when sure."""

from collections.abc import Hashable

import numpy as np

from bup import metrics
from bup.methods import METHODS
from bup.metrics import ReliabilityBins, RiskCoverage, Scheme
from bup.metrics.conformal import Sets
from dashboard.cache.maps import cached_figure
from dashboard.charts.chart import Chart, NodeList, make_chart, nodes_by
from dashboard.components.chart import Mark
from dashboard.figures import reliability as figures
from dashboard.session.view import View

BARS = 20
METRIC_KEYS = ("accuracy", "ece", "ace", "nll", "brier")


def _name(view: View) -> str:
    return METHODS[view.spec.method].short


def binned(view: View, number: int, scheme: Scheme) -> ReliabilityBins:
    return metrics.reliability_bins(*view.judged()[:2], number, scheme)


def calibration(
    view: View, number: int = 10, scheme: Scheme = "width", other: View | None = None
) -> Chart:
    """Confidence against accuracy in a number of bins, maybe beside another run."""
    bins, (probs, _, nodes) = binned(view, number, scheme), view.judged()
    confidence = metrics.confidence(probs)
    beside = None if other is None else (binned(other, number, scheme), _name(other))
    lists = {
        b: NodeList(
            f"with a confidence of {100 * bins.edges[b]:.3g}% to {100 * bins.edges[b + 1]:.3g}%",
            members,
        )
        for b, members in nodes_by(bins.member, nodes).items()
    }
    figure = cached_figure(figures.reliability_figure, bins, view.theme, _name(view), beside)
    marks = [
        Mark(float(confidence[i]), float(bins.accuracy[bins.member[i]]))
        for i in np.flatnonzero(np.isin(nodes, view.marked))  # none if it is no test node
    ]
    return make_chart(view, "reliability", figure, lists, marks, (number, scheme))


def confidences(view: View) -> Chart:
    """How many nodes get which confidence; the nodes of a bar are listed from the surest on."""
    probs, targets, nodes = view.judged()
    confidence, right = metrics.confidence(probs), metrics.hits(probs, targets)
    bar = (confidence * BARS).astype(int).clip(max=BARS - 1)
    order = np.argsort(-confidence, kind="stable")
    lists = {}
    for number, members in nodes_by((2 * bar + ~right)[order], nodes[order]).items():
        low, wrong = divmod(number, 2)
        lists[number] = NodeList(
            f"answered {'wrongly' if wrong else 'rightly'} with a confidence of "
            f"{low / BARS:.0%} to {(low + 1) / BARS:.0%}",
            members,
        )
    figure = cached_figure(figures.confidence_histogram, confidence, right, view.theme, BARS)
    marks = [Mark(float(c), 0.0) for c in confidence[np.isin(nodes, view.marked)]]
    return make_chart(view, "confidence", figure, lists, marks)


def risk_coverage(view: View) -> RiskCoverage:
    return figures.risk_coverage(view.judged())


def selective(view: View, coverage: float, other: View | None = None) -> Chart:
    """How often the answers are right if only the surest nodes are answered."""
    curve, (probs, _, nodes) = risk_coverage(view), view.judged()
    point = np.searchsorted(curve.threshold, 1 - metrics.confidence(probs))  # of each node
    node_at = np.empty(len(curve.threshold), dtype=np.int64)
    node_at[point] = nodes
    beside = None if other is None else (risk_coverage(other), _name(other))
    figure = cached_figure(
        figures.risk_coverage_figure, curve, coverage, view.theme, _name(view), beside, node_at
    )
    marks = [
        Mark(float(curve.coverage[at]), float(1 - curve.risk[at]))
        for at in point[np.isin(nodes, view.marked)]
    ]
    return make_chart(view, "risk_coverage", figure, marks=marks)


def set_sizes(view: View, sets: Sets, settings: Hashable) -> Chart:
    """How many nodes get a conformal set of how many classes."""
    _, targets, nodes = view.judged()
    size, covered = sets.size[nodes], sets.member[nodes, targets]
    classes = len(view.answers)
    lists = {
        k: NodeList(
            f"whose set of {k // 2} {'misses' if k % 2 else 'contains'} the true class", members
        )
        for k, members in nodes_by(2 * size + ~covered, nodes).items()
    }
    figure = cached_figure(figures.set_size_figure, size, covered, classes, view.theme)
    marks = [Mark(float(s), 0.0) for s in size[np.isin(nodes, view.marked)]]
    return make_chart(view, "set_sizes", figure, lists, marks, settings)
