"""What one visitor brought since the page was opened; nobody else is told of it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True)
class Brought:
    """Predictions, as they are offered beside other runs."""

    title: str
    digest: str  # of their graph
    method: str
    key: str


def graphs() -> list[str]:
    """Names of graphs."""
    return st.session_state.setdefault("own_graphs", [])


def predictions() -> list[Brought]:
    return st.session_state.setdefault("brought", [])
