"""Colours and chart style, in one place: colour-blind safe, legible in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

# Okabe and Ito's palette, for classes; black and yellow swapped for tones that both themes carry.
CLASS_COLOURS = (
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#CC79A7",
    "#0072B2",
    "#D55E00",
    "#B8A800",
    "#8C8C8C",
)
SCORE_SCALE = "Cividis"  # one hue direction, readable without colour vision
IN, OUT, WRONG = "#0072B2", "#E69F00", "#D55E00"  # known classes, left-out classes, mistakes
PART_COLOURS = {
    "train": "#009E73",
    "validation": "#CC79A7",
    "test": "#56B4E9",
    "unused": "#9A9A9A",
    "left out": OUT,
}


@dataclass(frozen=True)
class Theme:
    """How the page looks now; charts are drawn for it."""

    dark: bool = False
    large: bool = False  # for a projector

    @property
    def text(self) -> str:
        return "#E8EAED" if self.dark else "#1F2430"

    @property
    def background(self) -> str:
        return "#12161F" if self.dark else "#FFFFFF"

    @property
    def faint(self) -> str:
        return "#3A4150" if self.dark else "#D9DDE5"

    @property
    def font_size(self) -> int:
        return 18 if self.large else 13


def class_colours(names: Sequence[str]) -> dict[str, str]:
    """A colour per class name; beyond eight classes the palette starts again."""
    return {name: CLASS_COLOURS[i % len(CLASS_COLOURS)] for i, name in enumerate(names)}


def score_colours(shares: np.ndarray, theme: Theme) -> list[str]:
    """The colour of each share of the way from a scale's first value to its last.

    Without the tones that drown in a dark page or on a white one.
    """
    first, last = (0.2, 1) if theme.dark else (0, 0.94)
    return sample_colorscale(SCORE_SCALE, (first + (last - first) * shares).tolist())


def styled(figure: go.Figure, theme: Theme, height: int = 380) -> go.Figure:
    """Fonts, margins and grid of every chart."""
    lines = dict.fromkeys(("gridcolor", "zerolinecolor", "linecolor"), theme.faint)
    axis: dict[str, Any] = lines | {"title_font_size": theme.font_size}
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    return figure.update_layout(
        template="none",
        height=round(height * (1.2 if theme.large else 1)),
        margin={"l": 64, "r": 16, "t": 28, "b": 56},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": theme.text, "size": theme.font_size},
        legend={"orientation": "h", "y": 1.08, "x": 0},
        hoverlabel={"font": {"size": theme.font_size}},
    )
