"""Picking a node, and walking from node to node."""

from __future__ import annotations

import random

import pandas as pd
import streamlit as st

import bup
from bup.graph import Graph
from bup.results import Result
from dashboard import state
from dashboard.state import View


def pick_node(view: View, node: int) -> None:
    """What a click on a point of a node does."""
    if 0 <= node < view.graph.num_nodes:
        state.pick(view.graph.node_id(node))


def node_list(view: View, nodes: list[int], columns: list[str], key: str) -> None:
    """These nodes with some columns of the run's table; clicking a row picks the node."""
    picking_table(view, nodes, view.table.iloc[nodes][["id", *columns]], key)


def picking_table(view: View, nodes: list[int], rows: pd.DataFrame, key: str) -> None:
    """A row per node, whatever it says of it; clicking the row picks the node."""

    def chosen() -> None:
        selected = st.session_state[key]["selection"]
        rows = [*selected["rows"], *(row for row, _ in selected["cells"])]
        if rows:
            state.pick(view.graph.node_id(nodes[rows[0]]))

    st.dataframe(
        rows,
        hide_index=True,
        width="stretch",
        key=key,
        on_select=chosen,
        selection_mode=["single-row", "single-cell"],  # not only its small box: any of its cells
        height=min(38 * (len(nodes) + 1), 320),
        column_config={
            c: st.column_config.NumberColumn(format="%.3f") for c in rows.select_dtypes("float")
        },
    )


def walk(graph: Graph, result: Result | None) -> None:
    """Next, previous and random node, also by keyboard."""
    if result is None:
        return
    current = graph.find(st.session_state.node) if _known(graph) else 0
    said = graph.noun.said
    steps = {
        ":material/arrow_back:": (said("Previous node"), "P", (current - 1) % graph.num_nodes),
        ":material/casino:": (said("A node at random"), "X", random.randrange(graph.num_nodes)),
        ":material/arrow_forward:": (said("Next node"), "N", (current + 1) % graph.num_nodes),
    }
    for column, (icon, (words, key, node)) in zip(st.columns(3), steps.items(), strict=True):
        column.button(
            icon,
            help=words,
            shortcut=key,
            on_click=state.pick,
            args=(graph.node_id(node),),
            width="stretch",
            key=f"walk_{key}",
        )


def _known(graph: Graph) -> bool:
    try:
        graph.find(str(st.session_state.get("node", "")))
    except bup.BupError:
        return False
    return True
