"""A plane with points on a coloured ground, and a group of them that one drags about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import streamlit as st

HERE = Path(__file__).parent

_view = st.components.v2.component(
    "bup_plane",
    html='<div class="plane"></div><div class="key"></div>',
    css=(HERE / "plane.css").read_text(encoding="utf-8"),
    js=(HERE / "plane.js").read_text(encoding="utf-8"),
)


def plane(
    ground: Sequence[Sequence[str]],
    points: np.ndarray,
    kinds: Sequence[str],
    labels: Sequence[tuple[str, float, float]],
    group: tuple[float, float],
    palette: Sequence[str],
    key: str,
    on_move: Callable[[], None],
    height: int = 365,
) -> None:
    """Draw it; ``kinds`` [n] are the style classes of the points, ``group`` is what is dragged.

    ``labels`` are words and their places, ``palette`` the colours of the ground from low to high.
    Places go from 0 to 1, to the right and down. ``place(key)`` tells where the group was put.
    """
    _view(
        key=key,
        data={
            "ground": [list(row) for row in ground],
            "points": np.round(points, 4).tolist(),
            "kinds": list(kinds),
            "labels": [list(label) for label in labels],
            "palette": list(palette),
            "group": list(group),
            "height": height,
        },
        on_place_change=on_move,
    )


def place(key: str) -> tuple[float, float] | None:
    """Where the group was put, from 0 to 1; None if it was not."""
    value = st.session_state.get(key, {}).get("place")
    if not isinstance(value, dict):
        return None
    x, y = value.get("x"), value.get("y")
    if not (isinstance(x, int | float) and isinstance(y, int | float)):
        return None
    return min(max(float(x), 0.0), 1.0), min(max(float(y), 0.0), 1.0)
