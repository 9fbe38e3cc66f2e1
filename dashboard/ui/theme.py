"""Colours and chart style, in one place: colour-blind safe, legible in light and dark."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from bup.graph.noun import NODE, Noun

# Okabe and Ito's palette for classes, with tones for black and yellow that both themes show well.
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
FONT = "Source Sans, sans-serif"  # the font of the page
# From dark to bright, also for readers who do not tell colours apart.
SCORE_SCALE = "Inferno"
# Scales for numbers that are no uncertainty, such as the number of links.
NEUTRAL_LIGHT = ["rgb(196, 204, 216)", "rgb(34, 50, 78)"]
NEUTRAL_DARK = ["rgb(66, 80, 104)", "rgb(228, 236, 246)"]
IN, OUT, WRONG = "#0072B2", "#E69F00", "#D55E00"  # known classes, left-out classes, mistakes
FOR, AGAINST = "#009E73", IN  # what speaks for an answer and against it: no score has these
PART_COLOURS = {
    "train": "#009E73",
    "validation": "#CC79A7",
    "test": "#56B4E9",
    "unused": "#9A9A9A",
    "left out": OUT,
}


@dataclass(frozen=True)
class Theme:
    """How a page looks, and what its charts call a node."""

    dark: bool = False
    large: bool = False  # for a projector
    noun: Noun = NODE  # what charts call a node

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
    def ink(self) -> str:
        """The colour of the links on a map."""
        return "#AEB6C6" if self.dark else "#3A4252"

    @property
    def font_size(self) -> int:
        return 18 if self.large else 13


def class_colours(names: Sequence[str]) -> dict[str, str]:
    """A colour per class name; beyond eight classes the palette starts again."""
    return {name: CLASS_COLOURS[i % len(CLASS_COLOURS)] for i, name in enumerate(names)}


def category_colours(column: str, class_names: Sequence[str]) -> dict[str, str]:
    """A colour for every category of ``columns.categories``."""
    grey = PART_COLOURS["unused"]
    if column == "correct":
        return {"correct": IN, "wrong": WRONG, "left out": OUT, "unlabelled": grey}
    return PART_COLOURS if column == "part" else class_colours(class_names) | {"": grey}


def score_colours(shares: np.ndarray, theme: Theme, doubt: bool = True) -> list[str]:
    """Colours of a score, for shares of the way from the scale's first value to its last.

    Bright means uncertain. The scale leaves out the tones that a dark or a white page hides.
    Without ``doubt`` the scale is neutral.
    """
    if not doubt:
        scale = NEUTRAL_DARK if theme.dark else NEUTRAL_LIGHT
        return sample_colorscale(scale, shares.tolist())
    first, last = (0.36, 1) if theme.dark else (0.1, 0.78)
    return sample_colorscale(SCORE_SCALE, (first + (last - first) * shares).tolist())


def style_figure(
    figure: go.Figure, theme: Theme, height: int = 380, room: bool = False, **layout: Any
) -> go.Figure:
    """Set fonts, margins and grid of a chart; with ``room``, labels of axes are never cut.

    ``layout`` is set in the same call, because every change of a Plotly figure is slow.
    """
    lines = dict.fromkeys(("gridcolor", "zerolinecolor", "linecolor"), theme.faint)
    title: dict[str, Any] = {"font": {"size": theme.font_size}}
    axis: dict[str, Any] = lines | {"title": title}
    if room:
        axis["automargin"], title["standoff"] = True, 10
    common: dict[str, Any] = {
        "template": "none",
        "height": round(height * (1.2 if theme.large else 1)),
        "margin": {"l": 64, "r": 16, "t": 28, "b": 56},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": theme.text, "size": theme.font_size, "family": FONT},
        "legend": {"orientation": "h", "y": 1.08, "x": 0},
        "hoverlabel": {"font": {"size": theme.font_size, "family": FONT}},
    }
    figure.update_xaxes(axis)
    figure.update_yaxes(axis)
    return figure.update_layout(common | layout)
