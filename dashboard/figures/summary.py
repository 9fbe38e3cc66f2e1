"""A graph's figures as charts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from dashboard.figures.style import apply_style, escape_markup
from dashboard.ui.theme import IN, Theme, class_colours

_LINKS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000]


def class_sizes_figure(sizes: Mapping[str, int], theme: Theme) -> go.Figure:
    """Nodes per class, in the colours that the map gives the classes; a bar carries its class."""
    colours = class_colours(list(sizes))
    figure = go.Figure(
        go.Bar(
            x=list(sizes.values()),
            y=np.arange(len(sizes)),
            customdata=np.arange(len(sizes)),
            orientation="h",
            marker={"color": [colours[name] for name in sizes]},
            text=[f"{size:,}" for size in sizes.values()],
            textfont={"color": theme.text},
            textposition="outside",
            cliponaxis=False,
            hovertext=[
                f"{escape_markup(name)}: {theme.noun.count(size)}" for name, size in sizes.items()
            ],
            hoverinfo="text",
        )
    )
    apply_style(figure, theme, 360)
    names = [escape_markup(name) for name in sizes]
    figure.update_yaxes(
        autorange="reversed", tickvals=np.arange(len(sizes)), ticktext=names, showgrid=False
    )
    return figure.update_xaxes(title=theme.noun.many, range=[0, 1.12 * max([1, *sizes.values()])])


def degrees_figure(counts: np.ndarray, theme: Theme) -> go.Figure:
    """How many nodes have how many links, on two logarithmic axes; a point carries its links.

    One point per number of links that occurs: bins of different widths would show bumps that are
    not there. The axis counts from 1, which the logarithm needs, and is labelled from 0.
    """
    links = np.flatnonzero(counts)
    figure = go.Figure(
        go.Scatter(
            x=links + 1,
            y=counts[links],
            customdata=links,
            mode="markers",
            marker={"color": IN, "size": 9, "line": {"width": 1, "color": theme.background}},
            hovertext=[
                f"{theme.noun.count(int(counts[k]))} with {k:,} link{'s' if k != 1 else ''}"
                for k in links
            ],
            hoverinfo="text",
        )
    )
    apply_style(figure, theme, 360)
    ticks = [k for k in _LINKS if k <= links.max()]
    figure.update_xaxes(
        title="links",
        type="log",
        tickvals=[k + 1 for k in ticks],
        ticktext=[f"{k:,}" for k in ticks],
    )
    powers = [digit * 10**p for p in range(7) for digit in (1, 2, 5)]
    return figure.update_yaxes(
        title=theme.noun.many, type="log", tickvals=powers, ticktext=[f"{p:,}" for p in powers]
    )
