"""What led a group of nodes to their answers: in words, as a picture, a table and CSV."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bup.explanation import sentences
from bup.explanation.reasons import GroupReasons, why_no_reasons
from dashboard.figures.reasons import group_figure
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.views import charts, exports, tables

MOST_MEMBERS = 1000
"""Of a larger group, as many nodes are looked at, so that a page waits about a second."""


def what_led_there(view: View, nodes: np.ndarray, key: str, narrow: bool = False) -> None:
    """What speaks for the answers that the model gives for these nodes.

    ``narrow`` puts the picture and the table below each other.
    """
    if why := why_no_reasons(view.result):
        st.caption(view.say(why))
        return
    members = np.sort(nodes)
    if len(members) > MOST_MEMBERS:
        members = np.sort(np.random.RandomState(0).choice(members, MOST_MEMBERS, replace=False))
        counted = view.graph.noun.count(len(nodes))
        st.caption(f"Of {counted}, {MOST_MEMBERS:,} drawn at random are taken apart.")
    reasons = view.loaded_run.group_reasons(tuple(members.tolist()))
    st.markdown(sentences.led_there(reasons, lambda name: f"**{escaped(name)}**"))
    left, right = (st.container(), st.container()) if narrow else st.columns(2)
    with left:
        charts.node_chart(
            view,
            group_figure(reasons, view.theme),
            f"{key}_figure",
            view.say(
                "The nodes that carry most of what speaks for these answers rather than the true "
                "classes, or for right ones the runners-up, and those that speak against most. "
                "Click a bar to pick its node."
            ),
        )
    with right:
        _table(view, reasons, key)


def _table(view: View, reasons: GroupReasons, key: str) -> None:
    rows = reasons.table()
    told = st.toggle(view.say("Only nodes whose class the model was told"), key=f"{key}_told")
    shown = np.flatnonzero(reasons.told) if told else np.arange(len(rows))
    order = ["id", "class", "share", "supports", "told", "member", "title"]
    names = {"member": "in the group", "supports": "speaks for", "told": "class told"}
    table = rows.loc[shown, [name for name in order if name in rows]].reset_index(drop=True)
    if len(table):
        tables.node_table(
            view, reasons.nodes[shown].tolist(), table.rename(columns=names), f"{key}_list"
        )
    st.caption(
        "*share*: how much of all that speaks for these answers comes from the words of this row"
        + ("; *speaks for*: how many of the answers." if reasons.supported is not None else ".")
    )
    exports.csv_button("This table as CSV", rows, f"{view.run.key}-{key}", key=f"{key}_csv")
