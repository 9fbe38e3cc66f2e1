"""The graph as a map, one node under the lens, its neighbourhood, what would change it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

import bup
from bup import metrics
from bup.inspection import Inspection
from bup.methods import settings_of
from dashboard import columns, data, state
from dashboard.columns import colour_limits
from dashboard.components.network import (
    EgoNetwork,
    ego_network,
    network,
    picked,
    standalone_html,
)
from dashboard.figures.classes import message_table, probability_table
from dashboard.figures.locator import locator
from dashboard.figures.node import shares_figure
from dashboard.markdown import plain
from dashboard.state import View
from dashboard.views import frame

FILTERS = {
    "mistakes": "Only mistakes",
    "left out": "Only classes never shown",
    "test": "Only test papers",
}
MAP = "map"


def main(view: View) -> None:
    st.title("Where is the model unsure, and why?")
    # Keyed, so that the style sheet can lay them out: side by side, or below each other.
    with st.container(key="explore"):
        chart, inspector, more = st.container(), st.container(), st.container()
    # The inspector first: it is what somebody who has just clicked is waiting for.
    with inspector:
        _inspector(view)
    with chart:
        _map(view, _controls(view))
    with more:
        _group(view)
        # Only the open tab is computed.
        tabs = dict(zip(TABS, st.tabs(list(TABS), key="tab", bind="query-params"), strict=True))
        for title, tab in tabs.items():
            if tab.open:
                with tab:
                    TABS[title](view)
    frame.exports(view, {"This neighbourhood as a web page (works offline)": _export})


def _export(view: View) -> tuple[str, str, str]:
    return f"{view.spec.key}-{view.node}.html", standalone_html(_ego(view)), "text/html"


def _controls(view: View) -> np.ndarray:
    """What the map is coloured by and which nodes it shows."""
    table = view.table
    offered = columns.of(table)
    one, two = st.columns([3, 1], vertical_alignment="bottom")
    colour = one.selectbox(
        "Colour by",
        list(offered),
        key="colour",
        format_func=lambda key: offered[key].label,
        bind="query-params",
    )
    shown = np.ones(len(table), dtype=bool)
    with two.popover("Filter", icon=":material/filter_alt:", width="stretch"):
        chosen = st.pills(
            "Show",
            list(FILTERS),
            selection_mode="multi",
            key="show",
            format_func=FILTERS.get,
            bind="query-params",
        )
        if "mistakes" in chosen:
            shown &= table.correct.eq(False).fillna(False).to_numpy(bool)
        if "left out" in chosen:
            shown &= table.ood.to_numpy()
        if "test" in chosen:
            shown &= (table.part == "test").to_numpy()
        if offered[colour].kind == "score" and table[colour].nunique() > 1:
            low, high = float(table[colour].min()), float(table[colour].max())
            between = st.slider(
                f"{plain(offered[colour].label)} between",
                low,
                high,
                (low, high),
                key=f"range_{colour}",
                format="%.2f",
            )
            if between != (low, high):
                shown &= table[colour].between(*between).to_numpy()
    return shown


def _map(view: View, shown: np.ndarray) -> None:
    colour = st.session_state.colour
    meaning = columns.of(view.table)[colour].meaning
    frame.node_map(
        view,
        data.map_drawing(view.spec, colour, view.theme, shown),
        MAP,
        f"{meaning} {shown.sum():,} of {len(shown):,} papers are shown; "
        "click one to inspect it, scroll to zoom, or draw around several with the lasso.",
    )
    words = st.text_input("Find a paper by id or title", key="search", placeholder="part of an id")
    if words:
        _found(view, words)


def _found(view: View, words: str) -> None:
    texts = view.table.id if "title" not in view.table else view.table.id + " " + view.table.title
    hits = np.flatnonzero(texts.str.contains(words, case=False, regex=False))
    st.caption(
        f"{len(hits):,} papers match" + (", the first 50 are listed" if len(hits) > 50 else "")
    )
    if len(hits):
        frame.node_list(view, hits[:50].tolist(), ["true", "predicted", "confidence"], "found")


def _group(view: View) -> None:
    """Accuracy and calibration of the nodes inside a lasso or box."""
    nodes = [n for n in st.session_state.get("group", []) if n < view.graph.num_nodes]
    if not nodes:
        return
    table = view.table.iloc[nodes]
    judged = table.index[table.correct.notna()]
    st.subheader(f"{len(nodes):,} papers in your selection")
    figures = {"mean confidence": f"{table.confidence.mean():.2f}"}
    if len(judged):
        targets = view.result.split.targets(view.graph.labels[judged])
        probs = view.result.probs[judged]
        figures |= {
            "accuracy": f"{metrics.accuracy(probs, targets):.1%}",
            "ECE (10 bins)": f"{metrics.expected_calibration_error(probs, targets):.1%}",
        }
    figures["classes never shown"] = f"{table.ood.sum():,}"
    for column, (label, value) in zip(st.columns(len(figures)), figures.items(), strict=True):
        column.metric(label, value)
    st.caption(
        "Accuracy and ECE are over papers of classes that the model learned, training papers "
        "included. Few papers make a rough estimate."
    )
    columns = ["true", "predicted", "confidence"]
    frame.node_list(view, nodes[:200], columns, "group_list")
    st.button("Clear the selection", on_click=lambda: st.session_state.pop("group", None))


def _inspector(view: View) -> None:
    node = view.node
    row = view.table.iloc[node]
    st.subheader(f"Paper {plain(view.name_of(node))}")
    st.markdown(_verdict(row))
    _probabilities(view, node)
    st.caption(
        "Bars: probability of each class; the star marks the true one. "
        + (
            "Whiskers: where that probability would lie in 90 % of cases, were the message of the "
            "class known exactly."
            if view.has_variance
            else "This method's messages have no variance, so there is no interval around them."
        )
    )
    if view.has_variance:
        std = np.sqrt(view.result.var[node])
        st.html(message_table(view.result.mean[node], std, view.answers, view.theme))
        st.caption(
            "The message of each class: higher speaks for the class. Mean and one standard "
            "deviation either way; where the ranges overlap, the model cannot tell the classes "
            "apart."
        )
    near = view.graph.neighbours(node)
    where, facts = st.columns(2, vertical_alignment="center")
    where.image(locator(view.positions, node, near, view.theme), caption="Where it is")
    with facts:
        _facts(view, row)
    st.markdown("**Linked papers**")
    if len(near):
        columns = ["true", "predicted", "confidence"]
        frame.node_list(view, near.tolist(), columns, f"near_{node}")
        st.caption("Click a row to walk on.")
    else:
        st.caption("None: nothing but its own words speaks for this paper.")


def _probabilities(view: View, node: int, seen: Inspection | None = None) -> None:
    """The class probabilities of a node, as the run gave them or as ``seen`` on other links."""
    probs = view.result.probs[node] if seen is None else seen.probs
    if seen is None and view.has_variance:
        seen = data.inspection(view.spec, node)
    low, high = (seen.low, seen.high) if seen is not None else (None, None)
    names, true = view.answers, view.table.true.iloc[node]
    true_index = names.index(true) if true in names else None
    st.html(probability_table(probs, low, high, names, true_index, view.theme))


def _verdict(row: pd.Series) -> str:
    predicted = plain(row.predicted)
    sure = f"with probability {row.confidence:.2f}"
    if row.ood:
        return (
            f":material/help: The model says **{predicted}** {sure}. In truth it is "
            f"**{plain(row.true)}**, a class that it was never shown."
        )
    if pd.isna(row.correct):
        return f":material/remove: The model says **{predicted}** {sure}. Its class is not known."
    if row.correct:
        return f":material/check_circle: The model says **{predicted}** {sure}, and that is right."
    return (
        f":material/cancel: The model says **{predicted}** {sure}. In truth it is "
        f"**{plain(row.true)}**."
    )


def _facts(view: View, row: pd.Series) -> None:
    distance = "no path" if pd.isna(row.distance) else f"{row.distance:.0f}"
    facts = {
        "Part": row.part,
        "Degree": f"{row.degree}",
        "Links to training": distance,
    }
    if view.has_variance:
        facts["Message std"] = f"{row.message_std:.3f}"
    for label, value in facts.items():
        st.metric(label, value, help=_HELP[label])


_HELP = {
    "Part": "Whether its class was told in training, used to choose the best epoch (validation), "
    "kept for testing, or not used at all.",
    "Degree": "Linked papers plus one, as the paper counts.",
    "Links to training": "Links on the shortest path to a paper whose class the model was told.",
    "Message std": "Standard deviation of the message, averaged over classes: how unsure the model "
    "is of the message itself.",
}


def _ego(view: View) -> EgoNetwork:
    """The neighbourhood as the controls of its tab ask for it, or at their defaults."""
    offered = columns.numbers(view.table)
    score = st.session_state.get("ego_score")
    if score not in offered:  # not chosen yet, or a score of another method
        score = next(iter(offered))
    values = limits = None
    stage = st.session_state.get("stage", "off")
    if view.has_variance and stage not in ("off", None):
        stages = data.layer_stds(view.spec)
        values, limits = stages[stage], colour_limits(np.concatenate(list(stages.values())))
        score = "hidden message std"
    hops = int(st.session_state.get("hops") or 1)
    return ego_network(
        view.graph, view.table, view.node, hops, score, view.theme, values=values, limits=limits
    )


def _neighbourhood(view: View) -> None:
    """The ego network: click a neighbour and walk on."""
    offered = columns.numbers(view.table)
    one, two = st.columns([1, 2])
    one.segmented_control("Hops", [1, 2, 3], default=1, key="hops", required=True)
    two.selectbox(
        "Colour",
        list(offered),
        key="ego_score",
        format_func=lambda key: offered[key].label,
    )
    if view.has_variance:
        st.segmented_control(
            "Variance, layer by layer",
            ["off", *data.layer_stds(view.spec)],
            default="off",
            key="stage",
            required=True,
            help="Colours show the hidden message's standard deviation before, between and after "
            "the two propagation steps, on one scale.",
        )
    ego = _ego(view)
    trail = st.session_state.get("trail", [])
    back, path = st.columns([1, 5])
    back.button(
        "Back", icon=":material/undo:", on_click=state.go_back, disabled=not trail, shortcut="B"
    )
    steps = " › ".join(map(plain, [*trail[-6:], view.graph.node_id(view.node)]))
    path.caption(steps if trail else "Click a paper to walk to it.")
    network(ego, "ego", lambda: _walked(view), height=460)
    st.caption(
        "Star: the picked paper. Diamond: a class never shown. Cross: a mistake. Yellow is a high "
        "value, blue a low one; larger means more links."
        + (f" {ego.hidden:,} papers further out are not drawn." if ego.hidden else "")
    )


def _walked(view: View) -> None:
    node = picked("ego")
    if node is not None and node < view.graph.num_nodes:
        state.pick(view.graph.node_id(node))


def _why(view: View) -> None:
    if not view.has_variance:
        st.info(
            "This method passes plain numbers, so there is no message variance to explain. Choose "
            "BUP in the sidebar."
        )
        return
    seen = data.inspection(view.spec, view.node)
    s = settings_of(view.spec)
    ids = [view.graph.node_id(n) for n in view.graph.neighbours(view.node)]
    frame.chart(
        shares_figure(seen.steps, ids, view.theme),
        "shares",
        "Each bar is what one linked paper added to this paper's variance or took off it, averaged "
        "over the hidden dimensions; they sum exactly to the change.",
    )
    st.markdown(_formula(view, s, seen))
    rows = [
        {
            "step": number,
            "linked paper": paper,
            "degree": int(view.graph.degree[n]),
            "change of variance": float(change),
            "share of the variance before": float(change / step.before.mean()),
        }
        for number, step in enumerate(seen.steps, 1)
        for n, paper, change in zip(step.neighbours, ids, step.change.mean(axis=1), strict=True)
    ]
    if rows:
        frame.numbers(pd.DataFrame(rows), f"{view.spec.key}-{view.node}-shares", "why")


def _formula(view: View, s, seen) -> str:
    degree = int(view.graph.degree[view.node])
    near = view.graph.neighbours(view.node)
    if s.propagation == "paper":
        inverse = float((1 / view.graph.degree[near]).sum())
        return (
            "The paper's rule multiplies the variance of this paper, in every layer, by\n\n"
            rf"$$1-\frac{{1}}{{\lambda\,d_i}}\sum_{{j\in N(i)}}\frac{{1}}{{d_j}}"
            rf"=1-\frac{{1}}{{{s.lam:g}\cdot {degree}}}\cdot {inverse:.3f}={seen.factor:.3f}$$"
            "\n\nOnly degrees appear in it: **how sure the linked papers are does not matter**. "
            "Their variances cancel, although one would expect unsure neighbours to make a paper "
            "unsure. Under evidence propagation, in the method's settings, they do count."
        )
    if s.propagation == "evidence":
        step = seen.steps[-1]
        return (
            "Evidence propagation reads each linked paper as a measurement and adds precisions:\n\n"
            r"$$\frac{1}{v_i'}=\frac{1}{v_i}+\sum_{j\in N(i)}\frac{w}{v_j+q},\qquad "
            rf"w={s.evidence_weight:g},\ q={s.evidence_noise:g}$$"
            f"\n\nIn the second step the variance goes from {step.before.mean():.3f} to "
            f"{step.after.mean():.3f}. More linked papers, or surer ones, always mean less of it."
        )
    if s.propagation == "gcn":
        return (
            "Variances are averaged like messages, with the weights of a graph convolution: "
            "a neighbour can only add, and nothing makes a well-linked paper surer."
        )
    return "There is no propagation: the variance comes from this paper's own words alone."


def _what_if(view: View) -> None:
    if not view.has_variance:
        st.info("Choose BUP in the sidebar to change links.")
        return
    node = view.node
    near = view.graph.neighbours(node).tolist()
    left, right = st.columns(2)
    removed = left.multiselect(
        "Remove links to",
        near,
        format_func=view.graph.node_id,
        key=f"remove_{node}",
        placeholder="choose linked papers",
    )
    typed = right.text_input(
        "Add links to (ids, separated by commas)", key=f"add_{node}", placeholder="e.g. 35, 1033"
    )
    try:
        added = [view.graph.find(part.strip()) for part in typed.split(",") if part.strip()]
        before = data.inspection(view.spec, node)
        after = data.inspection(
            view.spec,
            node,
            add=tuple((node, other) for other in added),
            remove=tuple((node, other) for other in removed),
        )
    except bup.BupError as error:
        st.warning(plain(error))
        return
    names = view.answers
    std = [float(np.sqrt(i.var).mean()) for i in (before, after)]
    top = [int(i.probs.argmax()) for i in (before, after)]
    facts = st.columns(3)
    facts[0].metric(
        "Message std", f"{std[1]:.4f}", f"{std[1] - std[0]:+.4f}", delta_color="inverse"
    )
    facts[1].metric(
        "Confidence", f"{after.probs.max():.3f}", f"{after.probs.max() - before.probs.max():+.3f}"
    )
    facts[2].metric(
        "Answer", names[top[1]], "changed" if top[0] != top[1] else None, delta_color="off"
    )
    for column, title, seen in ((left, "As it is", before), (right, "What if", after)):
        with column:
            st.markdown(f"**{title}**")
            _probabilities(view, node, seen)
    st.caption(
        "Nothing is trained again: the learned weights see the changed links. Both the mean and "
        "the variance of the message follow."
    )


def _pair(view: View) -> None:
    pinned = st.session_state.get("pinned")
    st.button(
        "Pin this paper",
        icon=":material/keep:",
        on_click=lambda: st.session_state.update(pinned=view.graph.node_id(view.node)),
    )
    try:
        other = view.graph.find(pinned) if pinned else None
    except bup.BupError:
        other = None
    if other is None:
        st.caption("Pin one paper, then pick another: both are shown side by side.")
        return
    rows = []
    for column, title, node in zip(
        st.columns(2), ("Pinned", "Picked"), (other, view.node), strict=True
    ):
        with column:
            st.markdown(f"**{title}: {plain(view.name_of(node))}**")
            _probabilities(view, node)
            st.caption(_verdict(view.table.iloc[node]))
        rows.append(view.table.iloc[[node]])
    st.dataframe(pd.concat(rows), hide_index=True, width="stretch")


TABS = {
    "Neighbourhood": _neighbourhood,
    "Why this uncertainty?": _why,
    "What if?": _what_if,
    "Compare two papers": _pair,
}

main(st.session_state.view)
