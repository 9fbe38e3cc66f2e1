"""A small graph that is edited by hand: drag nodes, pull links out of them, click links away.

Plain SVG instead of vis-network: every node is an element of its own, which a keyboard, a screen
reader and a finger can reach.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dashboard.components.shared.component import component, reported


@dataclass(frozen=True)
class SketchNode:
    """A node as it is drawn: two rings whose width is its doubt before and after."""

    name: str
    x: float  # from 0 to 1
    y: float
    before: float  # standard deviations
    after: float


@dataclass(frozen=True)
class SketchLink:
    """A link as it is drawn; ``change`` is written on it where it concerns the looked-at node."""

    a: int
    b: int
    change: float | None = None


_view = component("sketch", html='<div class="sketch"><svg></svg></div>')


def sketch(
    spots: Sequence[SketchNode],
    lines: Sequence[SketchLink],
    looked: int,
    start: str,
    key: str,
    on_edit: Callable[[], None],
) -> None:
    """Draw the graph; every edit calls ``on_edit``, in which ``edit(key)`` returns it.

    Nodes stay where the visitor dragged them until ``start``, the name of the first graph, changes.
    """
    _view(
        key=key,
        data={
            "spots": [asdict(spot) for spot in spots],
            "lines": [asdict(line) for line in lines],
            "looked": looked,
            "start": start,
            "height": 330,
        },
        on_edit_change=on_edit,
    )


def edit(key: str) -> dict[str, Any]:
    """The last edit: its ``kind`` is look, link, cut or node. Empty if there was none."""
    value = reported(key, "edit")
    return dict(value) if isinstance(value, dict) else {}
