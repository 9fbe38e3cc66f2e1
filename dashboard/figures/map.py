"""The graph as a map: its links as a faint picture, a point for every node on top."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from PIL import ImageColor

from dashboard.figures.edges import bounds
from dashboard.figures.style import escape_markup, shorten
from dashboard.ui import columns
from dashboard.ui.columns import Column
from dashboard.ui.theme import (
    IN,
    PART_COLOURS,
    Theme,
    category_colours,
    score_colours,
    style_figure,
)

_SYMBOLS = {
    columns.RIGHT: ("circle", 1.0, "correct"),
    columns.LEFT_OUT: ("diamond", 1.3, "left-out class"),
    columns.WRONG: ("x", 1.3, "wrong"),
}
"""Verdict -> symbol, size relative to the others, words for the legend."""

MOST_POINTS = 30_000
_GREY = PART_COLOURS["unused"]

# Symbol, colour and words of a line in the legend.
Entry = tuple[str, str, str]


def map_figure(
    table: pd.DataFrame,
    positions: np.ndarray,
    colour_by: str,
    class_names: Sequence[str],
    theme: Theme,
    edge_png: str | None = None,
    shown: np.ndarray | None = None,
    size: float | None = None,
) -> go.Figure:
    """One point per node, coloured by a column of its table; its index is in ``customdata``.

    Diamonds are nodes of left-out classes, crosses are mistakes. Nodes outside the mask ``shown``
    are small dots without an index. Of more than ``MOST_POINTS`` nodes some are drawn, those shown
    first. ``edge_png`` is ``edges.edge_image`` as a data URI.
    """
    column = columns.column_of(table, colour_by)
    shown = np.ones(len(table), bool) if shown is None else np.asarray(shown, bool)
    number = sample_nodes(shown)
    table, shown, places = table.iloc[number], shown[number], positions[number].astype(np.float32)
    n = len(table)
    size = size or float(np.clip(330 / np.sqrt(n), 3, 9)) * (1.3 if theme.large else 1)
    values, marker, entries = (
        _scores(table[colour_by], column, theme)
        if column.kind == "score"
        else _categories(table, colour_by, class_names)
    )
    figure = go.Figure()
    if not shown.all():
        figure.add_scattergl(
            x=places[~shown, 0],
            y=places[~shown, 1],
            mode="markers",
            marker={"color": theme.faint, "size": 0.6 * size},
            hoverinfo="skip",
            showlegend=False,
        )
    verdict, has_value = columns.verdicts(table), np.isfinite(values)
    text, predicted = _hover_texts(table, colour_by)
    exact = column.kind == "score" and not column.log
    tail = f"<br>{escape_markup(column.label)}: %{{marker.color:.3g}}" if exact else ""
    for kind, (symbol, factor, _) in _SYMBOLS.items():
        for valued in (True, False):
            nodes = np.flatnonzero(shown & (verdict == kind) & (has_value == valued))
            if len(nodes) == 0:
                continue
            lines = "%{text}" if kind == columns.RIGHT else "%{text}<br>predicted: %{hovertext}"
            figure.add_scattergl(
                x=places[nodes, 0],
                y=places[nodes, 1],
                customdata=number[nodes].astype(np.int32),
                text=text[nodes],
                hovertext=None if kind == columns.RIGHT else predicted[nodes],
                hovertemplate=lines + (tail if valued else "") + "<extra></extra>",
                mode="markers",
                marker=({"color": values[nodes], **marker} if valued else {"color": _GREY})
                | {"symbol": symbol, "size": factor * size, "opacity": 0.9},
                selected={"marker": {"size": 2.2 * factor * size, "opacity": 1}},
                unselected={"marker": {"opacity": 0.55}},
                showlegend=False,
            )
            if valued:
                marker = marker | {"showscale": False}  # one colour bar is enough
    if colour_by != "correct":  # whose colours have symbols already
        unlabelled = " or unlabelled" if (table["true"] == "").any() else ""
        entries = [
            (symbol, theme.text, words + unlabelled * (kind == columns.RIGHT))
            for kind, (symbol, _, words) in _SYMBOLS.items()
            if (verdict == kind).any()
        ] + entries
    for symbol, colour, words in entries:
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=words,
            marker={"symbol": symbol, "color": colour, "size": 9},
            hoverinfo="skip",
        )
    if edge_png is not None:
        left, right, bottom, top = bounds(positions)
        figure.add_layout_image(
            source=edge_png,
            xref="x",
            yref="y",
            x=left,
            y=top,
            sizex=right - left,
            sizey=top - bottom,
            sizing="stretch",
            layer="below",
        )
    return _laid_out(figure, positions, theme, column.kind)


def sample_nodes(shown: np.ndarray) -> np.ndarray:
    """Indices of the nodes that get a point: all, or a sample that prefers those shown."""
    n = len(shown)
    if n <= MOST_POINTS:
        return np.arange(n)
    turn = np.random.RandomState(0).permutation(n) + np.where(shown, 0, n)
    return np.sort(np.argpartition(turn, MOST_POINTS)[:MOST_POINTS])


def _scores(
    column_values: pd.Series, column: Column, theme: Theme
) -> tuple[np.ndarray, dict[str, Any], list[Entry]]:
    """Values [n] to colour by (NaN: none), how, and what the legend has to add."""
    shades = column.shade(column_values.to_numpy(np.float32))
    ends = (column.low, column.high)
    if column.reverse:  # hovering shows what a colour stands for: the value, not its opposite
        shades, ends = -shades, ends[::-1]
    low, high = columns.colour_limits(shades)
    ticks = [low, (low + high) / 2, high]
    digits = ".0f" if column.log else ".3g"
    words = [
        f"{10**tick if column.log else tick:{digits}}<br>{meaning}"
        for tick, meaning in zip(
            ticks, (ends[0], f"<b>{escape_markup(column.label)}</b>", ends[1]), strict=True
        )
    ]
    marker = {
        "colorscale": score_colours(np.linspace(0, 1, 12), theme, column.uncertain),
        "reversescale": column.reverse,
        "cmin": low,
        "cmax": high,
        "showscale": True,
        "colorbar": {
            "orientation": "h",
            "x": 0.5,
            "y": 0,
            "yanchor": "top",
            "ypad": 4,
            "len": 0.6,
            "thickness": 10,
            "outlinewidth": 0,
            "tickvals": ticks,
            "ticktext": words,
        },
    }
    missing = [] if np.isfinite(shades).all() else [("circle", _GREY, "no path to training")]
    return shades, marker, missing


def _categories(
    table: pd.DataFrame, colour_by: str, class_names: Sequence[str]
) -> tuple[np.ndarray, dict[str, Any], list[Entry]]:
    """The same for classes, parts and verdicts: the values are numbers of colours."""
    names, colours = columns.categories(table, colour_by), category_colours(colour_by, class_names)
    codes = pd.Index(list(colours)).get_indexer(names)
    share = np.linspace(0, 1, len(colours) + 1)
    marker = {
        "colorscale": [
            [float(end), colour]
            for k, colour in enumerate(colours.values())
            for end in share[k : k + 2]
        ],
        "cmin": -0.5,
        "cmax": len(colours) - 0.5,
    }
    verdicts = {"correct": "circle", "wrong": "x", "left out": "diamond", "unlabelled": "circle"}
    present = np.bincount(codes, minlength=len(colours)) > 0
    entries = [
        (
            verdicts[name] if colour_by == "correct" else "square",
            colour,
            shorten(name or "unlabelled"),
        )
        for (name, colour), occurs in zip(colours.items(), present, strict=True)
        if occurs
    ]
    return codes.astype(np.int16), marker, entries


def _hover_texts(table: pd.DataFrame, colour_by: str) -> tuple[np.ndarray, np.ndarray]:
    """For each node its name, true class and the value of its colour; and its predicted class.

    They hold no markup, which would treble the data that is sent to the browser.
    """
    names = {name: escape_markup(name) for name in {*table["true"], *table["predicted"]}}
    predicted = table["predicted"].map(names)
    true = table["true"].map(names).where(table["true"] != "", "unlabelled, predicted " + predicted)
    text = columns.names(table).map(escape_markup) + ": " + true
    if colour_by in ("degree", "part"):
        text += f", {colour_by} " + table[colour_by].astype(str)
    return text.to_numpy(object), predicted.to_numpy(object)


def _laid_out(figure: go.Figure, positions: np.ndarray, theme: Theme, kind: str) -> go.Figure:
    """The same room for every colouring, so that another one never moves the map.

    Below the map is the colour bar of a score or the legend of categories, which is then too long
    for a corner of the map.
    """
    left, right, bottom, top = bounds(positions)
    style_figure(figure, theme, height=640)
    axis = {"visible": False, "autorange": False}
    corner = {"orientation": "v", "x": 0, "y": 1, "xanchor": "left", "yanchor": "top"}
    below = {"orientation": "h", "x": 0.5, "y": 0, "xanchor": "center", "yanchor": "top"}
    return figure.update_layout(
        xaxis=axis | {"range": [left, right]},
        yaxis=axis | {"range": [bottom, top], "scaleanchor": "x"},
        margin={"l": 8, "r": 8, "t": 8, "b": 112 if theme.large else 80},
        dragmode="pan",
        hovermode="closest",
        uirevision="map",
        legend=(corner if kind == "score" else below)
        | {
            "font": {"size": theme.font_size - 1},
            "bgcolor": f"rgba{(*ImageColor.getrgb(theme.background), 0.5)}",
            "itemclick": False,
            "itemdoubleclick": False,
        },
        hoverlabel={"bgcolor": theme.background, "bordercolor": theme.text, "align": "left"},
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": theme.text, "activecolor": IN},
    )
