"""The panel about the picked node: its name, and the tab Answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.figures.class_tables import message_table
from dashboard.session import selected_node
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.views.explore.answer import probabilities, verdict
from dashboard.views.node_words import node_words

PARTS = {
    "train": "Its class was given in training",
    "validation": "Used to choose the best epoch",
    "test": "Kept for testing",
    "unused": "Not used",
}


def node_header(view: View) -> None:
    """The node's name, answer and words, above all tabs."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        name = escaped(view.name_of(view.node))
        st.header(f"{view.say('Node')} {name}", anchor=False, width="stretch")
        st.button(
            "Close",
            icon=":material/close:",
            on_click=selected_node.clear,
            type="tertiary",
            key="close_node",
        )
    st.markdown(verdict(view.table.iloc[view.node]))
    node_words(view)


def answer_tab(view: View) -> None:
    node = view.node
    star = "The star marks the true class. "
    whiskers = view.no_interval or (
        "Whiskers: if the message of the class were known exactly, its probability would lie in "
        "this range in 90% of cases. The bar is the average over these cases."
    )
    st.markdown("**Probability of each class**", help=star + whiskers)
    probabilities(view, node)
    if view.no_interval and view.explains.variance:
        st.caption(view.no_interval)
    st.html(f'<p class="facts">{_facts(view, view.table.iloc[node])}</p>')
    if view.explains.variance:
        mean, var = view.result.mean, view.result.var
        assert mean is not None and var is not None
        st.markdown(
            "**Message of each class**" + (" before calibration" if view.recalibrated else ""),
            help=view.say(
                "What reaches the node from its own words and its links: higher speaks for the "
                "class. Mean and one standard deviation either way; where the ranges overlap, the "
                "model cannot tell the classes apart."
            ),
        )
        st.html(message_table(mean[node], np.sqrt(var[node]), view.answers, view.theme))


def _facts(view: View, row: pd.Series) -> str:
    """What the node was used for, its links, and its distance to the training nodes."""
    links = int(row.degree)
    facts = [PARTS.get(str(row.part), str(row.part)), f"{links} link{'s'[: links != 1]}"]
    if pd.isna(row.distance):
        facts.append(view.say("no path to a training node"))
    elif steps := int(row.distance):
        facts.append(view.say(f"{steps} step{'s'[: steps != 1]} from the nearest training node"))
    if view.explains.variance:
        facts.append(f"message uncertainty {row.message_std:.3f}")
    return " · ".join(facts)
