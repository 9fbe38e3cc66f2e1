"""Is 80% really 80%? Calibration of a run, and answering only when sure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from bup import metrics
from bup.methods import METHODS
from bup.metrics import METRICS, Scheme, conformal
from dashboard.cache.maps import drawn
from dashboard.components.chart import Mark
from dashboard.figures.reliability import (
    confidence_histogram,
    reliability_figure,
    risk_coverage_figure,
    set_size_figure,
)
from dashboard.session.view import View
from dashboard.views import charts, exports, highlight, picking
from dashboard.views.comparison_runs import choose_comparison, on_same_nodes
from dashboard.views.highlight import NodeList
from dashboard.views.node_card import node_card

PAGE = "reliability"
BARS = 20
SCHEMES: dict[Scheme, str] = {"width": "an equal range", "mass": "equally many nodes"}


def page(view: View) -> None:
    st.title("When the model says 80%, is it right 80% of the time?")
    node_card(view)
    one, two, three = st.columns([2, 3, 3])
    bins = one.slider("Bins", 2, 30, 10, key="bins", bind="query-params")
    scheme = two.segmented_control(
        "Each bin spans",
        list(SCHEMES),
        default="width",
        required=True,
        key="scheme",
        format_func=lambda key: view.say(SCHEMES[key]),
        bind="query-params",
    )
    with three:
        rival = choose_comparison(view, "reliability")
    if rival is not None:
        view, *rivals = on_same_nodes([view, rival])
        rival = rivals[0] if rivals else None
    probs, targets, nodes = view.judged()
    found = metrics.reliability_bins(probs, targets, bins, scheme or "width")
    other = None
    if rival is not None:
        rival_probs, rival_targets, _ = rival.judged()
        other = (
            metrics.reliability_bins(rival_probs, rival_targets, bins, scheme or "width"),
            METHODS[rival.spec.method].short,
        )
    _scores(view, found)
    confidence, right = metrics.confidence(probs), metrics.hits(probs, targets)
    groups = _bins(found, nodes, scheme or "width") | _bars(confidence, right, nodes)
    place = np.flatnonzero(np.isin(nodes, view.marked))  # the picked node's, if it is measured
    left, beside = st.columns(2)
    with left:
        st.header("Confidence against accuracy")
        charts.clickable(
            drawn(reliability_figure, found, view.theme, METHODS[view.spec.method].short, other),
            "reliability",
            view.say(
                "On the diagonal, confidence is what it claims to be; above it the model is right "
                "more often than it says (under-confident), below it less often. Whiskers are 95% "
                "intervals: few nodes in a bin make them wide. Click a bin to see its nodes."
            ),
            lambda number: _light(view, groups, f"bin {number} of {bins} by {scheme}"),
            [Mark(float(confidence[i]), float(found.accuracy[found.member[i]])) for i in place],
        )
        exports.numbers(_bin_frame(found, view.graph.noun.many), f"{view.run.key}-bins", "bins")
    with beside:
        st.header("How confident is it?")
        charts.clickable(
            drawn(confidence_histogram, confidence, right, view.theme, BARS),
            "confidence",
            view.say(
                "How many test nodes get which confidence, right and wrong answers stacked. If the "
                "two lines lie apart, the model is over- or under-confident on the whole. Click a "
                "bar to see its nodes."
            ),
            lambda number: _light(view, groups, f"bar {number}"),
            [Mark(float(confidence[i]), 0.0) for i in place],
        )
    if (name := highlight.highlighted(PAGE)) in groups:
        highlight.show_nodes(view, PAGE, groups[str(name)])
    _selective(view, rival)
    _sets(view)
    exports.downloads(view)


def _light(view: View, groups: Mapping[str, NodeList], name: str) -> None:
    if name in groups:
        highlight.highlight(view, PAGE, name, groups[name])


def _bins(found: metrics.ReliabilityBins, nodes: np.ndarray, scheme: Scheme) -> dict[str, NodeList]:
    """The nodes of every bin that holds any."""
    bins = len(found.count)
    return {
        f"bin {b} of {bins} by {scheme}": NodeList(
            f"with a confidence of {100 * found.edges[b]:.3g}% to {100 * found.edges[b + 1]:.3g}%",
            nodes[found.member == b],
        )
        for b in np.flatnonzero(found.count).tolist()
    }


def _bars(confidence: np.ndarray, right: np.ndarray, nodes: np.ndarray) -> dict[str, NodeList]:
    """Those of every bar of the histogram, the surest first."""
    bar = (confidence * BARS).astype(int).clip(max=BARS - 1)
    order = np.argsort(-confidence, kind="stable")
    groups = {}
    for number in np.unique(2 * bar + ~right).tolist():
        low, wrong = divmod(number, 2)
        chosen = order[(2 * bar + ~right)[order] == number]
        title = (
            f"answered {'wrongly' if wrong else 'rightly'} with a confidence of "
            f"{low / BARS:.0%} to {(low + 1) / BARS:.0%}"
        )
        groups[f"bar {number}"] = NodeList(title, nodes[chosen])
    return groups


def _scores(view: View, found: metrics.ReliabilityBins) -> None:
    """The metrics, those of calibration by the very bins that are drawn."""
    test = view.loaded_run.report()["test"] | {
        "ece": found.expected_error,
        "ace": found.average_error,
    }
    shown = ["accuracy", "ece", "ace", "nll", "brier"]
    for column, key in zip(st.columns(len(shown)), shown, strict=True):
        metric = METRICS[key]
        value = f"{test[key]:.1%}" if metric.percent else f"{test[key]:.3f}"
        column.metric(metric.short, value, help=view.say(metric.meaning))
    st.caption(
        f"On {test['nodes']:,} test {view.graph.noun.many} of learned classes; both calibration "
        "errors are those of the bins drawn below."
    )


def _bin_frame(found: metrics.ReliabilityBins, many: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "from": found.edges[:-1],
            "to": found.edges[1:],
            many: found.count,
            "mean confidence": found.confidence,
            "accuracy": found.accuracy,
            "low": found.low,
            "high": found.high,
        }
    )


def _selective(view: View, rival: View | None) -> None:
    st.header("Answer only when sure")
    coverage = st.slider(
        view.say("Share of nodes that get an answer"),
        0.05,
        1.0,
        0.8,
        0.01,
        key="coverage",
        bind="query-params",
    )
    curve = _curve(view)
    accuracy = curve.accuracy_at(coverage)
    one, two, three = st.columns(3)
    one.metric("Answered", f"{coverage:.0%}")
    two.metric("Accuracy among them", f"{accuracy:.1%}")
    three.metric(
        "Area under the risk-coverage curve",
        f"{curve.area:.3f}",
        help=view.say(METRICS["aurc"].meaning),
    )
    probs, _, nodes = view.judged()
    doubt = 1 - metrics.confidence(probs)
    point = np.searchsorted(curve.threshold, doubt)  # of the curve, for every node
    entering = np.empty(len(curve.threshold), dtype=np.int64)
    entering[point] = nodes
    charts.clickable(
        drawn(
            risk_coverage_figure,
            curve,
            coverage,
            view.theme,
            METHODS[view.spec.method].short,
            None if rival is None else (_curve(rival), METHODS[rival.spec.method].short),
            entering,
        ),
        "risk_coverage",
        view.say(
            "The nodes are answered in the order of confidence. A model that knows what it does "
            "not know gains accuracy with every doubtful node that it leaves unanswered. Click "
            "the line to pick the node that comes next there."
        ),
        lambda node: picking.pick_node(view, node),
        [
            Mark(float(curve.coverage[at]), float(1 - curve.risk[at]))
            for at in point[np.isin(nodes, view.marked)]
        ],
    )
    rows = pd.DataFrame(
        {
            "coverage": curve.coverage,
            "accuracy": 1 - curve.risk,
            "least confidence": 1 - curve.threshold,
        }
    )
    exports.numbers(rows, f"{view.run.key}-risk-coverage", "risk")


def _sets(view: View) -> None:
    st.header("Several answers instead of one")
    left, right = st.columns(2)
    level = left.slider(
        "Share of sets that should contain the true class",
        0.5,
        0.99,
        0.9,
        0.01,
        key="set_level",
        bind="query-params",
        help=view.say(
            "Conformal prediction: a node gets as many classes as it takes, judged by how the "
            "validation nodes fared."
        ),
    )
    rule = right.segmented_control(
        "Ask the neighbours?",
        list(conformal.RULES),
        default="daps",
        required=True,
        key="set_rule",
        format_func={
            "aps": "no (APS)",
            "daps": "yes (DAPS)",
            "measured": "as labelled links advise",
        }.__getitem__,
        bind="query-params",
        help=view.say(
            "With DAPS, a node's scores are averaged with those of the nodes it is linked to."
        ),
    )
    split, labels = view.result.split, view.graph.labels
    sets = conformal.conformal_sets(view.result.probs, view.graph, split, level, rule or "daps")
    _, targets, nodes = view.judged()
    one, two, three = st.columns(3)
    one.metric("Sets that contain the true class", f"{sets.coverage(nodes, targets):.1%}")
    two.metric("Classes per set", f"{sets.size[nodes].mean():.2f}")
    unseen = split.test[split.is_ood(labels[split.test])]
    if len(unseen):
        three.metric(
            "Classes per set, class never shown",
            f"{sets.size[unseen].mean():.2f}",
            help="No set can contain a class that the model cannot answer with.",
        )
    covered = sets.member[nodes, targets]
    number = 2 * sets.size[nodes] + ~covered
    asked = f"at {level:.0%} by {rule}"
    groups = {
        f"sets {k} {asked}": NodeList(
            f"whose set of {k // 2} {'misses' if k % 2 else 'contains'} the true class",
            nodes[number == k],
        )
        for k in np.unique(number).tolist()
    }
    charts.clickable(
        drawn(set_size_figure, sets.size[nodes], covered, len(view.answers), view.theme),
        "set_sizes",
        view.say(
            "Doubtful nodes get larger sets, and the promise holds on average over the nodes, "
            "whatever the model. The validation nodes also chose the best epoch, so it holds "
            "nearly, not strictly. Click a bar to see its nodes."
        ),
        lambda k: _light(view, groups, f"sets {k} {asked}"),
        [Mark(float(size), 0.0) for size in sets.size[nodes[np.isin(nodes, view.marked)]]],
    )
    if (name := highlight.highlighted(PAGE)) in groups:
        highlight.show_nodes(view, PAGE, groups[str(name)])


def _curve(view: View) -> metrics.RiskCoverage:
    probs, targets, _ = view.judged()
    return metrics.risk_coverage(1 - metrics.confidence(probs), metrics.hits(probs, targets))
