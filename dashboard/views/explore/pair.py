"""Two papers side by side."""

from __future__ import annotations

import pandas as pd
import streamlit as st

import bup
from dashboard.markdown import escaped
from dashboard.state import View
from dashboard.views.explore.answer import probabilities, verdict


def pair(view: View) -> None:
    pinned = st.session_state.get("pinned")
    st.button(
        view.say("Pin this node"),
        icon=":material/keep:",
        on_click=lambda: st.session_state.update(pinned=view.graph.node_id(view.node)),
    )
    try:
        other = view.graph.find(pinned) if pinned else None
    except bup.BupError:
        other = None
    if other is None:
        st.caption(view.say("Pin one node, then pick another: both are shown side by side."))
        return
    rows = []
    for column, title, node in zip(
        st.columns(2), ("Pinned", "Picked"), (other, view.node), strict=True
    ):
        with column:
            st.markdown(f"**{title}: {escaped(view.name_of(node))}**")
            probabilities(view, node)
            st.caption(verdict(view.table.iloc[node]))
        rows.append(view.table.iloc[[node]])
    st.dataframe(pd.concat(rows), hide_index=True, width="stretch")
