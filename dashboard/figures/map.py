"""The graph as a map: its links as a faint picture, a point for every node on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from PIL import Image, ImageColor
from plotly.colors import sample_colorscale

from bup.errors import BupError
from dashboard.figures.frame import plain
from dashboard.theme import (
    IN,
    OUT,
    PART_COLOURS,
    SCORE_SCALE,
    WRONG,
    Theme,
    class_colours,
    styled,
)


@dataclass(frozen=True)
class Colouring:
    """A column of ``bup.results.node_table`` that the map can show."""

    label: str
    meaning: str
    kind: Literal["score", "category"]
    uncertain: bool = False  # it says how sure the model is
    low: str = ""  # what the ends of a score mean
    high: str = ""


COLOURINGS = {
    "message_std": Colouring(
        "Message std",
        "How unsure the model is of the message itself: its standard deviation, averaged over "
        "classes.",
        "score",
        True,
        "more certain",
        "less certain",
    ),
    "message_entropy": Colouring(
        "Message entropy",
        "How widely the message may vary over all classes together, in nats.",
        "score",
        True,
        "more certain",
        "less certain",
    ),
    "confidence": Colouring(
        "Confidence",
        "The probability that the model gives to the class it predicts.",
        "score",
        True,
        "less certain",
        "more certain",
    ),
    "predictive_entropy": Colouring(
        "Predictive entropy",
        "How evenly the probability is spread over the classes, in nats: 0 is a firm answer.",
        "score",
        True,
        "more certain",
        "less certain",
    ),
    "prob_std": Colouring(
        "Spread of the probabilities",
        "How far the class probabilities lie apart (their standard deviation): 0 is a pure guess.",
        "score",
        True,
        "less certain",
        "more certain",
    ),
    "correct": Colouring(
        "Right or wrong",
        "Whether the predicted class is the true one; left-out classes can only be got wrong.",
        "category",
    ),
    "predicted": Colouring("Predicted class", "The class that the model predicts.", "category"),
    "true": Colouring("True class", "The class that the data give.", "category"),
    "part": Colouring(
        "Part of the split",
        "What a node was used for: training, choosing the best epoch (validation), testing, or "
        "nothing; nodes of left-out classes are never trained on.",
        "category",
    ),
    "degree": Colouring(
        "Degree",
        "How many links a node has, counting one to itself; the colours are on a log scale.",
        "score",
        low="few links",
        high="many links",
    ),
    "distance": Colouring(
        "Distance to training",
        "How many links away the nearest training node is.",
        "score",
        low="near",
        high="far",
    ),
}
"""Column name -> what it shows."""

_SYMBOLS = {
    "known": ("circle", 1.0, "correct or unlabelled"),
    "left out": ("diamond", 1.5, "left-out class"),
    "wrong": ("x", 1.3, "wrong"),
}
"""Group -> symbol, size relative to the others, words for the legend."""

_GREY = PART_COLOURS["unused"]
_MARGIN = 0.03  # around the outermost nodes, in units of the map
_LEVELS = 16  # of the links' opacity: four bits a pixel
_SAMPLES = 2_000_000  # along links, at a time
_MAX_LINKS = 200_000

# Symbol, colour and words of a line in the legend.
Entry = tuple[str, str, str]


def available(table: pd.DataFrame) -> dict[str, Colouring]:
    """What this run can be coloured by; messages without a variance have no std or entropy."""
    return {key: colouring for key, colouring in COLOURINGS.items() if key in table}


def edge_image(
    positions: np.ndarray, edges: np.ndarray, theme: Theme, width: int = 2400
) -> Image.Image:
    """All links as thin translucent lines, the long ones fainter, to lie below the points.

    A palette image whose colours differ in opacity alone. Of more than 200,000 links it shows an
    even sample.
    """
    edges = edges[:, :: -(-edges.shape[1] // _MAX_LINKS) or 1]
    left, right, bottom, top = _frame(positions)
    height = max(1, round((top - bottom) / (right - left) * width))
    scale = [width / (right - left), height / (bottom - top)]
    places = ((positions - [left, top]) * scale - 0.5).astype(np.float32)
    start, end = places[edges[0]], places[edges[1]]
    length = np.abs(end - start).max(axis=1, initial=0)
    steps = np.ceil(length).astype(np.int64) + 1
    strength = np.minimum(1, 0.05 * width / np.maximum(length, 1)) ** 0.7
    ink = np.zeros(width * height)
    portion = np.cumsum(steps) // _SAMPLES
    for number in np.unique(portion):
        few = np.flatnonzero(portion == number)
        edge = np.repeat(few, steps[few])
        first = np.repeat(np.cumsum(steps[few]) - steps[few], steps[few])
        share = ((np.arange(len(edge)) - first + 0.5) / steps[edge]).astype(np.float32)
        points = start[edge] + share[:, None] * (end[edge] - start[edge])
        corner = points.astype(np.int64)
        (across, down), (x, y) = (points - corner).T, corner.T
        # Each sample spreads over the four pixels around it, which makes the lines smooth.
        for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
            weight = np.abs(1 - dx - across) * np.abs(1 - dy - down) * strength[edge]
            ink += np.bincount(x + dx + width * (y + dy), weight, len(ink))
    level = np.round((_LEVELS - 1) * (1 - np.exp(-0.6 * ink))).astype(np.uint8)
    picture = Image.fromarray(level.reshape(height, width)).convert("P")
    picture.putpalette(ImageColor.getrgb(theme.text) * _LEVELS)
    most = 110 if theme.dark else 130
    picture.info["transparency"] = bytes(round(most * k / (_LEVELS - 1)) for k in range(_LEVELS))
    return picture


def map_figure(
    table: pd.DataFrame,
    positions: np.ndarray,
    colour_by: str,
    class_names: Sequence[str],
    theme: Theme,
    edge_png: str | None = None,
    shown: np.ndarray | None = None,
    size: float | None = None,
    height: int = 640,
) -> go.Figure:
    """One point per node, coloured by a column of its table; its index is in ``customdata``.

    Diamonds are nodes of left-out classes, crosses are mistakes. Nodes outside the mask ``shown``
    are specks without an index. ``edge_png`` is ``edge_image`` as a data URI.
    """
    if colour_by not in available(table):
        known = ", ".join(available(table))
        raise BupError(f"this run cannot be coloured by {colour_by!r}: choose one of {known}")
    n = len(table)
    size = size or float(np.clip(330 / np.sqrt(n), 3.5, 9)) * (1.3 if theme.large else 1)
    shown = np.ones(n, dtype=bool) if shown is None else np.asarray(shown, dtype=bool)
    places = positions.astype(np.float32)
    colouring = COLOURINGS[colour_by]
    values, marker, entries = (
        _scores(table, colour_by, theme)
        if colouring.kind == "score"
        else _categories(table, colour_by, class_names, theme)
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
    text = _hover_text(table, colour_by)
    score_line = f"<br>{colouring.label}: %{{marker.color:.3g}}"
    group = _groups(table)
    known = np.isfinite(values)
    for name, (symbol, factor, _) in _SYMBOLS.items():
        for has_value in (True, False):
            nodes = np.flatnonzero(shown & (group == name) & (known == has_value))
            if len(nodes) == 0:
                continue
            colours = {"color": values[nodes], **marker} if has_value else {"color": _GREY}
            told = colouring.kind == "score" and has_value and colour_by != "degree"
            figure.add_scattergl(
                x=places[nodes, 0],
                y=places[nodes, 1],
                customdata=nodes.astype(np.int32),
                text=text[nodes],
                hovertemplate="%{text}" + score_line * told + "<extra></extra>",
                mode="markers",
                marker=colours | {"symbol": symbol, "size": factor * size, "opacity": 0.9},
                selected={"marker": {"size": 2.2 * factor * size, "opacity": 1}},
                unselected={"marker": {"opacity": 0.55}},
                showlegend=False,
            )
            marker = marker | {"showscale": False}  # one colour bar is enough
    if colour_by != "correct":  # there the colours say it already
        present = [_SYMBOLS[name] for name in _SYMBOLS if (group == name).any()]
        entries = [(symbol, theme.text, words) for symbol, _, words in present] + entries
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
        left, right, bottom, top = _frame(positions)
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
    return _laid_out(figure, positions, theme, height)


def _frame(positions: np.ndarray) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of the map."""
    (left, bottom), (right, top) = positions.min(axis=0), positions.max(axis=0)
    return (
        float(left) - _MARGIN,
        float(right) + _MARGIN,
        float(bottom) - _MARGIN,
        float(top) + _MARGIN,
    )


