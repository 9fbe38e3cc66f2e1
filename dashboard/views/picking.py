"""Picking a node: by a click on a chart, a map, a network or a row, and step by step."""

import random
from collections.abc import Callable

import numpy as np
import streamlit as st

import bup
from bup.graph import Graph
from dashboard.components.shared.component import reported
from dashboard.session import selected_node
from dashboard.session.view import View


def clicked_node(key: str) -> int | None:
    """The node that was just clicked on a chart, a map or a network; for its ``on_pick``."""
    value = reported(key, "pick")
    return int(value) if type(value) in (int, float) else None


def on_click(key: str, choose: Callable[[int], None]) -> Callable[[], None]:
    """The ``on_pick`` of a chart, a map or a network: passes the clicked node to ``choose``."""

    def on_pick() -> None:
        node = clicked_node(key)
        if node is not None:
            choose(node)

    return on_pick


def selected_nodes(key: str) -> list[int]:
    """The nodes inside the box or lasso that was just drawn on a chart; for its ``on_group``."""
    value = reported(key, "group")
    return list(dict.fromkeys(int(n) for n in value)) if isinstance(value, list) else []


def pick_node(view: View, node: int) -> None:
    """Pick a node by its number; for callbacks."""
    if 0 <= node < view.graph.num_nodes:
        selected_node.pick(view.graph.node_id(node))


def walk_buttons(graph: Graph, shown: np.ndarray | None = None) -> None:
    """Buttons and keys for the previous, the next, a random and the last picked node.

    ``shown`` [n] limits the walk to the nodes that the filter shows.
    """
    nodes = np.arange(graph.num_nodes) if shown is None else np.flatnonzero(shown)
    apply_noun, suffix = graph.noun.apply_to, "" if shown is None else " that the filter shows"
    try:
        current = graph.find(str(st.session_state.get("node", "")).strip())
    except bup.BupError:  # no node is picked
        current = -1
    steps = {
        "P": ("Previous", "The node before this one", int(np.searchsorted(nodes, current)) - 1),
        "N": ("Next", "The node after this one", int(np.searchsorted(nodes, current, "right"))),
        "X": ("Random", "A node at random", random.randrange(len(nodes) or 1)),
    }
    with st.container(horizontal=True, gap="xsmall"):
        for key, (label, help_text, position) in steps.items():
            st.button(
                label,
                help=apply_noun(help_text) + suffix,
                shortcut=key,
                on_click=selected_node.pick,
                args=(graph.node_id(nodes[position % len(nodes)]) if len(nodes) else "",),
                disabled=not len(nodes),
                width="stretch",
                key=f"walk_{key}",
            )
        st.button(
            "Back",
            help=apply_noun("The node that you came from"),
            shortcut="B",
            on_click=selected_node.go_back,
            disabled=not selected_node.visited_nodes(),
            width="stretch",
            key="walk_B",
        )
