"""The model's answer for one node, in a sentence and as bars."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bup.explanation.inspection import Inspection
from dashboard.figures.class_tables import probability_table
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.ui.numbers import percent


def probabilities(view: View, node: int, inspection: Inspection | None = None) -> None:
    """The class probabilities of a node: those of the run, or of an inspection on other links."""
    if inspection is not None:
        probs, low, high = inspection.probs, inspection.low, inspection.high
    else:
        probs = view.result.probs[node]
        low, high = (None, None) if view.no_interval else view.loaded_run.interval(node)
    names, true = view.answers, view.table.true.iloc[node]
    true_index = names.index(true) if true in names else None
    st.html(probability_table(probs, low, high, names, true_index, view.theme))


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
