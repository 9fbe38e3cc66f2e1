"""The loss as a landscape."""

import numpy as np
import plotly.graph_objects as go

from bup.explanation.loss_surface import LossPoint
from dashboard.figures.style import apply_style, line, marker
from dashboard.ui.theme import WRONG, Theme

HIGHEST_LOSS = 4.0


def landscape_figure(
    margins: np.ndarray,
    stds: np.ndarray,
    losses: np.ndarray,
    point: LossPoint,
    here: tuple[float, float],
    theme: Theme,
) -> go.Figure:
    """A loss [stds, margins] as a landscape, a point on it, and an arrow downhill from there.

    Every second place of the grid can be clicked and says its loss.
    """
    figure = go.Figure()
    figure.add_contour(
        x=margins,
        y=stds,
        z=np.minimum(losses, HIGHEST_LOSS),
        zmin=0,
        zmax=HIGHEST_LOSS,
        colorscale="Cividis",
        showscale=False,
        contours={
            "start": 0.5,
            "end": HIGHEST_LOSS - 0.5,
            "size": 0.5,
            "showlabels": True,
            "labelfont": {"color": "#FFFFFF", "size": theme.font_size - 1},
        },
        line={"width": 1, "color": "rgba(255,255,255,0.5)"},
        hoverinfo="skip",
    )
    x, y = (places.ravel() for places in np.meshgrid(margins[::2], stds[::2]))
    figure.add_scatter(
        x=x.round(2),
        y=y.round(2),
        customdata=losses[::2, ::2].ravel().round(2),
        mode="markers",
        marker={"size": 12, "opacity": 0},
        hovertemplate="margin %{x:.1f}, std %{y:.1f}: loss %{customdata:.2f}<extra></extra>",
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        name="places",
        showlegend=False,
    )
    slope = np.array([point.by_margin, point.by_std])
    steepness = float(np.hypot(*slope))
    # The steeper, the longer, up to a length that the chart has room for.
    step = -slope / max(1e-12, steepness) * 0.9 * np.tanh(2 * steepness)
    figure.add_annotation(
        x=here[0] + step[0],
        y=here[1] + step[1],
        ax=here[0],
        ay=here[1],
        axref="x",
        ayref="y",
        arrowhead=2,
        arrowwidth=3,
        arrowcolor="#FFFFFF",
        text="",
    )
    figure.add_scatter(
        x=[here[0]],
        y=[here[1]],
        mode="markers",
        marker=marker(WRONG, 14, edge=line("#FFFFFF", 2)),
        hoverinfo="skip",
        unselected={"marker": {"opacity": 1}},
        showlegend=False,
    )
    x_axis = {"title": "margin", "range": [float(margins[0]), float(margins[-1])]}
    y_axis = {"title": "standard deviation", "range": [float(stds[0]), float(stds[-1])]}
    return apply_style(figure, theme, 290, x=x_axis, y=y_axis, margin_t=10)
