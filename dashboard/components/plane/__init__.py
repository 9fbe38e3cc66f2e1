"""A plane with points on a coloured ground; the visitor drags a group of them."""

from collections.abc import Callable, Sequence

import numpy as np

from dashboard.components.shared.component import component, reported

_view = component("plane", html='<div class="plane"></div><div class="key"></div>')


def plane(
    ground: Sequence[Sequence[str]],
    points: np.ndarray,
    kinds: Sequence[str],
    rings: Sequence[np.ndarray],
    labels: Sequence[tuple[str, float, float]],
    group: tuple[float, float],
    handle: str,
    scale: tuple[Sequence[str], str],
    key: str,
    on_move: Callable[[], None],
) -> None:
    """Draw it; ``kinds`` [n] are the style classes of the points, ``group`` is what is dragged.

    ``rings`` are outlines, the last one dashed; ``labels`` are words and their places, ``handle``
    the words on what is dragged, ``scale`` the colours of the ground from low to high and their
    meaning. Places go from 0 to 1, to the right and down; ``place(key)`` is that of the group.
    """
    _view(
        key=key,
        data={
            "ground": [list(row) for row in ground],
            "points": np.round(points, 4).tolist(),
            "kinds": list(kinds),
            "rings": [np.round(ring, 4).tolist() for ring in rings],
            "labels": [[words, float(x), float(y)] for words, x, y in labels],
            "group": list(group),
            "handle": handle,
            "palette": list(scale[0]),
            "meaning": scale[1],
            "height": 365,
        },
        on_place_change=on_move,
    )


def place(key: str) -> tuple[float, float] | None:
    """The place of the group, from 0 to 1; None before the first drag."""
    value = reported(key, "place")
    if not isinstance(value, dict):
        return None
    x, y = value.get("x"), value.get("y")
    if not (isinstance(x, int | float) and isinstance(y, int | float)):
        return None
    return min(max(float(x), 0.0), 1.0), min(max(float(y), 0.0), 1.0)
