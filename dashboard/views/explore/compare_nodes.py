"""The tab Compare: two nodes side by side."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

import bup
from dashboard.figures.class_tables import compared_table, facts_table
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.markdown import escaped


def compare_nodes(view: View) -> None:
    other = _pinned_node(view)
    here = view.graph.node_id(view.node)
    with st.container(horizontal=True):
        st.button(
            view.say("Pin this node"),
            icon=":material/keep:",
            on_click=lambda: st.session_state.update(pin=here),
            disabled=other == view.node,
        )
        if other is not None:
            st.button("Unpin", on_click=lambda: st.session_state.update(pin=None))
    if other is None:
        st.caption(
            view.say("Pin this node, then pick another on the map: both are shown side by side.")
        )
        return
    if other == view.node:
        name = escaped(view.graph.name_of(other))
        st.caption(f"**{name}** is pinned. Now pick another on the map.")
        return
    nodes = [other, view.node]
    names = view.graph.name_of(other), view.graph.name_of(view.node)
    st.html(compared_table(view.result.probs[nodes], names, view.answers, view.theme, "|"))
    rows = view.table.iloc[nodes]
    about = [view.graph.about(node) for node in nodes]
    facts = [("about", about)] if any(about) else []
    for name, column in columns.menu_columns(view.table).items():
        facts.append((column.label, [_text(value, column) for value in rows[name]]))
    st.html(facts_table(names, facts))


def _pinned_node(view: View) -> int | None:
    try:
        return view.graph.find(st.session_state.pin) if st.session_state.get("pin") else None
    except bup.BupError:  # a node of another graph
        return None


def _text(value: Any, column: columns.Column) -> str:
    if pd.isna(value):
        return "–"
    if column.kind == "score":
        text = f"{value:.3g}"
        return ">0.999" if text == "1" and value != 1 else text
    if isinstance(value, str):
        return value or "unknown"
    return "right" if value else "wrong"