def _groups(table: pd.DataFrame) -> np.ndarray:
    """The key [n] of ``_SYMBOLS`` that each node belongs to."""
    wrong = table["correct"].eq(False).fillna(False).to_numpy(bool)
    return np.select([table["ood"].to_numpy(bool), wrong], ["left out", "wrong"], "known")


def _scores(
    table: pd.DataFrame, colour_by: str, theme: Theme
) -> tuple[np.ndarray, dict[str, Any], list[Entry]]:
    """Values [n] to colour by (NaN: none), how, and what the legend has to add."""
    colouring = COLOURINGS[colour_by]
    values = table[colour_by].to_numpy(np.float32)
    if colour_by == "degree":
        values = np.log10(values)
    finite = values[np.isfinite(values)]
    # A few extremes must not flatten the colours of all others.
    low, high = np.percentile(finite, [1, 99]).tolist() if len(finite) else (0.0, 1.0)
    if high - low < 1e-6:
        low, high = low - 0.5, high + 0.5
    ticks, words = _ticks(low, high, colour_by == "degree")
    words[0] += f"<br>{colouring.low}"
    words[-1] += f"<br>{colouring.high}"
    # The darkest tones would drown in a dark page, the brightest in a white one.
    tones = np.linspace(0.12, 1, 12) if theme.dark else np.linspace(0, 0.94, 12)
    marker = {
        "colorscale": sample_colorscale(SCORE_SCALE, tones.tolist()),
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
    missing = [("circle", _GREY, "no path to training")] if len(finite) < len(values) else []
    return values, marker, missing


def _ticks(low: float, high: float, log: bool) -> tuple[list[float], list[str]]:
    """Both ends and the middle; powers of ten are read as what they stand for."""
    ticks = [low, (low + high) / 2, high]
    return ticks, [f"{10**tick:.0f}" if log else f"{tick:.3g}" for tick in ticks]


def _categories(
    table: pd.DataFrame, colour_by: str, class_names: Sequence[str], theme: Theme
) -> tuple[np.ndarray, dict[str, Any], list[Entry]]:
    """The same for classes, parts and verdicts: the values are numbers of colours."""
    ood = table["ood"].to_numpy(bool)
    if colour_by == "correct":
        right = table["correct"].fillna(False).to_numpy(bool)
        judged = table["correct"].notna().to_numpy()
        names = np.select([ood, ~judged, right], ["left out", "unlabelled", "correct"], "wrong")
        colours = {"correct": IN, "wrong": WRONG, "left out": OUT, "unlabelled": _GREY}
    elif colour_by == "part":
        names = np.where(ood, "left out", table["part"].to_numpy(str))
        colours = PART_COLOURS
    else:
        names = table[colour_by].to_numpy(str)
        names = np.where(names == "", "unlabelled", names)
        colours = class_colours(class_names) | {"unlabelled": _GREY}
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
        (verdicts[name] if colour_by == "correct" else "square", colour, _short(name))
        for (name, colour), occurs in zip(colours.items(), present, strict=True)
        if occurs
    ]
    return codes.astype(np.int16), marker, entries


