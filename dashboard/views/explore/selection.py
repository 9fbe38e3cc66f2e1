"""The selection: the nodes inside a lasso or box on the map."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bup import metrics
from dashboard.session.view import View
from dashboard.ui.numbers import percent
from dashboard.views import exports, tables
from dashboard.views.group_reasons import what_led_there


def selection(view: View) -> bool:
    """Show accuracy and calibration of the selected nodes; False if no node is selected."""
    nodes = [n for n in st.session_state.get("group", []) if n < view.graph.num_nodes]
    if not nodes:
        return False
    table = view.table.iloc[nodes]
    judged = table.index[table.correct.notna()]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        count = view.graph.noun.count(len(nodes))
        st.header(f"{count} in your selection", anchor=False, width="stretch")
        exports.csv_button(
            "CSV",
            table,
            f"{view.run.key}-selection",
            icon=":material/table:",
            type="tertiary",
            key="group_csv",
        )
        st.button(
            "Close",
            icon=":material/close:",
            on_click=lambda: st.session_state.update(group=[], lasso=None),
            type="tertiary",
            key="close_selection",
        )
    text = f"On average the model is **{percent(float(table.confidence.mean()), 0)} sure**"
    if len(judged):
        targets = view.result.split.targets(view.graph.labels[judged])
        probs = view.result.probs[judged]
        text += (
            f", and **{metrics.accuracy(probs, targets):.0%} are right**. Expected calibration "
            "error, in ten bins: "
            f"**{metrics.expected_calibration_error(probs, targets):.1%}**"
        )
    text += "."
    if table.ood.any():
        text += f" **{table.ood.sum():,}** are of classes never shown."
    st.markdown(text)
    st.caption(
        view.say(
            "The accuracy counts nodes of classes that the model learned, training nodes included. "
            "Few nodes make a rough estimate."
        )
    )
    tables.prediction_table(view, nodes, "group_list")
    with st.expander("What led them there?", key="group_reasons", on_change="rerun") as box:
        if box.open:
            what_led_there(view, np.array(nodes), "group_led", narrow=True)
    return True
