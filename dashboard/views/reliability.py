"""Is 80 % really 80 %? Calibration of a run, and answering only when sure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from bup import conformal, metrics
from bup.methods import METHODS
from bup.metrics import METRICS, Scheme
from dashboard import drawings
from dashboard.figures.reliability import (
    confidence_histogram,
    reliability_figure,
    risk_coverage_figure,
    set_size_figure,
)
from dashboard.state import View
from dashboard.views import charts, exports, picking
from dashboard.views.rivals import choose_rival

SCHEMES: dict[Scheme, str] = {"width": "an equal range", "mass": "equally many nodes"}


def page(view: View) -> None:
    st.title("When the model says 80%, is it right 80 % of the time?")
    one, two, three = st.columns([2, 2, 3])
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
        rival = choose_rival(view, "reliability")
    probs, targets, nodes = view.judged()
    found = metrics.reliability_bins(probs, targets, bins, scheme or "width")
    other = None
    if rival is not None:
        rival_probs, rival_targets, _ = rival.judged()
        other = (
            metrics.reliability_bins(rival_probs, rival_targets, bins, scheme or "width"),
            METHODS[rival.spec.method].short,
        )
    _scores(view, bins)
    left, right = st.columns(2)
    with left:
        st.subheader("Confidence against accuracy")
        charts.clickable(
            reliability_figure(found, view.theme, METHODS[view.spec.method].short, other),
            "reliability",
            view.say(
                "On the diagonal, confidence is what it claims to be; above it the model is right "
                "more often than it says (under-confident), below it less often. Whiskers are 95% "
                "intervals: few nodes in a bin make them wide. Click a bin to see its nodes."
            ),
            lambda number: st.session_state.update(bin=number),
        )
        exports.numbers(_bin_frame(found, view.graph.noun.many), f"{view.run.key}-bins", "bins")
    with right:
        st.subheader("How confident is it?")
        charts.chart(
            confidence_histogram(
                metrics.confidence(probs), metrics.hits(probs, targets), view.theme
            ),
            "confidence",
            view.say(
                "How many test nodes get which confidence, right and wrong answers stacked. If the "
                "two lines lie apart, the model is over- or under-confident on the whole."
            ),
        )
    _clicked_bin(view, found, nodes)
    _selective(view, rival)
    _sets(view)
    exports.downloads(view)


def _scores(view: View, bins: int) -> None:
    test = view.known.report(bins)["test"]
    shown = ["accuracy", "ece", "ace", "nll", "brier"]
    for column, key in zip(st.columns(len(shown)), shown, strict=True):
        metric = METRICS[key]
        value = f"{test[key]:.1%}" if metric.percent else f"{test[key]:.3f}"
        column.metric(metric.label.split(" (")[0], value, help=view.say(metric.meaning))
    st.caption(
        f"On {test['nodes']:,} test {view.graph.noun.many} of learned classes, with {bins} bins."
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


def _clicked_bin(view: View, found: metrics.ReliabilityBins, nodes: np.ndarray) -> None:
    number = st.session_state.get("bin")
    if number is None or number >= len(found.count) or not found.count[number]:
        return
    inside = nodes[found.member == number]
    st.subheader(
        f"{view.graph.noun.counted(len(inside))} with a confidence of "
        f"{found.edges[number]:.0%} to {found.edges[number + 1]:.0%}"
    )
    left, right = st.columns(2)
    with left:
        picking.node_list(
            view, inside[:300].tolist(), ["true", "predicted", "confidence"], "bin_list"
        )
        st.caption(view.say("Click a row to pick its node."))
    with right:
        lit = np.zeros(view.graph.num_nodes, dtype=bool)
        lit[inside] = True
        charts.node_map(
            view,
            drawings.map_drawing(view.known, "correct", view.theme, lit),
            "bin_map",
            view.say(
                "The same nodes, lit on the map. Where they sit together, their mistakes may have "
                "a common cause."
            ),
        )


def _selective(view: View, rival: View | None) -> None:
    st.subheader("Answer only when sure")
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
    charts.chart(
        risk_coverage_figure(
            curve,
            coverage,
            view.theme,
            METHODS[view.spec.method].short,
            None if rival is None else (_curve(rival), METHODS[rival.spec.method].short),
        ),
        "risk_coverage",
        view.say(
            "The nodes are answered in the order of confidence. A model that knows what it does "
            "not know gains accuracy with every doubtful node that it leaves unanswered."
        ),
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
    st.subheader("Several answers instead of one")
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
    charts.chart(
        set_size_figure(
            sets.size[nodes], sets.member[nodes, targets], len(view.answers), view.theme
        ),
        "set_sizes",
        view.say(
            "Doubtful nodes get larger sets, and the promise holds on average over the nodes, "
            "whatever the model. The validation nodes also chose the best epoch, so it holds "
            "nearly, not strictly."
        ),
    )


def _curve(view: View) -> metrics.RiskCoverage:
    probs, targets, _ = view.judged()
    return metrics.risk_coverage(1 - metrics.confidence(probs), metrics.hits(probs, targets))
