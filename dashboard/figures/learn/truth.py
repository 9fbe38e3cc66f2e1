"""Confidence beside the truth, where it is known."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dashboard.figures.reliability import diagonal
from dashboard.figures.style import apply_style
from dashboard.ui.theme import IN, WRONG, Theme


def truth_figure(
    confidence: np.ndarray, truth: np.ndarray, correct: np.ndarray, theme: Theme
) -> go.Figure:
    """A network's confidence against the true probability of its answer, node by node."""
    figure = go.Figure()
    for name, here, colour, symbol in (
        ("right", correct, IN, "circle"),
        ("wrong", ~correct, WRONG, "x"),
    ):
        figure.add_scatter(
            x=confidence[here],
            y=truth[here],
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 6, "opacity": 0.6},
            hovertemplate="%{x:.0%} sure, should be %{y:.0%}<extra></extra>",
            name=f"answer {name}",
        )
    figure.add_trace(diagonal(theme).update(name="as sure as it should be"))
    apply_style(figure, theme, height=360)
    figure.update_xaxes(title="confidence of the network", range=[0, 1.02], tickformat=".0%")
    return figure.update_yaxes(
        title="true probability of its answer", range=[-0.02, 1.03], tickformat=".0%"
    )
