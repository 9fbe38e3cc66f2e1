"""The picked node: its widget, bound to the link, and whatever changes it.

Callbacks call these: they run before the widgets are drawn again.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

import bup
from bup.graph import Graph
from bup.results.result import Result
from dashboard.session import url
from dashboard.ui.markdown import escaped

TRAIL = 12
"""How many visited nodes the way back remembers."""


def pick(node_id: str) -> None:
    """Make a node the picked one and remember the way; for callbacks."""
    before = st.session_state.get("node", "")
    if node_id != before:
        trail = [*visited_nodes(), before]
        st.session_state.trail = [n for n in trail if n][-TRAIL:]
        _look_at(node_id)


def visited_nodes() -> list[str]:
    """The nodes that led to this one, not those from which the browser's own back has returned."""
    trail, here = list(st.session_state.get("trail", [])), st.session_state.get("node", "")
    if here in trail and here != st.session_state.get("trail_end"):
        return trail[: trail.index(here)]
    return trail


def go_back() -> None:
    if trail := visited_nodes():
        st.session_state.trail = trail[:-1]
        _look_at(trail[-1])


def limit_walk(shown: np.ndarray | None) -> None:
    """Next, previous and random node are of these [n]; None: of all."""
    st.session_state.walk_among = shown


def _look_at(node_id: str) -> None:
    """What was changed of another node's links is let go."""
    st.session_state.update(node=node_id, trail_end=node_id, unlink=[], link_to="")


def clear() -> None:
    """No node is picked any more; for callbacks."""
    st.session_state.tab = None
    _look_at("")


def reset_for_graph() -> None:
    """Nothing of what was picked, drawn around or dragged on a graph belongs to another."""
    nothing = dict.fromkeys(("pin", "lasso", "range", "before", "previous"))
    st.session_state.update(nothing, trail=[], group=[])
    _look_at("")


def node_input(graph: Graph, result: Result) -> tuple[int, bool]:
    """The picked node's widget: the node, and whether anybody picked it.

    Until then it is the first test node, and so it is for an unknown id, which is explained.
    """
    text = st.text_input(
        graph.noun.apply_to("Picked node (id)"),
        key="node",
        bind="query-params",
        placeholder="none yet",
        help="Click a point, a bar or a row anywhere, or type an id.",
    )
    st.session_state.last_node = str(text).strip()  # pages without a run have no such widget
    try:
        return last_node(graph, result)
    except bup.BupError as error:
        st.warning(escaped(error))
        return int(result.split.test[0]), False


def last_node(graph: Graph, result: Result) -> tuple[int, bool]:
    """The node that was picked last, or that a link names, and whether there is one."""
    wanted = st.session_state.get("last_node", url.get("node"))
    if not wanted:
        return int(result.split.test[0]), False
    return graph.find(wanted), True
