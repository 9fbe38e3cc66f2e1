"""What the charts share beyond colours: a legend above, room for labels, harmless text."""

from __future__ import annotations

from html import escape

import plotly.graph_objects as go

from dashboard.ui.theme import Theme, style_figure


def apply_style(figure: go.Figure, theme: Theme, height: int = 380) -> go.Figure:
    """The common style, with a legend that grows away from the chart and labels never cut."""
    return style_figure(
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


def hatch(shape: str, colour: str) -> dict[str, object]:
    """A pattern over a bar's own colour: the second cue beside it. No shape, no pattern."""
    return {
        "shape": shape,
        "fgcolor": colour,
        "fillmode": "overlay",
        "fgopacity": 1,
        "solidity": 0.25,
    }


def escape_markup(text: str) -> str:
    """Text from the data, so that plotly shows it instead of reading it as markup.

    Quotes stay: plotly draws no attribute from text, and does not know their entities.
    """
    return escape(text, quote=False)
