"""The style sheet of every page."""

from pathlib import Path

import streamlit as st

from dashboard.classroom import bar
from dashboard.figures import card, class_tables
from dashboard.session.view import current_theme

_LARGE = """
html { font-size: 20px; }
@media (max-width: 1500px) { .stAppHeader { zoom: 0.8; } }
"""


def page_style(large: bool) -> None:
    """Send the style sheet; ``large`` makes everything larger for a projector."""
    page = f":root {{ --bup-page: {current_theme().background}; }}"
    sheet = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    parts = (sheet, class_tables.STYLE, card.STYLE, bar.STYLE)
    st.html(f"<style>{page}{''.join(parts)}{_LARGE if large else ''}</style>")
