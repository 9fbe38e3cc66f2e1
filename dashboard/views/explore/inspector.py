"""One paper under the lens."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.figures.classes import message_table
from dashboard.figures.locator import locator
from dashboard.markdown import escaped
from dashboard.state import View
from dashboard.views import picking
from dashboard.views.explore.answer import probabilities, verdict
from dashboard.views.spoken import spoken


def inspector(view: View) -> None:
    node = view.node
    row = view.table.iloc[node]
    st.subheader(f"{view.say('Node')} {escaped(view.name_of(node))}")
    st.markdown(verdict(row))
    spoken(view)
    probabilities(view, node)
    st.caption(f"Bars: probability of each class; the star marks the true one. {_whiskers(view)}")
    if view.explains.variance:
        mean, var = view.result.mean, view.result.var
        assert mean is not None and var is not None
        st.html(message_table(mean[node], np.sqrt(var[node]), view.answers, view.theme))
        st.caption(
            "The message of each class: higher speaks for the class. Mean and one standard "
            "deviation either way; where the ranges overlap, the model cannot tell the classes "
            "apart." + (" This is the message before calibration." if view.recalibrated else "")
        )
    near = view.graph.neighbours(node)
    where, facts = st.columns(2, vertical_alignment="center")
    where.image(locator(view.positions, node, near, view.theme), caption="Its place on the map")
    with facts:
        _facts(view, row)
    st.markdown(view.say("**Linked nodes**"))
    if len(near):
        columns = ["true", "predicted", "confidence"]
        picking.node_list(view, near.tolist(), columns, f"near_{node}")
        st.caption("Click a row to walk on.")
    else:
        st.caption(view.say("None: nothing but its own words speaks for this node."))


def _whiskers(view: View) -> str:
    """What the interval around a probability is, or why there is none."""
    if not view.explains.intervals:
        return "This method's messages have no variance, so there is no interval around them."
    if view.recalibrated is not None:
        return (
            f"They were calibrated by {view.recalibrated.title}; the messages they come from were "
            "not, so no interval is drawn."
        )
    return (
        "Whiskers: where that probability would lie in 90 % of cases, were the message of the "
        "class known exactly."
    )


def _facts(view: View, row: pd.Series) -> None:
    distance = "no path" if pd.isna(row.distance) else f"{row.distance:.0f}"
    facts = {
        "Part": row.part,
        "Degree": f"{row.degree}",
        "Distance to training": distance,
    }
    if view.explains.variance:
        facts["Message std"] = f"{row.message_std:.3f}"
    for label, value in facts.items():
        st.metric(label, value, help=view.say(_HELP[label]))


_HELP = {
    "Part": "Whether its class was told in training, used to choose the best epoch (validation), "
    "kept for testing, or not used at all.",
    "Degree": "Linked nodes plus one for the node itself.",
    "Distance to training": "Links on the shortest path to a node whose class the model was told.",
    "Message std": "Standard deviation of the message, averaged over classes: how unsure the model "
    "is of the message itself.",
}
