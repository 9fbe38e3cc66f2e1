"""The card of a tour: it stays in its corner, and frames what it speaks of on the real page."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent

_view = st.components.v2.component(
    "bup_guide",
    html='<div class="frame"></div><div class="card" role="dialog" aria-label="Tour"></div>',
    css=(HERE / "guide.css").read_text(encoding="utf-8"),
    js=(HERE / "guide.js").read_text(encoding="utf-8"),
)


def guide(
    place: str,
    title: str,
    words: str,
    shows: str,
    back: str | None,
    onward: str | None,
    parameter: str,
) -> None:
    """``shows`` is a CSS selector; ``back`` and ``onward`` are links relative to the page.

    Leaving takes ``parameter`` out of the address.
    """
    _view(
        key="guide",
        data={
            "place": place,
            "title": title,
            "words": words,
            "shows": shows,
            "back": back,
            "onward": onward,
            "parameter": parameter,
        },
    )
