"""Upload your own graph, or the predictions of your own model for a graph."""

from __future__ import annotations

import streamlit as st

from dashboard.views.upload.graph import graph
from dashboard.views.upload.predictions import predictions

PARTS = {"graph": "A graph", "predictions": "Predictions for a graph"}


def page() -> None:
    st.title("Bring your own")
    part = st.segmented_control(
        "What do you bring?",
        list(PARTS),
        default="graph",
        format_func=PARTS.__getitem__,
        required=True,
        key="bring",
        bind="query-params",
        label_visibility="collapsed",
    )
    if part == "predictions":
        predictions()
    else:
        graph()
