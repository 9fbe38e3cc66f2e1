"""The style sheet of every page."""

from __future__ import annotations

import streamlit as st

from dashboard.classroom import bar, tally
from dashboard.figures import card, class_tables, qr
from dashboard.session.view import current_theme


def page_style(large: bool) -> None:
    """Less empty space on top; everything larger for a projector."""
    parts = (_STYLE, class_tables.STYLE, card.STYLE, tally.STYLE, qr.STYLE, bar.STYLE)
    page = f":root {{ --bup-page: {current_theme().background}; }}"
    st.html(f"<style>{page}{''.join(parts)}{_LARGE if large else ''}</style>")


_STYLE = """
.stMainBlockContainer { padding: 4rem 2rem 2rem; }
.stVerticalBlock > :has(> .st-key-node_card), .st-key-node_card {
  position: sticky; top: 3.2rem; z-index: 9; background: var(--bup-page);
}
.st-key-node_card { padding: 0.5rem 0.9rem; }
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p { color: inherit; }
[data-testid="stCaptionContainer"] { opacity: 0.75; }
header [data-testid="stIconMaterial"] { color: inherit; }
.stMain h2 { font-size: 1.3rem; padding: 0.75rem 0 0.25rem; }
[data-testid="stMetricValue"] { font-size: 1.7rem; }
@media (min-width: 900px) {
  .st-key-node_card { flex-wrap: nowrap; }
  .st-key-node_card > :first-child { flex: 1 1 auto; }
  .st-key-node_card > :not(:first-child) { flex: none; }
}
.stMain { scroll-padding-top: 4rem; }
.stMain:has(.st-key-node_card) { scroll-padding-top: 9rem; }
@media (max-width: 640px) {
  .stVerticalBlock > :has(> .st-key-node_card), .st-key-node_card { position: static; }
  .stMain:has(.st-key-node_card) { scroll-padding-top: 4rem; }
}
.stSidebar:not(:has([data-testid="stSidebarNav"], [data-testid="stElementContainer"])) {
  display: none;
}
[data-testid="stTopNavLink"] [data-testid="stIconMaterial"] { color: inherit; }
.st-key-training_in_place {
  position: fixed;
  top: 3.7rem;
  left: 50%;
  z-index: 100;
  transform: translateX(-50%);
  width: min(36rem, 94vw);
  flex-wrap: nowrap;
  padding: 0.5rem 1rem;
  background: var(--st-background-color, Canvas);
  border: 1px solid #8886;
  border-radius: 0.5rem;
  box-shadow: 0 4px 16px #0003;
}
"""
_LARGE = """
html { font-size: 20px; }
@media (max-width: 1500px) { .stAppHeader { zoom: 0.8; } }
"""
