"""Number widgets bound to the link, which may contain any text."""

import math
from typing import Any

import streamlit as st

from dashboard.session import url
from dashboard.ui.markdown import escaped
from dashboard.ui.streamlit_internals import DeltaGenerator, StreamlitAPIException

MOST_CHARACTERS = 40  # of a refused value, in the message to the visitor


def number_input(
    where: DeltaGenerator,
    label: str,
    low: float,
    high: float,
    default: float,
    key: str,
    **options: Any,
) -> float:
    """A number that the link can set; a text that is no number in range is refused."""
    text = url.get(key, default=None)
    if text is not None and not _fits(text, low, high):
        kind = "a whole number" if isinstance(low, int) else "a number"
        message = (
            f"{key} in the link must be {kind} from {low:g} to {high:.10g}, got "
            f"{text[:MOST_CHARACTERS]!r}: {default} is used instead"
        )
        st.session_state.setdefault("refused_numbers", []).append(message)
        try:
            url.remove(key)
        except StreamlitAPIException:  # after the browser's back, the widget owns the parameter
            options |= {"bind": None}
            return where.number_input(label, low, high, default, key=key, **options)
        st.rerun()  # in this run the widget would still read the old link
    options = {"bind": "query-params"} | options
    return where.number_input(label, low, high, default, key=key, **options)


def show_refused_numbers() -> None:
    """Tell the visitor which numbers of the link were refused."""
    for message in st.session_state.pop("refused_numbers", []):
        st.warning(escaped(message))


def _fits(text: str, low: float, high: float) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    whole = not isinstance(low, int) or (math.isfinite(value) and value == int(value))
    return whole and low <= value <= high
