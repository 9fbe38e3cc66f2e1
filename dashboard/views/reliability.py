"""Is 80% really 80%? Calibration of a run, answering only when sure, and conformal sets."""

import pandas as pd
import streamlit as st

from bup.metrics import METRICS, ReliabilityBins, Scheme, conformal
from dashboard.charts import reliability as charts
from dashboard.session.view import View
from dashboard.ui.link_choice import link_choice
from dashboard.ui.metric_row import metric_row
from dashboard.views import exports, tables
from dashboard.views.charts import show
from dashboard.views.comparison_runs import (
    TYPED_HELP,
    comparable_specs,
    compared_views,
    specs_of_labels,
)
from dashboard.views.highlight import Highlights
from dashboard.views.node_card import node_card

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


def _calibration(view: View, other: View | None, bins: int, scheme: Scheme) -> None:
    binned = charts.binned(view, bins, scheme)
    _metrics(view, binned)
    highlights = Highlights(view, "reliability")
    left_column, right_column = st.columns(2)
    with left_column:
        highlights.chart(charts.calibration(view, bins, scheme, other))
        rows = {"from": binned.edges[:-1], "to": binned.edges[1:]}
        rows |= {view.graph.noun.many: binned.count, "mean confidence": binned.confidence}
        rows |= {"accuracy": binned.accuracy, "low": binned.low, "high": binned.high}
        exports.show_numbers(pd.DataFrame(rows), f"{view.run.key}-bins", "bins")
    with right_column:
        highlights.chart(charts.confidences(view))
    highlights.show()


def _metrics(view: View, binned: ReliabilityBins) -> None:
    """The metrics of the run; both calibration errors are those of the bins in the chart."""
    errors = {"ece": binned.expected_error, "ace": binned.average_error}
    test = view.loaded_run.report()["test"] | errors
    tables.show_metrics(view, {key: test[key] for key in charts.METRIC_KEYS})
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
    curve = charts.risk_coverage(view)
    area = "Area under the risk-coverage curve"
    metric_row(
        {
            "Answered": f"{coverage:.0%}",
            "Accuracy among them": f"{curve.accuracy_at(coverage):.1%}",
            area: f"{curve.area:.3f}",
        },
        {area: view.say(METRICS["aurc"].meaning)},
    )
    show(view, charts.selective(view, coverage, other), header=False)
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
    metric_row(figures, {label: help_text}, columns=3)
    highlights = Highlights(view, "reliability")
    highlights.chart(charts.set_sizes(view, sets, (level, rule)), header=False)
    highlights.show()
