"""The card of a tour, and the frame around the part of the page that it explains."""

from dataclasses import asdict, dataclass

from dashboard.components.shared.component import component

_view = component(
    "guide",
    html='<div class="frame"></div><div class="card" role="dialog" aria-label="Tour"></div>',
)


@dataclass(frozen=True)
class Card:
    place: str  # in the tour, such as "Stop 1 of 7"
    title: str
    words: str
    shows: str  # a CSS selector of what is framed
    back: str | None  # links relative to the page
    onward: str | None
    parameter: str  # leaving takes it out of the address


def guide(card: Card) -> None:
    _view(key="guide", data=asdict(card))
