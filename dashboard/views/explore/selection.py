"""The nodes inside a lasso or box."""

from __future__ import annotations

import streamlit as st

from bup import metrics
from bup.io.csv import csv_text
from dashboard.session.view import View
from dashboard.ui.numbers import percent
from dashboard.views import picking


def selection(view: View) -> bool:
    """Accuracy and calibration of the nodes inside a lasso, in place of one node's; else False."""
    nodes = [n for n in st.session_state.get("group", []) if n < view.graph.num_nodes]
    if not nodes:
        return False
    table = view.table.iloc[nodes]
    judged = table.index[table.correct.notna()]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        counted = view.graph.noun.count(len(nodes))
        st.header(f"{counted} in your selection", anchor=False, width="stretch")
        st.download_button(
            "CSV",
            csv_text(table),
            f"{view.run.key}-selection.csv",
            "text/csv",
            icon=":material/table:",
            type="tertiary",
            key="group_csv",
        )
        st.button(
            "Close",
            icon=":material/close:",
            on_click=lambda: st.session_state.update(group=[], lasso=None),
            type="tertiary",
            key="let_go_of_group",
        )
    said = f"On average the model is **{percent(float(table.confidence.mean()), 0)} sure**."
    if len(judged):
        targets = view.result.split.targets(view.graph.labels[judged])
        probs = view.result.probs[judged]
        said = f"{said[:-1]}, and **{metrics.accuracy(probs, targets):.0%} are right**. " + (
            "Expected calibration error, in ten bins: "
            f"**{metrics.expected_calibration_error(probs, targets):.1%}**."
        )
    if table.ood.any():
        said += f" **{table.ood.sum():,}** are of classes never shown."
    st.markdown(said)
    st.caption(
        view.say(
            "Right or wrong is counted over nodes of classes that the model learned, training "
            "nodes included. Few nodes make a rough estimate."
        )
    )
    picking.answers(view, nodes, "group_list")
    return True
