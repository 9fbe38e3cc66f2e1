"""Two runs on one map each, side by side, moving together."""

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
    maps = [
        map_figure(table, positions, colour_by, class_names, theme, edge_png, size=4)
        for table in tables
    ]
    limits = _shared_limits(maps)
    figure = go.Figure()
    for number, (single, label) in enumerate(zip(maps, labels, strict=True)):
        x, y = ("x2", "y2") if number else ("x", "y")
        for trace in single.data:
            trace.update(xaxis=x, yaxis=y)
            if number:
                trace.update(showlegend=False)
            if limits and trace.marker.color is not None and trace.marker.cmin is not None:
                trace.marker.update(limits)
                if number:
                    trace.marker.update(showscale=False)
            figure.add_trace(trace)
        for image in single.layout.images:
            figure.add_layout_image(image.to_plotly_json() | {"xref": x, "yref": y})
        figure.add_annotation(
            text=escape(label),
            x=0.25 + 0.5 * number,
            xanchor="center",  # by itself the left name would grow towards the right one
            y=1.0,
            xref="paper",
            yref="paper",
            yanchor="bottom",
            showarrow=False,
        )
    style_figure(figure, theme, height=520)
    x_axis, y_axis = (
        axis.to_plotly_json() | {"visible": False}
        for axis in (maps[0].layout.xaxis, maps[0].layout.yaxis)
    )
    return figure.update_layout(
        xaxis=x_axis | {"domain": [0, 0.49]},
        yaxis=y_axis,
        xaxis2=x_axis | {"domain": [0.51, 1], "matches": "x"},
        yaxis2=y_axis | {"matches": "y", "anchor": "x2", "scaleanchor": "x2"},
        dragmode="pan",
        legend={"orientation": "h", "y": 1.06, "yanchor": "bottom"},
        margin={"l": 8, "r": 8, "t": 72, "b": 56},
        uirevision="pair",
    )


def _shared_limits(figures: list[go.Figure]) -> dict[str, float]:
    """The lowest and highest colour limit of all points; nothing where colours are categories."""
    markers = [trace.marker for figure in figures for trace in figure.data]
    limits = [(m.cmin, m.cmax) for m in markers if m.cmin is not None]
    if not limits:
        return {}
    low, high = zip(*limits, strict=True)
    return {"cmin": min(low), "cmax": max(high)}
