"""What a threshold lets through, and what it catches."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bup import metrics
from dashboard.figures.style import (
    apply_style,
    diagonal,
    escape_markup,
    hatch,
    line,
    marker,
    percent_axis,
    row_title,
)
from dashboard.ui.theme import IN, OUT, WRONG, Theme

KNOWN, MISTAKE, UNSEEN = (IN, ""), (WRONG, "/"), (OUT, "x")
"""Colour and pattern of bars."""


def answers_figure(
    groups: Mapping[str, tuple[np.ndarray, bool]], threshold: float, theme: Theme
) -> go.Figure:
    """Confidence by group, one panel each; what is at or above the threshold is drawn solid.

    ``groups`` maps a name to the confidences and whether the group's class was hidden.
    """
    edges = np.linspace(0, 1, 26)
    figure = make_subplots(rows=len(groups), cols=1, shared_xaxes=True, vertical_spacing=0.2)
    for row, (name, (values, hidden)) in enumerate(groups.items(), start=1):
        look = UNSEEN if hidden else (KNOWN, MISTAKE)[row - 1]
        _add_threshold_bars(figure, row, values, edges, threshold, look, theme)
        title = f"<b>{escape_markup(name)}</b>"
        if len(values):
            above, mean = (values >= threshold).mean(), values.mean()
            title += f": {above:.0%} of {len(values):,} trusted,<br>{mean:.0%} sure on average"
        row_title(figure, row, title)
    _style_panels(figure, theme, height=100 + 110 * len(groups), margin_t=48)
    figure.update_xaxes(percent_axis())
    return figure.update_xaxes(title="confidence in the predicted class", row=len(groups))


def threshold_figure(
    doubt: np.ndarray, unseen: np.ndarray, threshold: float, title: str, theme: Theme
) -> go.Figure:
    """Doubt among papers of known and of unseen classes; what reaches the threshold is solid."""
    edges = np.histogram_bin_edges(doubt, 40)
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.17)
    groups = (("known classes", ~unseen, KNOWN), ("the unseen class", unseen, UNSEEN))
    for row, (name, member, look) in enumerate(groups, start=1):
        values = doubt[member]
        _add_threshold_bars(figure, row, values, edges, threshold, look, theme)
        flagged = float((values >= threshold).mean()) if len(values) else 0.0
        row_title(figure, row, f"<b>{name}</b>: {flagged:.0%} of {len(values):,} flagged")
    _style_panels(figure, theme, height=205, margin_t=34)
    return figure.update_xaxes(title=title, row=2)


def _add_threshold_bars(
    figure: go.Figure,
    row: int,
    values: np.ndarray,
    edges: np.ndarray,
    threshold: float,
    look: tuple[str, str],
    theme: Theme,
) -> None:
    """A histogram as shares, pale, and solid what reaches the threshold, which a line marks.

    A bin that the threshold cuts is solid as far as its papers are.
    """
    colour, pattern = look
    for part, opacity in ((values, 0.25), (values[values >= threshold], 1.0)):
        figure.add_bar(
            x=edges[:-1],
            y=np.histogram(part, edges)[0] / max(len(values), 1),
            width=np.diff(edges),
            offset=0,
            marker={
                "color": colour,
                "opacity": opacity,
                "line": {"width": 0},
                "pattern": hatch(pattern, theme.background),
            },
            hoverinfo="skip",
            showlegend=False,
            row=row,
            col=1,
        )
    figure.add_vline(threshold, line=line(theme.text, 2, "dash"), row=row, col=1)


def _style_panels(figure: go.Figure, theme: Theme, height: int, margin_t: int) -> None:
    y = {"tickformat": ".0%", "nticks": 3, "rangemode": "tozero"}
    apply_style(figure, theme, height, y=y, barmode="overlay", bargap=0, margin_t=margin_t)


def drawn_roc_figure(
    doubt: np.ndarray, unseen: np.ndarray, threshold: float, theme: Theme
) -> go.Figure:
    """The ROC curve as far as the threshold has drawn it, the rest faint."""
    curve = metrics.roc(doubt, unseen)
    flagged = doubt >= threshold
    here = float(flagged[~unseen].mean()), float(flagged[unseen].mean())
    drawn = curve.threshold >= threshold
    figure = go.Figure()
    figure.add_scatter(
        x=curve.false_positive_rate,
        y=curve.true_positive_rate,
        mode="lines",
        line=line("#56B4E9", 1.5, "dot"),
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        x=[*curve.false_positive_rate[drawn], here[0]],
        y=[*curve.true_positive_rate[drawn], here[1]],
        mode="lines",
        line=line(IN, 3.5),
        hoverinfo="skip",
        name="drawn so far",
    )
    figure.add_scatter(
        x=[here[0]],
        y=[here[1]],
        mode="markers",
        marker=marker(OUT, 15, edge=line(theme.text, 2)),
        hovertemplate="%{y:.0%} caught, %{x:.0%} flagged by mistake<extra></extra>",
        name="your threshold",
    )
    figure.add_trace(diagonal(theme, "chance"))
    x_axis = percent_axis(f"known {theme.noun.many} flagged by mistake", -0.01)
    y_axis = percent_axis(f"unseen {theme.noun.many} caught", -0.01, 1.02)
    return apply_style(figure, theme, 255, x=x_axis, y=y_axis)
