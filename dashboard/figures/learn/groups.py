"""Shares of groups against what was promised to all."""

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from dashboard.figures.style import apply_style, escape_markup, hatch, line, percent_axis
from dashboard.ui.theme import IN, WRONG, Theme


class NeighbourGroup(NamedTuple):
    """Papers that have something in common, and how their sets do."""

    name: str
    papers: int
    covered: float  # the share of sets that contain the true class
    size: float  # classes in a set, on average


def coverage_figure(groups: Sequence[NeighbourGroup], level: float, theme: Theme) -> go.Figure:
    """How many sets of each group contain the truth, against the level promised on average."""
    figure = go.Figure()
    short = [group.covered < level - 0.03 for group in groups]
    figure.add_bar(
        x=[group.covered for group in groups],
        y=[escape_markup(f"{group.name} ({group.papers:,})") for group in groups],
        orientation="h",
        marker={
            "color": [WRONG if fails else IN for fails in short],
            "pattern": hatch("", "#FFFFFF")
            | {"shape": ["/" if fails else "" for fails in short], "fgopacity": 0.25},
        },
        text=[
            f"{group.covered:.0%} covered,<br>{group.size:.1f} classes per set" for group in groups
        ],
        textposition=["inside" if group.covered > 0.45 else "outside" for group in groups],
        insidetextanchor="start",
        insidetextfont={"color": "#FFFFFF"},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_vline(x=level, line=line(theme.text, 2, "dash"))
    figure.add_annotation(
        x=level, y=1, yref="paper", yanchor="bottom", text=f"promised: {level:.0%}", showarrow=False
    )
    x_axis = percent_axis("sets that contain the truth", high=1.005)
    y_axis = {"autorange": "reversed", "showgrid": False}
    return apply_style(figure, theme, 330, x=x_axis, y=y_axis)
