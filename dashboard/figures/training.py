"""The curves of a training, finished or under way."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.figures.style import apply_style, line
from dashboard.ui.theme import IN, WRONG, Theme


def curves_figure(
    loss: Sequence[float],
    validation_nll: Sequence[float],
    validation_accuracy: Sequence[float],
    kept_epoch: int | None,
    theme: Theme,
    epochs: int,
) -> go.Figure:
    """Loss and validation figures after every epoch so far; the axis spans all epochs."""
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, row_heights=[0.58, 0.42], vertical_spacing=0.07
    )
    for name, values, colour, dash, row in (
        ("training loss", loss, IN, "solid", 1),
        ("validation NLL", validation_nll, WRONG, "dash", 1),
        ("validation accuracy", validation_accuracy, "#009E73", "dashdot", 2),
    ):
        figure.add_scatter(
            x=np.arange(1, len(values) + 1),
            y=list(values),
            mode="lines" if len(values) > 1 else "markers",
            line=line(colour, 2, dash),
            name=name,
            row=row,
            col=1,
        )
    span = {"range": [0, max(epochs, len(loss)) + 1]}
    apply_style(figure, theme, 400, x=span, hovermode="x")
    if kept_epoch is not None:
        figure.add_vline(kept_epoch, line=line(theme.text, 1.5, "dot"))
        right_half = kept_epoch > epochs / 2
        figure.add_annotation(
            x=kept_epoch,
            y=1,
            yref="y domain",
            text=f"kept: epoch {kept_epoch}",
            showarrow=False,
            xanchor="right" if right_half else "left",
            yanchor="top",
            xshift=-4 if right_half else 4,
        )
    figure.update_xaxes(title="epoch", row=2)
    figure.update_yaxes(title=theme.noun.apply_to("nats per node"), rangemode="tozero", row=1)
    accuracies = {} if len(validation_accuracy) else {"range": [0, 1]}
    return figure.update_yaxes(title="accuracy", tickformat=".0%", row=2, **accuracies)