def _short(name: str, most: int = 30) -> str:
    return plain(name if len(name) <= most else name[: most - 1] + "…")


def _hover_text(table: pd.DataFrame, colour_by: str) -> np.ndarray:
    """Id, classes and what the colour cannot say exactly, for each node."""
    lines = []
    for node, true, predicted, ood in zip(
        table["id"], table["true"], table["predicted"], table["ood"], strict=True
    ):
        told = f"{plain(node)}<br>{plain(true)}" if true else plain(node)
        told += " (left out)" if ood else ""
        lines.append(told if predicted == true else f"{told}<br>predicted: {plain(predicted)}")
    text = np.array(lines, dtype=object)
    if colour_by in ("degree", "part"):
        text = text + f"<br>{colour_by}: " + table[colour_by].astype(str).to_numpy(object)
    return text


def _laid_out(figure: go.Figure, positions: np.ndarray, theme: Theme, height: int) -> go.Figure:
    """The same frame for every colouring: what is around the map never moves the map."""
    left, right, bottom, top = _frame(positions)
    styled(figure, theme, height)
    small = {"size": theme.font_size - 1}
    axis = {"visible": False, "autorange": False}
    return figure.update_layout(
        xaxis=axis | {"range": [left, right]},
        yaxis=axis | {"range": [bottom, top], "scaleanchor": "x"},
        margin={"l": 8, "r": 8, "t": 8, "b": 64},
        dragmode="pan",
        hovermode="closest",
        uirevision="map",
        legend={
            "orientation": "v",
            "x": 0,
            "y": 1,
            "xanchor": "left",
            "yanchor": "top",
            "font": small,
            "bgcolor": "rgba(18,22,31,0.6)" if theme.dark else "rgba(255,255,255,0.7)",
            "itemclick": False,
            "itemdoubleclick": False,
        },
        hoverlabel={"bgcolor": theme.background, "bordercolor": theme.text, "align": "left"},
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": theme.text, "activecolor": IN},
    )
