"""Several methods on the same split, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import pandas as pd
import streamlit as st

from bup import metrics
from bup.experiments import epistemic_score
from bup.io.csv import csv_text
from dashboard.cache import maps, run_cache
from dashboard.components.chart import ChartFigure
from dashboard.figures.card import MethodAnswer, answers_table
from dashboard.figures.compare import (
    disagreement_table,
    metrics_table,
    overlay_reliability,
    wide_table,
)
from dashboard.figures.pair import paired_maps
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.markdown import escaped
from dashboard.views import charts, exports, highlight, picking
from dashboard.views.comparison_runs import (
    TYPED_HELP,
    comparable_specs,
    label_of,
    on_same_nodes,
    specs_of_labels,
    train_missing,
    view_of,
)
from dashboard.views.highlight import NodeList
from dashboard.views.node_card import node_card
from dashboard.views.reruns import compare_reruns

PAGE = "compare"


def page(view: View) -> None:
    st.title("Which method knows best what it does not know?")
    node_card(view, PAGE)
    specs = comparable_specs(view)
    chosen = st.multiselect(
        "Compare this run with",
        list(specs),
        default=list(specs)[:1],
        key="rivals",
        bind="query-params",
        accept_new_options=True,
        help=view.say(
            f"All are trained on the same nodes and tested on the same nodes. {TYPED_HELP}"
        ),
    )
    wanted = specs_of_labels(view, chosen, specs)
    missing = [spec for spec in wanted if run_cache.find(spec, view.graph) is None]
    if missing:
        train_missing(missing, view)
    found = [v for v in (view_of(spec, view) for spec in wanted) if v is not None]
    view, *found = on_same_nodes([view, *found])
    views = {label_of(v.spec, view): v for v in (view, *found)}
    if view.picked:
        _under_each(view, views)
    if not wanted:
        st.info("Choose at least one other method to compare this run with.")
    if not found:
        return

    st.header("The numbers")
    parts = {label: v.judged()[:2] for label, v in views.items()}
    numbers = metrics_table(
        {label: v.loaded_run.report() for label, v in views.items()},
        {label: metrics.bootstrap_intervals(*part) for label, part in parts.items()},
    )
    st.dataframe(wide_table(numbers), hide_index=True, width="stretch")
    st.caption(
        view.say(
            "In brackets: 95% intervals from resampling the test nodes. A star marks the best; "
            "where intervals overlap, the difference may be chance."
        )
    )
    st.download_button("CSV", csv_text(numbers), "comparison.csv", "text/csv")

    compare_reruns(view, views)

    st.header("Calibration")
    bins = {label: metrics.reliability_bins(p, y, 10) for label, (p, y) in parts.items()}
    groups = _bins(views, bins)
    charts.clickable(
        overlay_reliability(list(bins.items()), view.theme),
        "overlay",
        "The nearer a line is to the diagonal, the more its confidence can be taken at its word. "
        "Above the diagonal a method is under-confident, below it over-confident."
        + view.say(" Click a point to see its nodes."),
        lambda k: highlight.highlight(view, PAGE, list(groups)[k], list(groups.values())[k]),
    )
    if (asked := highlight.highlighted(PAGE)) in groups:
        highlight.show_nodes(view, PAGE, groups[asked])

    st.header(view.say("Two methods, node by node"))
    first = next(iter(views.items()))
    others = list(views)[1:]
    against = others[0]
    if len(others) > 1:
        against = st.selectbox("Beside this run", others, key="pair_rival") or others[0]
    second = against, views[against]
    offered = columns.menu_columns(first[1].table)
    both = [key for key in offered if key in columns.menu_columns(second[1].table)]
    colour = st.selectbox(
        "Colour both maps by",
        both,
        index=both.index("confidence"),
        key="pair_colour",
        bind="query-params",
        format_func=lambda key: offered[key].label,
    )
    figure = paired_maps(
        (first[1].table, second[1].table),
        (first[0], second[0]),
        view.positions,
        colour,
        view.graph.class_names,
        view.theme,
        maps.edge_picture(view.graph, view.theme.dark),
    )
    charts.node_map(
        view,
        ChartFigure.of(figure),
        "pair",
        view.say(
            "The same nodes at the same places, on one colour scale; moving one map moves the "
            "other. Click a node in either to pick it."
        ),
        axes=("", "2"),
    )

    st.header("Where they disagree")
    rows = disagreement_table(first[1].table, second[1].table)
    st.caption(
        f"{view.graph.noun.count(len(rows))} with different answers; those of which both are "
        f"surest come first. Click a row to pick its {view.graph.noun.one}."
    )
    nodes = rows.pop("node").tolist()
    for suffix, (label, _) in zip("ab", (first, second), strict=True):
        rows = rows.rename(
            columns={
                f"predicted_{suffix}": f"{label} says",
                f"confidence_{suffix}": f"confidence of {label}",
            }
        )
    rows = rows.rename(columns={"ood": "never shown"})
    picking.picking_table(view, nodes, rows, "disagree")
    exports.downloads(view, others=found)


def _bins(
    views: Mapping[str, View], found: Mapping[str, metrics.ReliabilityBins]
) -> dict[str, NodeList]:
    """The nodes of every bin of every method, in the order of the chart's points."""
    groups = {}
    for label, bins in found.items():
        nodes = views[label].judged().nodes
        for b, (low, high) in enumerate(pairwise(bins.edges)):
            title = f"of which {escaped(label)} is {low:.0%} to {high:.0%} sure"
            groups[f"{label} {b}"] = NodeList(title, nodes[bins.member == b])
    return groups


def _under_each(view: View, views: Mapping[str, View]) -> None:
    """The picked node under each method."""
    noun = view.graph.noun
    st.header(f"{view.say('Node')} {escaped(view.name_of(view.node))} under each method")
    st.html(answers_table([_verdict(label, v) for label, v in views.items()], view.theme))
    true = str(view.table.true.iloc[view.node])
    st.caption(
        (f"True class: {escaped(true)}. " if true else "The true class is not loaded_run. ")
        + "Bars: the probability of the answer; whiskers: where it would lie in 90% of cases, were "
        "the message known exactly, for methods that can say. Uncertainty is each method's own "
        f"score, with the share of {noun.many} of which it is surer."
    )


def _verdict(label: str, view: View) -> MethodAnswer:
    row, node = view.table.iloc[view.node], view.node
    score = epistemic_score(view.spec.method)
    span = None
    if not view.no_interval:
        answer = int(view.result.probs[node].argmax())
        low, high = view.loaded_run.interval(node)
        span = float(low[answer]), float(high[answer])
    return MethodAnswer(
        label,
        str(row.predicted),
        None if pd.isna(row.correct) else bool(row.correct),
        float(row.confidence),
        span,
        columns.score_columns(view.table)[score].label,
        float(row[score]),
        view.loaded_run.surer(score, node),
    )
