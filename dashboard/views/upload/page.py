"""Upload your own graph, or the predictions of your own model for a graph."""

import streamlit as st

from dashboard.ui.link_choice import link_choice
from dashboard.views.upload.graph import graph
from dashboard.views.upload.predictions import predictions

PARTS = {"graph": "A graph", "predictions": "Predictions for a graph"}


def page() -> None:
    st.title("Bring your own")
    part = link_choice(
        st.segmented_control,
        "What do you bring?",
        PARTS,
        "bring",
        default="graph",
        required=True,
        label_visibility="collapsed",
    )
    if part == "predictions":
        predictions()
    else:
        graph()
