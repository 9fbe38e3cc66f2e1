"""What the charts share: legend, axes, markers, lines, hatching, and text from the data."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard.ui.theme import IN, OUT, Theme, style_figure

Style = dict[str, Any]
"""Properties of a Plotly object."""


# Plotly's own ticks are unreadable where an axis spans only one or two powers of ten.
_TICKS = [digit * 10**power for power in range(7) for digit in (1, 2, 5)]
LOG_AXIS: Style = {"type": "log", "tickvals": _TICKS, "ticktext": [f"{tick:,}" for tick in _TICKS]}


def apply_style(
    figure: go.Figure,
    theme: Theme,
    height: int = 380,
    x: Style | None = None,
    y: Style | None = None,
    **layout: Any,
) -> go.Figure:
    """The common style, with a legend that grows away from the chart and labels never cut.

    ``x`` and ``y`` are properties of all axes; ``layout`` replaces parts of the common layout.
    """
    style_figure(
        figure,
        theme,
        height,
        room=True,
        hovermode="closest",
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "bgcolor": "rgba(0,0,0,0)",
        },
        margin={"l": 64, "r": 30, "t": 28, "b": 56},  # half of the last tick label is to the right
    )
    figure.update_xaxes(x or {})
    figure.update_yaxes(y or {})
    return figure.update_layout(layout) if layout else figure


def percent_axis(title: str | None = None, low: float = 0, high: float = 1.01) -> Style:
    axis = {"range": [low, high], "tickformat": ".0%"}
    return axis if title is None else axis | {"title": title}


def row_axis(names: Sequence[str], **more: Any) -> Style:
    """A y axis with a name for each row, the first row on top."""
    axis = {"range": [len(names) - 0.4, -0.6], "showgrid": False, "zeroline": False}
    return axis | {"tickvals": list(range(len(names))), "ticktext": list(names)} | more


def line(colour: str, width: float, dash: str | None = None) -> Style:
    style: Style = {"color": colour, "width": width}
    return style if dash is None else style | {"dash": dash}


def marker(
    colour: Any, size: float, symbol: Any = None, edge: Style | None = None, **more: Any
) -> Style:
    """``edge`` is the ``line`` around it."""
    style = {"color": colour, "size": size} | more
    if symbol is not None:
        style["symbol"] = symbol
    return style if edge is None else style | {"line": edge}


def error_bars(middle: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str) -> Style:
    return {
        "array": high - middle,
        "arrayminus": middle - low,
        "color": colour,
        "thickness": 1.5,
        "width": 4,
    }


def hatch(shape: str, colour: str) -> Style:
    """A pattern over a bar's own colour: the second cue beside it. No shape, no pattern."""
    return {
        "shape": shape,
        "fgcolor": colour,
        "fillmode": "overlay",
        "fgopacity": 1,
        "solidity": 0.25,
    }


def count_bars(
    counts: Sequence[int],
    names: Sequence[str],
    hover: Sequence[str],
    colours: Sequence[str],
    theme: Theme,
    height: int,
    room: float,
    **more: Any,
) -> go.Figure:
    """A horizontal bar for each count of nodes, the first on top; ``customdata`` is its index.

    ``room`` is the end of the axis, in units of the highest count.
    """
    rows = np.arange(len(counts))
    bars = go.Bar(
        x=list(counts),
        y=rows,
        customdata=rows,
        orientation="h",
        marker={"color": list(colours)},
        text=[f"{count:,}" for count in counts],
        textposition="outside",
        cliponaxis=False,
        hovertext=list(hover),
        hoverinfo="text",
        **more,
    )
    x_axis = {"title": theme.noun.many, "range": [0, room * max([1, *counts])]}
    y_axis = {"tickvals": rows, "ticktext": list(names), "autorange": "reversed", "showgrid": False}
    return apply_style(go.Figure(bars), theme, height, x=x_axis, y=y_axis)


def row_title(figure: go.Figure, row: int, text: str) -> None:
    """Words above one of the charts that are stacked in a figure."""
    axis = "" if row == 1 else row
    figure.add_annotation(
        x=0,
        y=1,
        xref=f"x{axis} domain",
        yref=f"y{axis} domain",
        text=text,
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        align="left",
    )


def escape_markup(text: str) -> str:
    """Text from the data, so that plotly shows it instead of reading it as markup.

    Quotes stay: plotly draws no attribute from text, and does not know their entities.
    """
    return escape(text, quote=False)


def shorten(name: str, most: int = 26) -> str:
    """A name from the data, cut to fit beside a chart and harmless in it."""
    return escape_markup(name if len(name) <= most else name[: most - 1] + "…")


@dataclass(frozen=True)
class RunStyle:
    """How a chart distinguishes one run from others; colour is only one cue."""

    colour: str
    symbol: str
    dash: str

    def line(self, width: float = 2) -> Style:
        return line(self.colour, width, self.dash)

    def marker(self, size: float, edge: Style | None = None) -> Style:
        return marker(self.colour, size, self.symbol, edge)


RUN_STYLES = (
    RunStyle(IN, "circle", "solid"),
    RunStyle("#CC79A7", "diamond", "dash"),
    RunStyle(OUT, "square", "dot"),
    RunStyle("#009E73", "triangle-up", "dashdot"),
    RunStyle("#56B4E9", "x", "longdash"),
    RunStyle("#8C8C8C", "star", "longdashdot"),
)


def histogram_outline(edges: np.ndarray, heights: np.ndarray, style: RunStyle) -> go.Scatter:
    """A histogram of another run as the line along its tops."""
    return go.Scatter(
        x=np.repeat(edges, 2),
        y=np.concatenate([[0], np.repeat(heights, 2), [0]]),
        mode="lines",
        line=style.line(),
        hoverinfo="skip",
    )


def diagonal(theme: Theme, name: str = "perfect") -> go.Scatter:
    """A dotted line where both axes are equal."""
    return dotted([0, 1], theme, name)


def dotted(y: Sequence[float], theme: Theme, name: str) -> go.Scatter:
    """A dotted straight line across a chart, to compare with."""
    return go.Scatter(
        x=[0, 1], y=y, mode="lines", line=line(theme.text, 1, "dot"), hoverinfo="skip", name=name
    )
