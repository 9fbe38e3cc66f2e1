"""The picked paper's answer, had it other links."""

from __future__ import annotations

import numpy as np
import streamlit as st

import bup
from bup.methods import METHODS
from dashboard import shelf
from dashboard.markdown import escaped
from dashboard.state import View
from dashboard.views.explore.answer import probabilities


def what_if(view: View) -> None:
    if not view.explains.what_if:
        able = ", ".join(m.short for m in METHODS.values() if m.explains.what_if)
        st.info(f"This method cannot be asked again on other links. Choose {able} in the sidebar.")
        return
    node = view.node
    near = view.graph.neighbours(node).tolist()
    left, right = st.columns(2)
    removed = left.multiselect(
        "Remove links to",
        near,
        format_func=view.graph.node_id,
        key=f"remove_{node}",
        placeholder=view.say("choose linked nodes"),
    )
    typed = right.text_input(
        "Add links to (ids, separated by commas)", key=f"add_{node}", placeholder="e.g. 35, 1033"
    )
    try:
        added = [view.graph.find(part.strip()) for part in typed.split(",") if part.strip()]
        before = shelf.inspection(view.spec, node)
        after = shelf.inspection(
            view.spec,
            node,
            add=tuple((node, other) for other in added),
            remove=tuple((node, other) for other in removed),
        )
    except bup.BupError as error:
        st.warning(escaped(error))
        return
    names = view.answers
    std = [float(np.sqrt(i.var).mean()) for i in (before, after)]
    top = [int(i.probs.argmax()) for i in (before, after)]
    facts = st.columns(3)
    facts[0].metric(
        "Message std", f"{std[1]:.4f}", f"{std[1] - std[0]:+.4f}", delta_color="inverse"
    )
    facts[1].metric(
        "Confidence", f"{after.probs.max():.3f}", f"{after.probs.max() - before.probs.max():+.3f}"
    )
    facts[2].metric(
        "Answer", names[top[1]], "changed" if top[0] != top[1] else None, delta_color="off"
    )
    for column, title, seen in ((left, "As it is", before), (right, "What if", after)):
        with column:
            st.markdown(f"**{title}**")
            probabilities(view, node, seen)
    st.caption(
        "Nothing is trained again: the learned weights see the changed links. Both the mean and "
        "the variance of the message follow."
        + (" Probabilities are those before calibration." if view.recalibrated else "")
    )
