"""Widgets for numbers that may come from a link, which anybody can write."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from dashboard.ui.markdown import escaped
from dashboard.ui.streamlit_internals import DeltaGenerator, StreamlitAPIException

SHOWN = 40  # characters of a value that are repeated to the visitor


def number_input(
    where: DeltaGenerator,
    label: str,
    low: float,
    high: float,
    default: float,
    key: str,
    **about: Any,
) -> float:
    """A number that its link can set; what is no number in range there is said and left out."""
    text = st.query_params.get(key)
    if text is not None and not _fits(text, low, high):
        kind = "a whole number" if isinstance(low, int) else "a number"
        said = (
            f"{key} in the link must be {kind} from {low:g} to {high:.10g}, got "
            f"{text[:SHOWN]!r}: {default} is taken instead"
        )
        st.session_state.setdefault("refused_numbers", []).append(said)
        try:
            del st.query_params[key]
        except StreamlitAPIException:  # one went back to it: the widget that is there owns it
            return where.number_input(label, low, high, default, key=key, **about | {"bind": None})
        st.rerun()  # the widget would still read the link as it was when this run began
    about = {"bind": "query-params"} | about
    return where.number_input(label, low, high, default, key=key, **about)


def show_refused_numbers() -> None:
    """What a link asked for and did not get."""
    for said in st.session_state.pop("refused_numbers", []):
        st.warning(escaped(said))


def _fits(text: str, low: float, high: float) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    whole = not isinstance(low, int) or (math.isfinite(value) and value == int(value))
    return whole and low <= value <= high
