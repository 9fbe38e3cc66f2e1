"""Figures side by side."""

from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st


def metric_row(
    values: Mapping[str, str], helps: Mapping[str, str] = MappingProxyType({}), columns: int = 0
) -> None:
    """A figure for each label; ``helps`` explain some, ``columns`` leaves room for that many."""
    places = st.columns(columns or len(values))
    for place, (label, value) in zip(places, values.items(), strict=False):
        place.metric(label, value, help=helps.get(label))
