"""Picking a node, and walking from node to node."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd
import streamlit as st

import bup
from bup.graph import Graph
from dashboard.session import selected_node
from dashboard.session.view import View

MOST_ROWS = 1000
"""Of a page of a list: longer ones have several."""


NARROW = {"id": 66, "predicted": 76, "true": 66, "confidence": 66}
"""Columns and the pixels that each has at least: where there is more room, they share it."""


def pick_node(view: View, node: int) -> None:
    """What a click on a point of a node does."""
    if 0 <= node < view.graph.num_nodes:
        selected_node.pick(view.graph.node_id(node))


def node_list(view: View, nodes: Sequence[int], columns: list[str], key: str) -> None:
    """These nodes with some columns of the run's table; clicking a row picks the node."""
    part = leaf(view, len(nodes), key)
    nodes = list(nodes[part])
    _picking_rows(view, nodes, view.table.iloc[nodes][["id", *columns]], key)


def answers(view: View, nodes: Sequence[int], key: str) -> None:
    """The same with what the model says of them, all of it in sight in a panel beside the map."""
    part = leaf(view, len(nodes), key)
    nodes = list(nodes[part])
    _picking_rows(view, nodes, view.table.iloc[nodes][list(NARROW)], key, NARROW)


def picking_table(view: View, nodes: list[int], rows: pd.DataFrame, key: str) -> None:
    """A row per node, whatever it says of it; clicking any cell of it picks the node."""
    part = leaf(view, len(nodes), key)
    _picking_rows(view, nodes[part], rows.iloc[part], key)


def leaf(view: View, count: int, key: str) -> slice:
    """The rows of a list that are shown: all, or a page of them to be chosen."""
    pages = -(-count // MOST_ROWS)
    if pages <= 1:
        return slice(0, count)
    noun, words, name = view.graph.noun, st.empty(), f"{key}_page"
    if st.session_state.get(name, 1) > pages:  # of a longer list that stood here before
        st.session_state[name] = 1
    number = st.number_input(f"Page of {pages:,}", 1, pages, key=name, width=160)
    first = MOST_ROWS * (int(number) - 1)
    last = min(count, first + MOST_ROWS)
    words.caption(f"{first + 1:,} to {last:,} of {noun.count(count)}, in this order.")
    return slice(first, last)


def _picking_rows(
    view: View,
    nodes: list[int],
    rows: pd.DataFrame,
    key: str,
    widths: Mapping[str, int] = MappingProxyType({}),
) -> None:
    def chosen() -> None:
        selected = st.session_state[key]["selection"]
        rows = [*selected["rows"], *(row for row, _ in selected["cells"])]
        if rows:
            selected_node.pick(view.graph.node_id(nodes[rows[0]]))

    st.dataframe(
        rows,
        hide_index=True,
        width="stretch",
        key=key,
        on_select=chosen,
        selection_mode=["single-row", "single-cell"],  # not only its small box: any of its cells
        height=min(38 * (len(nodes) + 1), 320),
        column_config={
            c: st.column_config.NumberColumn(format="%.3f", width=widths.get(c))
            if c in rows.select_dtypes("float")
            else st.column_config.Column(width=widths.get(c))
            for c in rows
        },
        alt=view.say("Nodes: click a row to pick one"),
    )


def walk(graph: Graph, shown: np.ndarray | None = None) -> None:
    """Next, previous and random node of those shown, and the way back, also by keyboard."""
    nodes = np.arange(graph.num_nodes) if shown is None else np.flatnonzero(shown)
    said, which = graph.noun.apply_to, "" if shown is None else " that the filter shows"
    current = _current(graph)
    before = int(np.searchsorted(nodes, current)) - 1
    after = int(np.searchsorted(nodes, current, side="right"))
    steps = {
        "P": ("Previous", "The node before this one", before),
        "N": ("Next", "The node after this one", after),
        "X": ("Random", "A node at random", random.randrange(len(nodes) or 1)),
    }
    with st.container(horizontal=True, gap="xsmall"):
        for key, (short, words, place) in steps.items():
            st.button(
                short,
                help=said(words) + which,
                shortcut=key,
                on_click=selected_node.pick,
                args=(graph.node_id(nodes[place % len(nodes)]) if len(nodes) else "",),
                disabled=not len(nodes),
                width="stretch",
                key=f"walk_{key}",
            )
        st.button(
            "Back",
            help=said("The node that you came from"),
            shortcut="B",
            on_click=selected_node.go_back,
            disabled=not selected_node.visited_nodes(),
            width="stretch",
            key="walk_B",
        )


def _current(graph: Graph) -> int:
    """The picked node; before the first one where there is none."""
    try:
        return graph.find(str(st.session_state.get("node", "")).strip())
    except bup.BupError:
        return -1
