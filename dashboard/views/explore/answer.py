"""What the model says of one node, in a sentence and as bars."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bup.explain.inspection import Inspection
from dashboard.figures.class_tables import probability_table
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.ui.numbers import percent


def probabilities(view: View, node: int, seen: Inspection | None = None) -> None:
    """The class probabilities of a node, as the run gave them or as ``seen`` on other links."""
    probs = view.result.probs[node] if seen is None else seen.probs
    low, high = (None, None) if seen is None else (seen.low, seen.high)
    if seen is None and not view.no_interval:
        low, high = view.loaded_run.interval(node)
    names, true = view.answers, view.table.true.iloc[node]
    true_index = names.index(true) if true in names else None
    st.html(probability_table(probs, low, high, names, true_index, view.theme))


def verdict(row: pd.Series) -> str:
    predicted = escaped(row.predicted)
    says = f"The model says **{predicted}** and is {percent(row.confidence, 0)} sure."
    if row.ood:
        return (
            f":material/help: {says} In truth it is **{escaped(row.true)}**, a class that it was "
            "never shown."
        )
    if pd.isna(row.correct):
        return f":material/remove: {says} Its true class is not known."
    if row.correct:
        return f":material/check_circle: {says} That is right."
    return f":material/cancel: {says} In truth it is **{escaped(row.true)}**."
