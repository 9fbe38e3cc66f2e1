"""A reliability diagram, filled answer by answer."""

import numpy as np
import plotly.graph_objects as go

from bup.metrics import ReliabilityBins
from dashboard.figures.reliability import gap_bars
from dashboard.figures.style import apply_style, diagonal, line, marker, percent_axis
from dashboard.ui.theme import IN, WRONG, Theme

MOST_DOTS = 500


def dots_figure(
    bins: ReliabilityBins, confidence: np.ndarray, correct: np.ndarray, sweep: float, theme: Theme
) -> go.Figure:
    """Answers as dots, right ones above and wrong ones below, and the bars that they make.

    Bins that end at or below ``sweep`` are filled. Beyond 500 answers, 500 dots stand for them.
    """
    figure = go.Figure()
    filled = np.flatnonzero((bins.edges[1:] <= sweep + 1e-9) & (bins.count > 0))
    accuracy, confident = bins.accuracy[filled], bins.confidence[filled]
    figure.add_bar(
        x=bins.edges[filled],
        width=np.diff(bins.edges)[filled],
        offset=0,
        y=accuracy,
        marker={"color": IN + "50", "line": line(IN, 1.5)},
        text=[f"{a:.0%}" for a in accuracy] if len(bins.count) <= 12 else None,
        textposition="inside",
        insidetextanchor="start",
        textfont={"color": theme.text},
        textangle=0,
        hovertext=[
            f"{right:.0%} of {count:,} right, {sure:.0%} sure on average"
            for right, count, sure in zip(accuracy, bins.count[filled], confident, strict=True)
        ],
        hoverinfo="text",
        showlegend=False,
    )
    for bars, _ in gap_bars(bins, filled):
        figure.add_trace(bars.update(hoverinfo="skip"))
    figure.add_trace(diagonal(theme).update(showlegend=False))
    figure.add_scatter(
        x=confident,
        y=confident,
        mode="markers",
        marker=marker(theme.text, 9, "diamond"),
        hoverinfo="skip",
        name="mean confidence of the bin",
    )
    across = {"type": "line", "y0": -0.25, "y1": 1.25, "line": line(theme.faint, 1)}
    edges = [across | {"x0": edge, "x1": edge, "layer": "below"} for edge in bins.edges]
    random = np.random.RandomState(0)
    shown = random.permutation(len(confidence))[:MOST_DOTS]
    height = random.random_sample(len(shown))
    right = correct[shown]
    size = 9 if len(shown) <= 100 else 5
    for name, here, low, high, colour, symbol in (
        ("right", right, 1.06, 1.22, IN, "circle"),
        ("wrong", ~right, -0.22, -0.06, WRONG, "x"),
    ):
        figure.add_scatter(
            x=confidence[shown][here],
            y=low + (high - low) * height[here],
            mode="markers",
            marker=marker(colour, size, symbol, opacity=0.75),
            hovertemplate="%{x:.0%} sure<extra></extra>",
            name=name,
        )
    return apply_style(
        figure,
        theme,
        400,
        x=percent_axis("confidence in the predicted class"),
        y={
            "title": "share that is right",
            "range": [-0.25, 1.25],
            "tickvals": [-0.14, 0, 0.25, 0.5, 0.75, 1, 1.14],
            "ticktext": ["wrong", "0%", "25%", "50%", "75%", "100%", "right"],
            "zeroline": False,
        },
        shapes=edges,
        barmode="overlay",
        bargap=0,
    )
