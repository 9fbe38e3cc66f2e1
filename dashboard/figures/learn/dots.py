"""A reliability diagram, filled answer by answer."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from bup.metrics import ReliabilityBins
from dashboard.figures.reliability import diagonal
from dashboard.figures.style import apply_style, hatch
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
    left, width = bins.edges[filled], np.diff(bins.edges)[filled]
    accuracy, gap = bins.accuracy[filled], bins.gap[filled]
    figure.add_bar(
        x=left,
        width=width,
        offset=0,
        y=accuracy,
        marker={"color": IN + "50", "line": {"width": 1.5, "color": IN}},
        text=[f"{a:.0%}" for a in accuracy] if len(bins.count) <= 12 else None,
        textposition="inside",
        insidetextanchor="start",
        textfont={"color": theme.text},
        textangle=0,
        hovertext=[
            f"{right:.0%} of {count:,} right, {sure:.0%} sure on average"
            for right, count, sure in zip(
                accuracy, bins.count[filled], bins.confidence[filled], strict=True
            )
        ],
        hoverinfo="text",
        showlegend=False,
    )
    for name, sign, colour, shape in (
        ("too confident", -1, WRONG, "/"),
        ("not confident enough", 1, "#009E73", "\\"),
    ):
        here = np.sign(gap) == sign
        figure.add_bar(
            x=left[here],
            width=width[here],
            offset=0,
            base=np.minimum(accuracy, bins.confidence[filled])[here],
            y=np.abs(gap[here]),
            marker={"color": colour + "30", "pattern": hatch(shape, colour) | {"size": 7}},
            hoverinfo="skip",
            name=name,
        )
    figure.add_trace(diagonal(theme).update(showlegend=False))
    figure.add_scatter(
        x=bins.confidence[filled],
        y=bins.confidence[filled],
        mode="markers",
        marker={"color": theme.text, "symbol": "diamond", "size": 9},
        hoverinfo="skip",
        name="mean confidence of the bin",
    )
    for edge in bins.edges:
        line = {"color": theme.faint, "width": 1}
        figure.add_shape(type="line", x0=edge, x1=edge, y0=-0.25, y1=1.25, line=line, layer="below")
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
            marker={"color": colour, "symbol": symbol, "size": size, "opacity": 0.75},
            hovertemplate="%{x:.0%} sure<extra></extra>",
            name=name,
        )
    apply_style(figure, theme, height=400)
    figure.update_layout(barmode="overlay", bargap=0)
    figure.update_xaxes(
        title="confidence in the predicted class", range=[0, 1.01], tickformat=".0%"
    )
    return figure.update_yaxes(
        title="share that is right",
        range=[-0.25, 1.25],
        tickvals=[-0.14, 0, 0.25, 0.5, 0.75, 1, 1.14],
        ticktext=["wrong", "0%", "25%", "50%", "75%", "100%", "right"],
        zeroline=False,
    )
