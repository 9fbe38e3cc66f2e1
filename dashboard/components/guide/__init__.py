"""The card of a tour, and the frame around the part of the page that it explains."""

from __future__ import annotations

from pathlib import Path

from dashboard.components.shared.component import component

_view = component(
    "bup_guide",
    Path(__file__).with_name("guide.js"),
    html='<div class="frame"></div><div class="card" role="dialog" aria-label="Tour"></div>',
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
