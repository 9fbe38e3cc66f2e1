"""A graph's figures as charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard.figures.frame import framed, unformatted
from dashboard.theme import IN, Theme, class_colours


def class_sizes_figure(sizes: Mapping[str, int], theme: Theme) -> go.Figure:
    """Nodes per class, in the colours that the map gives the classes."""
    colours = class_colours(list(sizes))
    figure = go.Figure(
        go.Bar(
            x=list(sizes.values()),
            y=[unformatted(name) for name in sizes],
            orientation="h",
            marker={"color": [colours[name] for name in sizes]},
            text=[f"{size:,}" for size in sizes.values()],
            hoverinfo="skip",
        )
    )
    framed(figure, theme, 360)
    figure.update_yaxes(autorange="reversed")
    return figure.update_xaxes(title=theme.noun.many)


def degrees_figure(rows: Sequence[Mapping[str, Any]], theme: Theme) -> go.Figure:
    """Nodes per degree, as ``bup.graph.describe`` groups them."""
    figure = go.Figure(
        go.Bar(
            x=[row["degree"] for row in rows],
            y=[row["nodes"] for row in rows],
            marker={"color": IN},
            hovertemplate=theme.noun.said("degree %{x}: %{y:,} nodes<extra></extra>"),
        )
    )
    framed(figure, theme, 360)
    figure.update_xaxes(title=theme.noun.said("degree (linked nodes + 1)"), type="category")
    return figure.update_yaxes(title=theme.noun.many)
