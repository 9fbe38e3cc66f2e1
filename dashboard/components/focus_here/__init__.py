"""The first field beside it takes the keyboard when it appears, as in what one has just opened."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_view = st.components.v2.component(
    "bup_focus_here",
    html="<i></i>",
    css="i { display: none; }",
    js=(Path(__file__).parent / "focus_here.js").read_text(encoding="utf-8"),
)


def focus_here(key: str) -> None:
    _view(key=key)
