"""The style sheet of every page."""

from __future__ import annotations

import streamlit as st

from dashboard.figures import classes


def page_style(large: bool) -> None:
    """Less empty space on top; everything larger for a projector."""
    st.html(f"<style>{_STYLE}{classes.STYLE}{_LARGE if large else ''}</style>")


_STYLE = """
.stMainBlockContainer { padding: 4rem 2rem 2rem; }
"""
_LARGE = """
html { font-size: 20px; }
"""
