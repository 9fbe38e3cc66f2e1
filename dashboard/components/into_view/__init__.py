"""Scrolls new content into view."""

from dashboard.components.shared.component import component

_view = component("into_view", html="<i></i>")


def into_view(key: str, state: int) -> None:
    """Scroll the container around this into view, once for every ``state`` that it shows."""
    _view(key=key, data={"state": state})
