"""The tab What if?: the picked node's answer if it had other links."""

from __future__ import annotations

import contextlib

import numpy as np
import streamlit as st

import bup
from bup.explanation.inspection import inspect, with_links
from bup.explanation.reasons import why_no_reasons
from bup.graph import Graph
from bup.methods import METHODS
from dashboard.figures.class_tables import compared_table
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.ui.numbers import percent
from dashboard.views.explore.inspector import probabilities

TAB = "What if?"
BETWEEN = " – "  # the ids of a link that is not one of the picked node's own


def what_if(view: View) -> None:
    if cause := why_no_reasons(view.result):
        st.info(cause)
        return
    graph, node, search = view.graph, view.node, view.loaded_run.change_search
    if cause := search.why_not(node):
        able = ", ".join(
            m.short for m in METHODS.values() if m.explains.reasons and not m.explains.remainder
        )
        st.info(f"{cause} Choose {able} in the sidebar.")
        return
    removable = _removable(view)
    st.session_state.unlink = [n for n in st.session_state.get("unlink") or [] if n in removable]
    removed = st.multiselect(
        "Remove links to",
        list(removable),
        format_func=lambda name: BETWEEN.join(
            graph.name_of(end) for end in removable[name] if end != node
        ),
        key="unlink",
        placeholder=view.say("choose linked nodes") if removable else "it has no links",
    )
    linked = {node, *graph.neighbours(node).tolist()}
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
        links = [(node, other) for other in added]
        changed = with_links(graph, links, [removable[name] for name in removed])
    except bup.BupError as error:
        st.warning(escaped(error))
        return
    if not removed and not added:
        st.markdown("You have not changed a link yet. With the links as they are:")
        probabilities(view)
        return
    with st.spinner("Computing the answer anew …"):
        both = [search.probabilities(node, g) for g in (graph, changed)]
    st.markdown(_difference(view, *both) + _less_or_more_doubt(view, changed))
    labels = ("as it is", "what if")
    st.html(compared_table(both, labels, view.answers, view.theme))
    st.caption(
        "The model is not trained again: its learned weights see the changed links"
        + (
            ", which change both the mean and the variance of the message."
            if view.explains.what_if
            else "."
        )
        + ("" if search.repeats_calibration else " Probabilities are those before calibration.")
    )


def link_name(graph: Graph, node: int, *link: int) -> str:
    """A link in the menu of links to remove: the id of the node linked to the picked one, or both
    ids where it is further away."""
    if node in link:
        return graph.node_id(link[0] if link[1] == node else link[1])
    return BETWEEN.join(map(graph.node_id, link))


def _removable(view: View) -> dict[str, tuple[int, int]]:
    """The links of the picked node by name, and those further away that are removed already."""
    graph, node = view.graph, view.node
    links = {graph.node_id(n): (node, n) for n in graph.neighbours(node).tolist()}
    for name in st.session_state.get("unlink") or []:
        with contextlib.suppress(bup.BupError, ValueError):
            one, other = map(graph.find, name.split(BETWEEN))
            if other in graph.neighbours(one):
                links[name] = one, other
    return links


def changed_links(view: View) -> tuple[list[int], list[int]]:
    """The nodes to which links of the picked node are removed, and added, for the map."""
    if st.session_state.get("tab") != TAB:
        return [], []
    graph, state = view.graph, st.session_state
    neighbours = graph.neighbours(view.node).tolist()
    try:
        names = [name for name in state.get("unlink") or [] if BETWEEN not in name]
        removed = [graph.find(name) for name in names]
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
    further = [name for name in st.session_state.get("unlink") or [] if BETWEEN in name]
    st.session_state.update(unlink=ids[0] + further, link_to=", ".join(ids[1]))


def _nodes_in_text(graph: Graph, text: str) -> list[int]:
    """The nodes of ids between commas, or between spaces if no id has any."""
    nodes = []
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            nodes.append(graph.find(part))
        except bup.BupError:
            nodes += map(graph.find, part.split())
    return list(dict.fromkeys(nodes))


def _difference(view: View, before: np.ndarray, after: np.ndarray) -> str:
    """What changed, in a sentence."""
    old, new = (escaped(view.answers[int(probs.argmax())]) for probs in (before, after))
    sure = [percent(float(probs.max())) for probs in (before, after)]
    says = f"still say **{new}**" if old == new else f"say **{new}** instead of {old}"
    return f"The model would {says}, {sure[1]} sure instead of {sure[0]}. "


def _less_or_more_doubt(view: View, changed: Graph) -> str:
    """How the variance of the message changed, for methods that pass variances along links."""
    if not view.explains.what_if:
        return ""
    after = inspect(changed, view.result, view.node)
    std = [float(np.sqrt(i.var).mean()) for i in (view.loaded_run.inspection(view.node), after)]
    return f"Message uncertainty: {std[0]:.4f} → **{std[1]:.4f}**."
