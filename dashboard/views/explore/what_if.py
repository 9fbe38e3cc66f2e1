"""The picked node's answer, had it other links."""

from __future__ import annotations

import numpy as np
import streamlit as st

import bup
from bup.explain.inspection import Inspection
from bup.graph import Graph
from bup.methods import METHODS
from dashboard.figures.class_tables import compared_table
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.ui.numbers import percent
from dashboard.views.explore.answer import probabilities

TAB = "What if?"


def what_if(view: View) -> None:
    if not view.explains.what_if:
        able = ", ".join(m.short for m in METHODS.values() if m.explains.what_if)
        st.info(f"This method cannot be asked again on other links. Choose {able} in the sidebar.")
        return
    node = view.node
    near = {view.graph.node_id(n): n for n in view.graph.neighbours(node).tolist()}
    st.session_state.unlink = [n for n in st.session_state.get("unlink") or [] if n in near]
    removed = st.multiselect(
        "Remove links to",
        list(near),
        key="unlink",
        placeholder=view.say("choose linked nodes") if near else "it has no links",
    )
    typed = st.text_input(
        "Add links to (ids)",
        key="link_to",
        placeholder="for example " + ", ".join(map(view.graph.node_id, _others(view))),
    )
    st.toggle(
        "Change links by a click on the map",
        key="linking",
        help=view.say(
            "Click a linked node to remove its link, any other to add one; once more to undo it."
        ),
    )
    try:
        added = _typed(view.graph, typed)
        before = view.loaded_run.inspection(node)
        after = view.loaded_run.inspection(
            node,
            add=tuple((node, other) for other in added),
            remove=tuple((node, near[other]) for other in removed),
        )
    except bup.BupError as error:
        st.warning(escaped(error))
        return
    if not removed and not added:
        st.markdown("No link is changed yet. As it is:")
        probabilities(view, node, before)
        return
    st.markdown(_said(view, before, after))
    labels = ("as it is", "what if")
    st.html(compared_table((before.probs, after.probs), labels, view.answers, view.theme))
    st.caption(
        "Nothing is trained again: the learned weights see the changed links, and both the mean "
        "and the variance of the message follow."
        + (" Probabilities are those before calibration." if view.recalibrated else "")
    )


def changed_links(view: View) -> tuple[list[int], list[int]]:
    """The nodes to which links of the picked one are removed, and added, as the map shows them."""
    if st.session_state.get("tab") != TAB:
        return [], []
    graph, asked = view.graph, st.session_state
    near = graph.neighbours(view.node).tolist()
    try:
        removed = [n for n in map(graph.find, asked.get("unlink") or []) if n in near]
        return removed, [n for n in _typed(graph, asked.get("link_to") or "") if n not in near]
    except bup.BupError:  # said beside the map
        return [], []


def linking() -> bool:
    """Whether a click on the map changes a link."""
    return st.session_state.get("tab") == TAB and bool(st.session_state.get("linking"))


def change_link(view: View, node: int) -> None:
    """Remove the link to a node, add one, or undo that; for callbacks."""
    removed, added = changed_links(view)
    if node == view.node:
        return
    linked = node in view.graph.neighbours(view.node)
    nodes = removed if linked else added
    if node in nodes:
        nodes.remove(node)
    else:
        nodes.append(node)
    ids = [[view.graph.node_id(n) for n in part] for part in (removed, added)]
    st.session_state.update(unlink=ids[0], link_to=", ".join(ids[1]))


def _typed(graph: Graph, text: str) -> list[int]:
    """The nodes whose ids stand between commas, or between spaces, where no id has any."""
    found = []
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            found.append(graph.find(part))
        except bup.BupError:
            found += map(graph.find, part.split())
    return list(dict.fromkeys(found))


def _said(view: View, before: Inspection, after: Inspection) -> str:
    """What changed, in a sentence."""
    was, now = (escaped(view.answers[int(seen.probs.argmax())]) for seen in (before, after))
    sure = [percent(float(seen.probs.max())) for seen in (before, after)]
    says = f"still say **{now}**" if was == now else f"say **{now}** instead of {was}"
    std = [float(np.sqrt(seen.var).mean()) for seen in (before, after)]
    return (
        f"The model would {says}, {sure[1]} sure instead of {sure[0]}. "
        f"Message uncertainty: {std[0]:.4f} → **{std[1]:.4f}**."
    )


def _others(view: View) -> list[int]:
    """Two nodes that it is not linked to, as examples."""
    linked = {view.node, *view.graph.neighbours(view.node).tolist()}
    return [int(n) for n in view.result.split.train if int(n) not in linked][:2]
