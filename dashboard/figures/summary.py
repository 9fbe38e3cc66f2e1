"""A graph's figures as charts."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from dashboard.figures.style import LOG_AXIS, apply_style, count_bars, escape_markup, line, marker
from dashboard.ui.numbers import counted
from dashboard.ui.theme import IN, Theme, class_colours

_LINKS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000]


def class_sizes_figure(sizes: Mapping[str, int], theme: Theme) -> go.Figure:
    """Nodes per class, in the colours that the map gives the classes; a bar carries its class."""
    colours = class_colours(list(sizes))
    names = [escape_markup(name) for name in sizes]
    counts = list(sizes.values())
    hover = [f"{name}: {theme.noun.count(n)}" for name, n in zip(names, counts, strict=True)]
    return count_bars(
        counts,
        names,
        hover,
        [colours[name] for name in sizes],
        theme,
        360,
        room=1.12,
        textfont={"color": theme.text},
    )


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
            marker=marker(IN, 9, edge=line(theme.background, 1)),
            hovertext=[
                f"{theme.noun.count(int(counts[k]))} with {counted(int(k), 'link')}" for k in links
            ],
            hoverinfo="text",
        )
    )
    ticks = [k for k in _LINKS if k <= links.max()]
    return apply_style(
        figure,
        theme,
        360,
        x={
            "title": "links",
            "type": "log",
            "tickvals": [k + 1 for k in ticks],
            "ticktext": [f"{k:,}" for k in ticks],
        },
        y=LOG_AXIS | {"title": theme.noun.many},
    )
