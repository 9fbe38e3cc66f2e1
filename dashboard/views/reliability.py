"""Is 80% really 80%? Calibration of a run, answering only when sure, and conformal sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from bup import metrics
from bup.methods import METHODS
from bup.metrics import METRICS, ReliabilityBins, RiskCoverage, Scheme, conformal
from dashboard.cache.maps import cached_figure
from dashboard.components.chart import Mark
from dashboard.figures.reliability import (
    confidence_histogram,
    reliability_figure,
    risk_coverage_figure,
    set_size_figure,
)
from dashboard.session.view import View
from dashboard.ui.link_choice import link_choice
from dashboard.views import charts, exports, picking, tables
from dashboard.views.comparison_runs import (
    TYPED_HELP,
    comparable_specs,
    compared_views,
    specs_of_labels,
)
from dashboard.views.highlight import Highlights, NodeList, nodes_by
from dashboard.views.node_card import node_card

BARS = 20
SCHEMES: dict[Scheme, str] = {"width": "an equal range", "mass": "equally many nodes"}
SET_RULES = {"aps": "no (APS)", "daps": "yes (DAPS)", "measured": "as labelled links advise"}
NO_COMPARISON = "no other method"


def page(view: View) -> None:
    st.title("When the model says 80%, is it right 80% of the time?")
    node_card(view)
    one, two, three = st.columns([2, 3, 3])
    bins = one.slider("Bins", 2, 30, 10, key="bins", bind="query-params")
    schemes = {key: view.say(title) for key, title in SCHEMES.items()}
    control = two.segmented_control
    scheme = link_choice(
        control, "Each bin spans", schemes, "scheme", default="width", required=True
    )
    with three:
        view, *others = _compared_views(view)
    other = others[0] if others else None
    _calibration(view, other, bins, scheme or "width")
    _selective(view, other)
    _sets(view)
    exports.downloads(view)


def _compared_views(view: View) -> list[View]:
    """This run, and the one that the visitor compares it with, if any."""
    specs = comparable_specs(view)
    label = st.selectbox(
        "Compare with",
        [NO_COMPARISON, *specs],
        key="rival",
        bind="query-params",
        accept_new_options=True,
        help=view.say(f"Another method, trained and tested on the same nodes. {TYPED_HELP}"),
    )
    labels = [label] if label not in (None, NO_COMPARISON) else []
    return compared_views(view, specs_of_labels(view, labels, specs))


def _name(view: View) -> str:
    return METHODS[view.spec.method].short


def _calibration(view: View, other: View | None, bins: int, scheme: Scheme) -> None:
    probs, targets, nodes = view.judged()
    binned = metrics.reliability_bins(probs, targets, bins, scheme)
    beside = None
    if other is not None:
        beside = metrics.reliability_bins(*other.judged()[:2], bins, scheme), _name(other)
    _metrics(view, binned)
    confidence, right = metrics.confidence(probs), metrics.hits(probs, targets)
    marked = np.flatnonzero(np.isin(nodes, view.marked))  # the picked node, if it is a test node
    highlights = Highlights(view, "reliability")
    left_column, right_column = st.columns(2)
    with left_column:
        st.header("Confidence against accuracy")
        highlights.chart(
            cached_figure(reliability_figure, binned, view.theme, _name(view), beside),
            "reliability",
            view.say(
                "On the diagonal, the model is right as often as it says. Above it the model is "
                "right more often than it says (under-confident), below it less often. Whiskers "
                "are 95% intervals: few nodes in a bin make them wide. Click a bin to see its "
                "nodes."
            ),
            {
                b: NodeList(
                    f"with a confidence of {100 * binned.edges[b]:.3g}% to "
                    f"{100 * binned.edges[b + 1]:.3g}%",
                    members,
                )
                for b, members in nodes_by(binned.member, nodes).items()
            },
            [Mark(float(confidence[i]), float(binned.accuracy[binned.member[i]])) for i in marked],
            (bins, scheme),
        )
        rows = {"from": binned.edges[:-1], "to": binned.edges[1:]}
        rows |= {view.graph.noun.many: binned.count, "mean confidence": binned.confidence}
        rows |= {"accuracy": binned.accuracy, "low": binned.low, "high": binned.high}
        exports.show_numbers(pd.DataFrame(rows), f"{view.run.key}-bins", "bins")
    with right_column:
        st.header("How confident is it?")
        highlights.chart(
            cached_figure(confidence_histogram, confidence, right, view.theme, BARS),
            "confidence",
            view.say(
                "How many test nodes get which confidence, right and wrong answers stacked. If the "
                "two lines lie apart, the model is over- or under-confident on the whole. Click a "
                "bar to see its nodes."
            ),
            _bar_lists(confidence, right, nodes),
            [Mark(float(confidence[i]), 0.0) for i in marked],
        )
    highlights.show()


def _bar_lists(confidence: np.ndarray, right: np.ndarray, nodes: np.ndarray) -> dict[int, NodeList]:
    """The nodes of each bar of the histogram, the surest first."""
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
    return lists


def _metrics(view: View, binned: ReliabilityBins) -> None:
    """The metrics of the run; both calibration errors are those of the bins in the chart."""
    errors = {"ece": binned.expected_error, "ace": binned.average_error}
    test = view.loaded_run.report()["test"] | errors
    measures = [METRICS[key] for key in ("accuracy", "ece", "ace", "nll", "brier")]
    tables.metric_row(
        {m.short: f"{test[m.key]:.1%}" if m.percent else f"{test[m.key]:.3f}" for m in measures},
        {m.short: view.say(m.meaning) for m in measures},
    )
    st.caption(
        f"On {test['nodes']:,} test {view.graph.noun.many} of learned classes. Both calibration "
        "errors are those of the bins in the chart below."
    )


def _selective(view: View, other: View | None) -> None:
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
    area = "Area under the risk-coverage curve"
    tables.metric_row(
        {
            "Answered": f"{coverage:.0%}",
            "Accuracy among them": f"{curve.accuracy_at(coverage):.1%}",
            area: f"{curve.area:.3f}",
        },
        {area: view.say(METRICS["aurc"].meaning)},
    )
    probs, _, nodes = view.judged()
    point = np.searchsorted(curve.threshold, 1 - metrics.confidence(probs))  # of each node
    node_at = np.empty(len(curve.threshold), dtype=np.int64)
    node_at[point] = nodes
    charts.clickable(
        cached_figure(
            risk_coverage_figure,
            curve,
            coverage,
            view.theme,
            _name(view),
            None if other is None else (_curve(other), _name(other)),
            node_at,
        ),
        "risk_coverage",
        view.say(
            "The model answers the nodes in the order of its confidence. A model that knows what "
            "it does not know gains accuracy with every doubtful node that it leaves unanswered. "
            "Click the line to pick the node that comes next there."
        ),
        lambda node: picking.pick_node(view, node),
        [
            Mark(float(curve.coverage[at]), float(1 - curve.risk[at]))
            for at in point[np.isin(nodes, view.marked)]
        ],
    )
    rows = {"coverage": curve.coverage, "accuracy": 1 - curve.risk}
    rows |= {"least confidence": 1 - curve.threshold}
    exports.show_numbers(pd.DataFrame(rows), f"{view.run.key}-risk-coverage", "risk")


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
            "Conformal prediction gives a node as many classes as this share needs, judging by the "
            "answers for the validation nodes."
        ),
    )
    rule = link_choice(
        right.segmented_control,
        "Ask the neighbours?",
        SET_RULES,
        "set_rule",
        default="daps",
        required=True,
        help=view.say(
            "With DAPS, a node's scores are averaged with those of the nodes it is linked to."
        ),
    )
    split = view.result.split
    sets = conformal.conformal_sets(view.result.probs, view.graph, split, level, rule or "daps")
    _, targets, nodes = view.judged()
    figures = {
        "Sets that contain the true class": f"{sets.coverage(nodes, targets):.1%}",
        "Classes per set": f"{sets.size[nodes].mean():.2f}",
    }
    unseen = split.test[split.is_ood(view.graph.labels[split.test])]
    label = "Classes per set, class never shown"
    if len(unseen):
        figures[label] = f"{sets.size[unseen].mean():.2f}"
    help_text = "No set can contain a class that the model cannot answer with."
    tables.metric_row(figures, {label: help_text}, columns=3)
    covered = sets.member[nodes, targets]
    highlights = Highlights(view, "reliability")
    highlights.chart(
        cached_figure(set_size_figure, sets.size[nodes], covered, len(view.answers), view.theme),
        "set_sizes",
        view.say(
            "Doubtful nodes get larger sets. On average over the nodes, the promised share of sets "
            "contains the true class, whatever the model is. This holds nearly, not strictly: the "
            "validation nodes were also used to choose the best epoch. Click a bar to see its "
            "nodes."
        ),
        {
            k: NodeList(
                f"whose set of {k // 2} {'misses' if k % 2 else 'contains'} the true class", members
            )
            for k, members in nodes_by(2 * sets.size[nodes] + ~covered, nodes).items()
        },
        [Mark(float(size), 0.0) for size in sets.size[nodes[np.isin(nodes, view.marked)]]],
        (level, rule),
    )
    highlights.show()


def _curve(view: View) -> RiskCoverage:
    probs, targets, _ = view.judged()
    return metrics.risk_coverage(1 - metrics.confidence(probs), metrics.hits(probs, targets))
