"""One node under the lens: who it is, what the model says of it, and how sure that is."""

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


def head(view: View) -> None:
    """Who is looked at, whatever is asked of it below."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        name = escaped(view.name_of(view.node))
        st.header(f"{view.say('Node')} {name}", anchor=False, width="stretch")
        st.button(
            "Close",
            icon=":material/close:",
            on_click=selected_node.clear,
            type="tertiary",
            key="let_go",
        )
    st.markdown(verdict(view.table.iloc[view.node]))
    node_words(view)


def says(view: View) -> None:
    node = view.node
    st.markdown("**Probability of each class**", help=_bars(view))
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


def _bars(view: View) -> str:
    """What the bars are, and what the interval around them is."""
    star = "The star marks the true class."
    if view.no_interval:
        return f"{star} {view.no_interval}"
    return (
        f"{star} Whiskers: where that probability would lie in 90% of cases, were the message of "
        "the class known exactly. The bar is the average over these cases."
    )


def _facts(view: View, row: pd.Series) -> str:
    """What it was used for, its links, how far it is from what the model was told."""
    part = {
        "train": "its class was told in training",
        "validation": "used to choose the best epoch",
        "test": "kept for testing",
        "unused": "not used",
    }.get(str(row.part), str(row.part))
    links = int(row.degree)
    away = None if pd.isna(row.distance) else int(row.distance)
    facts = [
        part.capitalize(),
        f"{links} link{'s'[: links != 1]}",
    ]
    if away is None:
        facts.append(view.say("no path to a training node"))
    elif away:
        facts.append(view.say(f"{away} step{'s'[: away != 1]} from the nearest training node"))
    if view.explains.variance:
        facts.append(f"message uncertainty {row.message_std:.3f}")
    return " · ".join(facts)
