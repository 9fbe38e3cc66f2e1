"""Scrolls new content into view."""

from __future__ import annotations

from pathlib import Path

from dashboard.components.shared.component import component

_view = component("bup_into_view", Path(__file__).with_name("into_view.js"), html="<i></i>")


def into_view(key: str, state: int) -> None:
    """Scroll the container around this into view, once for every ``state`` that it shows."""
    _view(key=key, data={"state": state})
