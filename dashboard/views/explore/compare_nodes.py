"""Two nodes side by side."""

from __future__ import annotations

import streamlit as st

import bup
from dashboard.figures.class_tables import compared_table, facts_table
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.markdown import escaped


def compare_nodes(view: View) -> None:
    other = pinned(view)
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
        st.caption(f"**{escaped(here)}** is pinned. Now pick another on the map.")
        return
    nodes, labels = (other, view.node), (view.graph.node_id(other), here)
    st.html(compared_table(view.result.probs[list(nodes)], labels, view.answers, view.theme, "|"))
    offered = columns.menu_columns(view.table)
    rows = [
        ("title", [str(view.table.title.iloc[n]) for n in nodes])
        if "title" in view.table
        else None,
        *(
            (column.label, [_written(view.table[name].iloc[n], column) for n in nodes])
            for name, column in offered.items()
        ),
    ]
    st.html(facts_table(labels, [row for row in rows if row is not None]))


def pinned(view: View) -> int | None:
    try:
        return view.graph.find(st.session_state.pin) if st.session_state.get("pin") else None
    except bup.BupError:  # of another graph
        return None


def _written(value: object, column: columns.Column) -> str:
    if column.kind == "score":
        number = float(value)  # type: ignore[arg-type]
        return "–" if number != number else f"{number:.3g}"
    if isinstance(value, str):
        return value or "unknown"
    return "–" if value is None or value != value else {True: "right", False: "wrong"}[bool(value)]
