"""What has just appeared is brought onto the screen, beside what it speaks of."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_view = st.components.v2.component(
    "bup_into_view",
    html="<i></i>",
    css="i { display: none; }",
    js=(Path(__file__).parent / "into_view.js").read_text(encoding="utf-8"),
)


def into_view(key: str, state: int) -> None:
    """Scroll the container around this into view, once for every ``state`` that it shows."""
    _view(key=key, data={"state": state})
