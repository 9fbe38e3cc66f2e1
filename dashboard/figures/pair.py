"""Two runs on one map each, side by side, moving together."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.figures.map import map_figure
from dashboard.ui.theme import Theme, style_figure


def paired_maps(
    tables: tuple[pd.DataFrame, pd.DataFrame],
    labels: tuple[str, str],
    positions: np.ndarray,
    colour_by: str,
    class_names: Sequence[str],
    theme: Theme,
    edge_png: str | None,
) -> go.Figure:
    """The maps of two runs; they share pan, zoom and, for scores, the colour limits."""
    figures = [
        map_figure(table, positions, colour_by, class_names, theme, edge_png, size=4)
        for table in tables
    ]
    limits = _shared_limits(figures)
    figure = go.Figure()
    for number, single in enumerate(figures):
        axes = {"xaxis": "x2", "yaxis": "y2"} if number else {"xaxis": "x", "yaxis": "y"}
        for trace in single.data:
            trace.update(axes)
            if number:
                trace.update(showlegend=False)
            if (
                limits is not None
                and trace.marker.color is not None
                and trace.marker.cmin is not None
            ):
                trace.marker.update(cmin=limits[0], cmax=limits[1])
                if number:
                    trace.marker.update(showscale=False)
            figure.add_trace(trace)
        for image in single.layout.images:
            x, y = axes["xaxis"], axes["yaxis"]
            figure.add_layout_image(image.to_plotly_json() | {"xref": x, "yref": y})
        figure.add_annotation(
            text=escape(labels[number]),
            x=0.25 + 0.5 * number,
            xanchor="center",  # by itself the left name would grow towards the right one
            y=1.0,
            xref="paper",
            yref="paper",
            yanchor="bottom",
            showarrow=False,
        )
    base = figures[0].layout
    style_figure(figure, theme, height=520)
    hidden = {"visible": False}
    figure.update_layout(
        xaxis=base.xaxis.to_plotly_json() | hidden | {"domain": [0, 0.49]},
        yaxis=base.yaxis.to_plotly_json() | hidden,
        xaxis2=base.xaxis.to_plotly_json() | hidden | {"domain": [0.51, 1], "matches": "x"},
        yaxis2=base.yaxis.to_plotly_json()
        | hidden
        | {"matches": "y", "anchor": "x2", "scaleanchor": "x2"},
        dragmode="pan",
        legend={"orientation": "h", "y": 1.06, "yanchor": "bottom"},
        margin={"l": 8, "r": 8, "t": 72, "b": 56},
        uirevision="pair",
    )
    return figure


def _shared_limits(figures: list[go.Figure]) -> tuple[float, float] | None:
    limits = [
        (trace.marker.cmin, trace.marker.cmax)
        for figure in figures
        for trace in figure.data
        if trace.marker.cmin is not None
    ]
    if not limits:
        return None
    return min(low for low, _ in limits), max(high for _, high in limits)
