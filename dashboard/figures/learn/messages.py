"""Messages as bell curves, and the probabilities that come out of them."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from bup.likelihood import ProbabilityDistribution
from dashboard.figures.style import apply_style, escape_markup, line, marker, percent_axis, row_axis
from dashboard.ui.theme import Theme, class_colours

HIGHEST, DENSEST = 1.7, 8.0  # where a message's density, and a probability's, leave the frame
DASHES = ("solid", "dash", "dot")
"""The second cue beside colour."""


def messages_figure(
    mean: Sequence[float],
    std: Sequence[float],
    names: Sequence[str],
    draw: np.ndarray,
    theme: Theme,
) -> go.Figure:
    """One bell curve per class on common axes, of equal areas, with one draw from each."""
    figure = go.Figure()
    z = np.linspace(-4, 4, 161)
    colours = class_colours(names)
    for i, (name, m, s) in enumerate(zip(names, mean, std, strict=True)):
        figure.add_scatter(
            x=m + s * z,
            y=np.exp(-(z**2) / 2) / (s * np.sqrt(2 * np.pi)),
            mode="lines",
            line=line(colours[name], 2.5, DASHES[i % len(DASHES)]),
            fill="tozeroy",
            fillcolor=colours[name] + "30",
            hoverinfo="skip",
            name=escape_markup(name),
        )
        figure.add_scatter(
            x=[draw[i]],
            y=[0.04 * HIGHEST],
            mode="markers",
            marker=marker(
                colours[name], 16 if draw[i] == draw.max() else 10, "x", line(theme.text, 1.5)
            ),
            hovertext=f"{escape_markup(name)}: {draw[i]:.2f}",
            hoverinfo="text",
            showlegend=False,
        )
    # Fixed axes: the curve moves, not the frame.
    x_axis = {"title": "message: higher speaks for the class", "range": [-5, 5]}
    y_axis = {"visible": False, "range": [0, HIGHEST]}
    return apply_style(figure, theme, 195, x=x_axis, y=y_axis)


def wins_figure(
    draws: np.ndarray, chances: np.ndarray, names: Sequence[str], theme: Theme
) -> go.Figure:
    """Which class won each draw [classes, draws], stacked up, against the exact probability."""
    winner = draws.argmax(axis=0)
    total = draws.shape[1]
    colours = class_colours(names)
    figure = go.Figure()
    rows = np.arange(len(names))
    counts = np.bincount(winner, minlength=len(names))
    figure.add_scatter(
        x=np.concatenate([np.arange(c) + 0.5 for c in counts]) / total,
        y=np.repeat(rows, counts),
        mode="markers",
        marker=marker(
            np.repeat([colours[name] for name in names], counts), 14, "line-ns-open", {"width": 3}
        ),
        hoverinfo="skip",
        showlegend=False,
    )
    stroke = {"type": "line", "line": line(theme.text, 3)}
    exact = [
        stroke | {"x0": chance, "x1": chance, "y0": row - 0.42, "y1": row + 0.42}
        for row, chance in zip(rows, chances, strict=True)
    ]
    x_axis = percent_axis("share of the draws that the class won")
    y_axis = row_axis(list(map(escape_markup, names)))
    return apply_style(figure, theme, 180, x=x_axis, y=y_axis, shapes=exact)


def densities_figure(
    grid: np.ndarray,
    density: np.ndarray,
    chances: ProbabilityDistribution,
    names: Sequence[str],
    theme: Theme,
) -> go.Figure:
    """The density [classes, grid] of every class's probability, its interval and its mean.

    Areas of ridges are equal: where a curve is low and wide, the probability is unsure.
    """
    figure = go.Figure()
    colours = class_colours(names)
    low, middle, high = (np.asarray(t[0]) for t in (chances.low, chances.mean, chances.high))
    for row, name in enumerate(names):
        shape = np.minimum(density[row] / DENSEST, 1)
        visible = shape > 1e-3
        x, shape = grid[visible], shape[visible]
        figure.add_scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([row - 0.75 * shape, np.full(len(x), float(row))]),
            mode="lines",
            line=line(colours[name], 2),
            fill="toself",
            fillcolor=colours[name] + "40",
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            x=[low[row], high[row]],
            y=[row + 0.08] * 2,
            mode="lines",
            line=line(theme.text, 5),
            hoverinfo="skip",
            name=f"{chances.level:.0%} credible interval",
            showlegend=row == 0,
        )
        figure.add_scatter(
            x=[middle[row]],
            y=[row + 0.08],
            mode="markers",
            marker=marker(colours[name], 13, edge=line(theme.text, 2)),
            hovertext=f"{middle[row]:.1%} ({low[row]:.1%} to {high[row]:.1%})",
            hoverinfo="text",
            name="mean",
            showlegend=row == 0,
        )
    x_axis = percent_axis("probability to win", -0.01)
    y_axis = row_axis(list(map(escape_markup, names)), range=[len(names) - 0.6, -1.0])
    return apply_style(figure, theme, 235, x=x_axis, y=y_axis)
