"""The panel about the picked node: its name, answer and words, and the tab Answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from bup.graph.words import shared_words, speaks_of
from dashboard.figures.class_tables import message_table, probability_table
from dashboard.session import selected_node
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.ui.numbers import percent

PARTS = {
    "train": "Its class was given in training",
    "validation": "Used to choose the best epoch",
    "test": "Kept for testing",
    "unused": "Not used",
}
MOST_NEIGHBOURS = 6
"""How many neighbours are listed with the words that the node shares with them."""


def node_header(view: View) -> None:
    """The node's name, answer and words, above all tabs."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header(escaped(view.call(view.node)), anchor=False, width="stretch")
        st.button(
            "Close",
            icon=":material/close:",
            on_click=selected_node.clear,
            type="tertiary",
            key="close_node",
        )
    if about := view.graph.about(view.node):
        st.caption(escaped(about))
    st.markdown(verdict(view.table.iloc[view.node]))
    node_words(view)


def verdict(row: pd.Series) -> str:
    """What the model says of a node, and whether it is right."""
    answer = (
        f"The model says **{escaped(row.predicted)}** and is {percent(row.confidence, 0)} sure."
    )
    truth = f"In truth it is **{escaped(row.true)}**"
    if row.ood:
        return f":material/help: {answer} {truth}, a class that it was never shown."
    if pd.isna(row.correct):
        return f":material/remove: {answer} Its true class is not known."
    if row.correct:
        return f":material/check_circle: {answer} That is right."
    return f":material/cancel: {answer} {truth}."


def node_words(view: View) -> None:
    """The most informative words of the picked node, and those that its neighbours share."""
    graph, node = view.graph, view.node
    if graph.words is None:
        return
    words = speaks_of(graph, node)
    if words:
        st.markdown(f"Most informative words: {', '.join(f'**{escaped(w)}**' for w in words)}")
    else:
        st.markdown("Its text has none of the words that this graph counts.")
    near = graph.neighbours(node).tolist()
    if not near:
        return
    with st.expander("Words shared with its neighbours"):
        lines = []
        for other in near[:MOST_NEIGHBOURS]:
            shared = ", ".join(map(escaped, shared_words(graph, node, other)))
            lines.append(f"- {escaped(graph.name_of(other))}: {shared or '*none*'}")
        if len(near) > MOST_NEIGHBOURS:
            lines.append(f"- and {len(near) - MOST_NEIGHBOURS:,} more neighbours")
        st.markdown("\n".join(lines))


def answer_tab(view: View) -> None:
    node = view.node
    star = "The star marks the true class. "
    whiskers = view.no_interval or (
        "Whiskers: if the message of the class were known exactly, its probability would lie in "
        "this range in 90% of cases. The bar is the average over these cases."
    )
    st.markdown("**Probability of each class**", help=star + whiskers)
    probabilities(view)
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


def probabilities(view: View) -> None:
    """The class probabilities of the picked node."""
    probs = view.result.probs[view.node]
    low, high = (None, None) if view.no_interval else view.loaded_run.interval(view.node)
    names, true = view.answers, view.table.true.iloc[view.node]
    true_index = names.index(true) if true in names else None
    st.html(probability_table(probs, low, high, names, true_index, view.theme))


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
