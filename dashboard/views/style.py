"""The style sheet of every page."""

from __future__ import annotations

import streamlit as st

from dashboard.figures import classes


def page_style(large: bool) -> None:
    """Less empty space on top; everything larger for a projector."""
    st.html(f"<style>{_STYLE}{classes.STYLE}{_LARGE if large else ''}</style>")


_STYLE = """
.stMainBlockContainer { padding: 4rem 2rem 2rem; }
@media (min-width: 1250px) {
  .st-key-explore {
    display: grid;
    grid-template: "map inspector" auto "more inspector" 1fr / minmax(0, 3fr) minmax(0, 2fr);
    gap: 1rem 2rem;
  }
  .st-key-explore > :nth-child(1) { grid-area: map; }
  .st-key-explore > :nth-child(2) { grid-area: inspector; }
  .st-key-explore > :nth-child(3) { grid-area: more; }
}
"""
_LARGE = "html { font-size: 20px; }"
