"""Gives the keyboard to the first field of the popover that the visitor has just opened."""

from dashboard.components.shared.component import component

_view = component("focus_here", html="<i></i>")


def focus_here(key: str) -> None:
    _view(key=key)
