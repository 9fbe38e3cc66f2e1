"""A few figures beside each other, wherever there is room for them."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st


def facts(values: Mapping[str, str]) -> None:
    with st.container(horizontal=True, gap="large"):
        for name, value in values.items():
            st.metric(name, value, width="content")
