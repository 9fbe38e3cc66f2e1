"""The nodes inside a lasso or box."""

from __future__ import annotations

import streamlit as st

from bup import metrics
from dashboard.state import View
from dashboard.views import picking


def selection(view: View) -> bool:
    """Accuracy and calibration of the nodes inside a lasso, in place of one node's; else False."""
    nodes = [n for n in st.session_state.get("group", []) if n < view.graph.num_nodes]
    if not nodes:
        return False
    table = view.table.iloc[nodes]
    judged = table.index[table.correct.notna()]
    st.header(f"{view.graph.noun.counted(len(nodes))} in your selection", anchor=False)
    st.button(
        view.say("Back to one node"),
        icon=":material/close:",
        on_click=lambda: st.session_state.update(group=[], lasso=None),
    )
    figures = {"mean confidence": f"{table.confidence.mean():.0%}"}
    if len(judged):
        targets = view.result.split.targets(view.graph.labels[judged])
        probs = view.result.probs[judged]
        figures |= {
            "right": f"{metrics.accuracy(probs, targets):.0%}",
            "ECE (10 bins)": f"{metrics.expected_calibration_error(probs, targets):.1%}",
        }
    figures["of classes never shown"] = f"{table.ood.sum():,}"
    with st.container(horizontal=True):
        for label, value in figures.items():
            st.metric(label, value, width="content")
    st.caption(
        view.say(
            "The share that is right and ECE are over nodes of classes that the model learned, "
            "training nodes included. Few nodes make a rough estimate."
        )
    )
    picking.node_list(view, nodes, ["true", "predicted", "confidence"], "group_list")
    return True
