"""The papers inside a lasso or box."""

from __future__ import annotations

import streamlit as st

from bup import metrics
from dashboard.state import View
from dashboard.views import picking


def selection(view: View) -> None:
    """Accuracy and calibration of the nodes inside a lasso or box."""
    nodes = [n for n in st.session_state.get("group", []) if n < view.graph.num_nodes]
    if not nodes:
        return
    table = view.table.iloc[nodes]
    judged = table.index[table.correct.notna()]
    st.subheader(f"{view.graph.noun.counted(len(nodes))} in your selection")
    figures = {"mean confidence": f"{table.confidence.mean():.2f}"}
    if len(judged):
        targets = view.result.split.targets(view.graph.labels[judged])
        probs = view.result.probs[judged]
        figures |= {
            "accuracy": f"{metrics.accuracy(probs, targets):.1%}",
            "ECE (10 bins)": f"{metrics.expected_calibration_error(probs, targets):.1%}",
        }
    figures["classes never shown"] = f"{table.ood.sum():,}"
    with st.container(horizontal=True):
        for label, value in figures.items():
            st.metric(label, value, width="content")
    st.caption(
        view.say(
            "Accuracy and ECE are over nodes of classes that the model learned, training nodes "
            "included. Few nodes make a rough estimate."
        )
    )
    columns = ["true", "predicted", "confidence"]
    picking.node_list(view, nodes[:200], columns, "group_list")
    st.button("Clear the selection", on_click=lambda: st.session_state.pop("group", None))
