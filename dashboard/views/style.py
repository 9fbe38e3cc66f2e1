"""The style sheet of every page."""

from __future__ import annotations

import streamlit as st

from dashboard.figures import classes


def page_style(large: bool) -> None:
    """Less empty space on top; everything larger for a projector."""
    st.html(f"<style>{_STYLE}{classes.STYLE}{_LARGE if large else ''}</style>")


_STYLE = """
.stMainBlockContainer { padding: 4rem 2rem 2rem; }
.stMainBlockContainer:has(.st-key-explore) { padding: 3.1rem 1rem 0; }
.st-key-explore { --bup-map-height: 70dvh; }
.st-key-explore_bar { gap: 0.25rem 0.5rem; }
.st-key-explore_bar h1 { font-size: 1rem; padding: 0; line-height: 1.2; }
.st-key-explore_bar > :has(.stSelectbox) {
  flex: 1 1 8rem;
  width: auto !important;
  max-width: 13rem;
}
.st-key-explore [data-testid="stMetricValue"] { font-size: 1.3rem; }
@media (max-width: 640px) {
  .st-key-explore_bar > :first-child { flex-basis: 100%; }
}
@media (min-width: 1000px) {
  .stMainBlockContainer:has(.st-key-explore) { overflow: hidden; height: 100dvh; }
  .st-key-explore {
    --bup-map-fills: 1;
    --bup-map-height: calc(100dvh - 8rem);
    display: grid;
    grid-template-columns: minmax(51vw, 8fr) minmax(0, 5fr);
    gap: 1.25rem;
    align-items: start;
  }
  .st-key-explore > :nth-child(2) { height: calc(100dvh - 4.25rem); overflow: hidden auto; }
  .st-key-explore_bar > :first-child { margin-right: auto; }
}
"""
_LARGE = """
html { font-size: 20px; }
@media (max-width: 1600px) {
  .st-key-explore_bar > :first-child { flex-basis: 100%; }
}
"""
