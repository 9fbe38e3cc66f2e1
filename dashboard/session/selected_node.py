"""The node that the visitor picked: its text field, bound to the address, and what changes it.

``pick``, ``go_back``, ``clear`` and ``reset_for_graph`` are for callbacks, which run before the
widgets are drawn again.
"""

import numpy as np
import streamlit as st

import bup
from bup.graph import Graph
from bup.results.result import Result
from dashboard.session import url
from dashboard.ui.markdown import escaped

TRAIL = 12  # visited nodes that the way back remembers


def pick(node_id: str) -> None:
    """Pick a node and remember the one before."""
    before = st.session_state.get("node", "")
    if node_id != before:
        st.session_state.trail = [node for node in (*visited_nodes(), before) if node][-TRAIL:]
        _select(node_id)


def visited_nodes() -> list[str]:
    """The nodes picked before this one, without those that the browser's own back has left."""
    trail, node = list(st.session_state.get("trail", [])), st.session_state.get("node", "")
    if node in trail and node != st.session_state.get("trail_end"):
        return trail[: trail.index(node)]
    return trail


def go_back() -> None:
    if trail := visited_nodes():
        st.session_state.trail = trail[:-1]
        _select(trail[-1])


def limit_walk(mask: np.ndarray | None) -> None:
    """Restrict next, previous and random node to a mask [n]; None allows all."""
    st.session_state.walk_among = mask


def _select(node_id: str) -> None:
    """Also drops what the visitor chose for another node: changed links, the class compared."""
    st.session_state.update(node=node_id, trail_end=node_id, unlink=[], link_to="", against=None)


def clear() -> None:
    """Pick no node."""
    st.session_state.tab = None
    _select("")


def reset_for_graph() -> None:
    """Drop everything that belongs to the graph before: node, pin, lasso, range, other runs."""
    nothing = dict.fromkeys(("pin", "lasso", "range", "before", "previous"))
    st.session_state.update(nothing, trail=[], group=[])
    _select("")


def node_input(graph: Graph, result: Result) -> tuple[int, bool]:
    """The text field of the picked node; gives the node, and whether the visitor picked it.

    If not, or if the id is unknown, it is the first test node.
    """
    text = st.text_input(
        graph.noun.apply_to("Picked node (id)"),
        key="node",
        bind="query-params",
        placeholder="none yet",
        help="Click a point, a bar or a row anywhere, or type an id.",
    )
    st.session_state.last_node = str(text).strip()  # for pages that do not draw this widget
    try:
        return last_node(graph, result)
    except bup.BupError as error:
        st.warning(escaped(error))
        return int(result.split.test[0]), False


def last_node(graph: Graph, result: Result) -> tuple[int, bool]:
    """The node picked last or named by the link, and whether there is one; else a test node."""
    node_id = st.session_state.get("last_node", url.get("node"))
    if not node_id:
        return int(result.split.test[0]), False
    return graph.find(node_id), True
