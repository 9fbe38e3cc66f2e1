"""Several methods on the same split, side by side."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from bup.experiments import epistemic_score
from bup.explanation import sentences
from bup.explanation.reasons import Reasons, why_no_reasons
from dashboard.cache import maps
from dashboard.charts import compare
from dashboard.components.chart import ChartFigure
from dashboard.figures.card import MethodAnswer, answers_table
from dashboard.figures.compare import disagreement_table, wide_table
from dashboard.figures.pair import paired_maps
from dashboard.figures.reasons import reasons_figure
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.link_choice import link_choice
from dashboard.ui.markdown import bold, escaped
from dashboard.ui.numbers import percent
from dashboard.views import charts, exports, tables
from dashboard.views.comparison_runs import choose_runs, compared_views, label_of
from dashboard.views.highlight import Highlights
from dashboard.views.node_card import node_card
from dashboard.views.reruns import compare_reruns

MOST_NODES = 6
"""How many nodes the reasons of each of two runs show."""


def page(view: View) -> None:
    st.title("Which method knows best what it does not know?")
    node_card(view, "compare")
    chosen = choose_runs(view, st.multiselect, "Compare this run with", "rivals", default=1)
    view, *others = compared_views(view, chosen)
    views = {label_of(v.spec, view): v for v in (view, *others)}
    if view.picked:
        _picked_node(view, views)
        _reasons(view, views)
    if not chosen:
        st.info("Choose at least one other method to compare this run with.")
    if others:
        _metrics(view, views)
        compare_reruns(view, views)
        _calibration(view, views)
        _pair(view, views)
        exports.downloads(view, compared=others)


def _metrics(view: View, views: Mapping[str, View]) -> None:
    st.header("The numbers")
    numbers = compare.metrics_table(views)
    st.dataframe(wide_table(numbers), hide_index=True, width="stretch")
    st.caption(view.say(compare.TABLE_CAPTION))
    exports.csv_button("CSV", numbers, "comparison", icon=None)


def _calibration(view: View, views: Mapping[str, View]) -> None:
    highlights = Highlights(view, "compare")
    highlights.chart(compare.calibration(views))
    highlights.show()


def _pair(view: View, views: Mapping[str, View]) -> None:
    """Two of the runs on maps, and the nodes on which they disagree."""
    st.header(view.say("Two methods, node by node"))
    first, *others = views
    second = others[0]
    if len(others) > 1:
        second = st.selectbox("Beside this run", others, key="pair_rival") or second
    names, pair = (first, second), (views[first].table, views[second].table)
    offered, theirs = map(columns.menu_columns, pair)
    both = {key: column.label for key, column in offered.items() if key in theirs}
    index = list(both).index("confidence")
    colour = link_choice(st.selectbox, "Colour both maps by", both, "pair_colour", index=index)
    figure = paired_maps(
        pair,
        names,
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
    rows = disagreement_table(*pair)
    noun, nodes = view.graph.noun, rows.pop("node").tolist()
    st.caption(
        f"{noun.count(len(rows))} with different answers. Those of which both methods are "
        f"surest come first. Click a row to pick its {noun.one}."
    )
    headings = {"ood": "never shown"}
    for suffix, label in zip("ab", names, strict=True):
        headings[f"predicted_{suffix}"] = f"{label} says"
        headings[f"confidence_{suffix}"] = f"confidence of {label}"
    tables.node_table(view, nodes, rows.rename(columns=headings), "disagree")


def _picked_node(view: View, views: Mapping[str, View]) -> None:
    """The answer of each method for the picked node."""
    noun = view.graph.noun
    st.header(f"{escaped(view.describe(view.node))} under each method")
    st.html(answers_table([_answer(label, v) for label, v in views.items()], view.theme))
    true = str(view.table.true.iloc[view.node])
    st.caption(
        (f"True class: {escaped(true)}. " if true else "The true class is not known. ")
        + "Bars: the probability of the answer. Whiskers: if the message were known exactly, the "
        "probability would lie in this range in 90% of cases; some methods give no range. "
        "Uncertainty is each method's own "
        f"score; the percentage says of how many {noun.many} the method is surer."
    )


def _reasons(view: View, views: Mapping[str, View]) -> None:
    """Where the reasons of this run for its answer differ from those of another one."""
    able = {label: v for label, v in views.items() if not why_no_reasons(v.result)}
    first, *others = able
    if able.get(first) is not view or not others:
        return
    st.header("Where do their reasons differ?")
    second = others[0]
    if len(others) > 1:
        second = st.selectbox("Reasons beside those of this run", others, key="reasons_rival")
    with st.spinner("Adding up what every word contributes …"):
        pair = _both_reasons(view, able[str(second)])
    if not pair:
        st.info("One of the two models was never shown the class that the other one would say.")
        return
    st.markdown(_difference(pair, (first, str(second))))
    for place, label, reasons in zip(st.columns(2), (first, str(second)), pair, strict=True):
        with place:
            st.markdown(f"{bold(label)}: {sentences.because(reasons, bold)}")
            charts.node_chart(
                view,
                reasons_figure(reasons, view.theme, MOST_NODES),
                f"reasons_{label == first}",
                f"What speaks for {escaped(reasons.answer_name)}, and against it for "
                f"{escaped(reasons.rival_name)}. Click a bar to pick its {view.graph.noun.one}.",
            )


def _both_reasons(view: View, other: View) -> list[Reasons]:
    """The reasons of two runs about the same two classes; none where a model does not know both."""
    node, both = view.node, (view, other)
    mine, theirs = (v.result.split.classes[int(v.result.probs[node].argmax())] for v in both)
    if mine == theirs:
        usual = view.loaded_run.reasons(node)
        rivals = [view.result.split.classes[usual.rival]] * 2
    else:
        rivals = [theirs, mine]
    if any(r not in v.result.split.classes for r, v in zip(rivals, both, strict=True)):
        return []
    return [v.loaded_run.reasons(node, r) for r, v in zip(rivals, both, strict=True)]


def _difference(pair: Sequence[Reasons], labels: Sequence[str]) -> str:
    """The node whose share of all that speaks for or against differs most, in a sentence."""
    first, second = pair
    sign = 1 if first.answer_name == second.answer_name else -1
    nodes = np.union1d(first.nodes[:MOST_NODES], second.nodes[:MOST_NODES])
    shares = [
        np.array([reasons.contribution(node) for node in nodes])
        / (np.abs(reasons.contributions).sum() or 1)
        for reasons in pair
    ]
    most = int(np.abs(shares[0] - sign * shares[1]).argmax())
    itself = first.graph.noun.apply_to("the node itself")
    name = itself if nodes[most] == first.node else bold(first.graph.node_id(nodes[most]))
    says = [
        f"{percent(abs(float(share[most])), 0)} for "
        f"{bold(reasons.answer_name if share[most] > 0 else reasons.rival_name)} "
        f"under {escaped(label)}"
        for reasons, share, label in zip(pair, shares, labels, strict=True)
    ]
    return (
        f"They differ most in {name}. Of all that speaks for one class or the other, it "
        f"contributes {says[0]} and {says[1]}."
    )


def _answer(label: str, view: View) -> MethodAnswer:
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
