"""Polls for news of a class in the browser, and reruns the page only when there are any."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from dashboard.components.shared.component import component


@dataclass(frozen=True)
class Redirect:
    """A page to open, relative to this one; each number is followed once."""

    number: int
    place: str


_view = component("news")


def news(
    key: str,
    source: str,
    about: str,
    known: str,
    on_news: Callable[[], None] = lambda: None,
    seconds: float = 2,
    cookies: Mapping[str, str] | None = None,
    lasting: int = 0,
    go: Redirect | None = None,
) -> None:
    """Call ``on_news`` when the answer of ``source`` for ``about`` differs from ``known``.

    ``cookies`` are stored for ``lasting`` seconds; an empty one is removed. ``go`` opens a page.
    """
    _view(
        key=key,
        data={
            "source": source,
            "about": about,
            "news": known,
            "every": round(1000 * seconds),
            "cookies": dict(cookies or {}),
            "seconds": lasting,
            "go": asdict(go) if go is not None else None,
        },
        on_news_change=on_news,
    )
