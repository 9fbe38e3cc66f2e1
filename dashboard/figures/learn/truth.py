"""Confidence beside the truth, where it is known."""

import numpy as np
import plotly.graph_objects as go

from dashboard.figures.style import apply_style, diagonal, marker, percent_axis
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
            marker=marker(colour, 6, symbol, opacity=0.6),
            hovertemplate="%{x:.0%} sure, should be %{y:.0%}<extra></extra>",
            name=f"answer {name}",
        )
    figure.add_trace(diagonal(theme, "as sure as it should be"))
    x_axis = percent_axis("confidence of the network", high=1.02)
    y_axis = percent_axis("true probability of its answer", -0.02, 1.03)
    return apply_style(figure, theme, 360, x=x_axis, y=y_axis)
