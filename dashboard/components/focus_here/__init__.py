"""Gives the keyboard to the first field of the popover that the visitor has just opened."""

from __future__ import annotations

from pathlib import Path

from dashboard.components.shared.component import component

_view = component("bup_focus_here", Path(__file__).with_name("focus_here.js"), html="<i></i>")


def focus_here(key: str) -> None:
    _view(key=key)
