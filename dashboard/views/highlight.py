"""The nodes behind a bar, a bin or a cell that was clicked: listed, and lit on a map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from bup.io.csv import csv_text
from dashboard.cache import maps
from dashboard.session.view import View
from dashboard.views import charts, picking

COLUMNS = ("true", "predicted", "confidence")


@dataclass(frozen=True, eq=False)
class NodeList:
    """Some nodes in the order in which to look at them, and what they have in common."""

    title: str  # after "12 papers"
    nodes: np.ndarray
    columns: tuple[str, ...] = COLUMNS


def highlight(view: View, page: str, name: str, group: NodeList) -> None:
    """Ask for a group, and pick its first node; for callbacks.

    ``name`` says which of the page's groups it is: the page looks it up among those that it has,
    so that none outlives the settings that it was clicked under.
    """
    st.session_state[f"lit_{page}"] = name
    if len(group.nodes):
        picking.pick_node(view, int(group.nodes[0]))


def highlighted(page: str) -> str | None:
    return st.session_state.get(f"lit_{page}")


def show_nodes(view: View, page: str, group: NodeList) -> None:
    """The group as a list and on the map."""
    noun, nodes = view.graph.noun, group.nodes
    st.header(f"{noun.count(len(nodes))} {group.title}", anchor=False)
    left, right = st.columns(2)
    with left:
        picking.node_list(view, nodes.tolist(), list(group.columns), f"{page}_lit_list")
        rows = view.table.iloc[nodes]
        with st.container(horizontal=True):
            st.download_button(
                "These as CSV",
                lambda: csv_text(rows),
                f"{view.run.key}-{page}.csv",
                "text/csv",
                key=f"{page}_lit_csv",
                icon=":material/download:",
            )
            st.button(
                "Close",
                icon=":material/close:",
                key=f"{page}_lit_close",
                on_click=lambda: st.session_state.pop(f"lit_{page}", None),
            )
    with right:
        shown = np.zeros(view.graph.num_nodes, dtype=bool)
        shown[nodes] = True
        charts.node_map(
            view,
            maps.map_drawing(view.loaded_run, "correct", view.theme, shown),
            f"{page}_lit_map",
            view.say("The same nodes, lit on the map. Click one to pick it."),
        )
