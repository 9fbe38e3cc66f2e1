"""The tab What if?: the picked node's answer if it had other links."""

from __future__ import annotations

import numpy as np
import streamlit as st

import bup
from bup.explanation.inspection import Inspection
from bup.graph import Graph
from bup.methods import METHODS
from dashboard.figures.class_tables import compared_table
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.ui.numbers import percent
from dashboard.views.explore.inspector import probabilities

TAB = "What if?"


def what_if(view: View) -> None:
    if not view.explains.what_if:
        able = ", ".join(m.short for m in METHODS.values() if m.explains.what_if)
        st.info(f"This method cannot answer again on other links. Choose {able} in the sidebar.")
        return
    graph, node = view.graph, view.node
    neighbours = {graph.node_id(n): n for n in graph.neighbours(node).tolist()}
    st.session_state.unlink = [n for n in st.session_state.get("unlink") or [] if n in neighbours]
    removed = st.multiselect(
        "Remove links to",
        list(neighbours),
        format_func=lambda id: graph.name_of(graph.find(id)),
        key="unlink",
        placeholder=view.say("choose linked nodes") if neighbours else "it has no links",
    )
    linked = {node, *neighbours.values()}
    examples = [n for n in view.result.split.train.tolist() if n not in linked][:2]
    text = st.text_input(
        "Add links to (ids)",
        key="link_to",
        placeholder="for example " + ", ".join(map(graph.node_id, examples)),
    )
    st.toggle(
        "Change links by a click on the map",
        key="linking",
        help=view.say(
            "Click a linked node to remove its link, any other to add one; once more to undo it."
        ),
    )
    try:
        added = _nodes_in_text(graph, text)
        before = view.loaded_run.inspection(node)
        after = view.loaded_run.inspection(
            node,
            add=tuple((node, other) for other in added),
            remove=tuple((node, neighbours[other]) for other in removed),
        )
    except bup.BupError as error:
        st.warning(escaped(error))
        return
    if not removed and not added:
        st.markdown("You have not changed a link yet. With the links as they are:")
        probabilities(view, before)
        return
    st.markdown(_difference(view, before, after))
    labels = ("as it is", "what if")
    st.html(compared_table((before.probs, after.probs), labels, view.answers, view.theme))
    st.caption(
        "The model is not trained again: its learned weights see the changed links, which change "
        "both the mean and the variance of the message."
        + (" Probabilities are those before calibration." if view.recalibrated else "")
    )


def changed_links(view: View) -> tuple[list[int], list[int]]:
    """The nodes to which links of the picked node are removed, and added, for the map."""
    if st.session_state.get("tab") != TAB:
        return [], []
    graph, state = view.graph, st.session_state
    neighbours = graph.neighbours(view.node).tolist()
    try:
        removed = [graph.find(id) for id in state.get("unlink") or []]
        added = _nodes_in_text(graph, state.get("link_to") or "")
    except bup.BupError:  # the tab shows the error
        return [], []
    return [n for n in removed if n in neighbours], [n for n in added if n not in neighbours]


def map_changes_links() -> bool:
    """Whether a click on the map changes a link instead of picking a node."""
    return st.session_state.get("tab") == TAB and bool(st.session_state.get("linking"))


def change_link(view: View, node: int) -> None:
    """Remove the link to a node, add one, or undo that; for callbacks."""
    if node == view.node:
        return
    removed, added = changed_links(view)
    changed = removed if node in view.graph.neighbours(view.node) else added
    if node in changed:
        changed.remove(node)
    else:
        changed.append(node)
    ids = [[view.graph.node_id(n) for n in nodes] for nodes in (removed, added)]
    st.session_state.update(unlink=ids[0], link_to=", ".join(ids[1]))


def _nodes_in_text(graph: Graph, text: str) -> list[int]:
    """The nodes of ids between commas, or between spaces if no id has any."""
    nodes = []
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            nodes.append(graph.find(part))
        except bup.BupError:
            nodes += map(graph.find, part.split())
    return list(dict.fromkeys(nodes))


def _difference(view: View, before: Inspection, after: Inspection) -> str:
    """What changed, in a sentence."""
    both = (before, after)
    old, new = (escaped(view.answers[int(inspection.probs.argmax())]) for inspection in both)
    sure = [percent(float(inspection.probs.max())) for inspection in both]
    says = f"still say **{new}**" if old == new else f"say **{new}** instead of {old}"
    std = [float(np.sqrt(inspection.var).mean()) for inspection in both]
    return (
        f"The model would {says}, {sure[1]} sure instead of {sure[0]}. "
        f"Message uncertainty: {std[0]:.4f} → **{std[1]:.4f}**."
    )
