"""Answers of several networks for the same papers."""

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from dashboard.figures.style import apply_style, escape_markup
from dashboard.ui.theme import IN, OUT, Theme


class NetworkAnswers(NamedTuple):
    """Of one paper: the probability of one class, by every network and by the recipe."""

    title: str
    values: Sequence[float]
    truth: float | None  # None: neither class is right

    @property
    def span(self) -> str:
        return f"{min(self.values):.0%} to {max(self.values):.0%}"


def networks_figure(
    rows: Sequence[NetworkAnswers], classes: tuple[str, str], theme: Theme
) -> go.Figure:
    """A row for each paper, a dot for each network; the axis is the same for all answers."""
    figure = go.Figure()
    for row, paper in enumerate(rows):
        low, high = min(paper.values), max(paper.values)
        figure.add_shape(
            type="rect", x0=low, x1=high, y0=row - 0.3, y1=row + 0.3, layer="below",
            fillcolor=theme.faint, line_width=0,
        )  # fmt: skip
        figure.add_annotation(
            x=0, y=row - 0.34, xanchor="left", yanchor="bottom", showarrow=False,
            text=escape_markup(paper.title), font={"size": theme.font_size + 1},
        )  # fmt: skip
        figure.add_annotation(
            x=1, y=row - 0.34, xanchor="right", yanchor="bottom", showarrow=False,
            text=f"<b>{paper.span}</b>", font={"size": theme.font_size + 1},
        )  # fmt: skip
    steps = [0.5 * (k + 0.5) / len(rows[0].values) - 0.25 for k in range(len(rows[0].values))]
    figure.add_scatter(
        x=[value for paper in rows for value in paper.values],
        y=[row + step for row in range(len(rows)) for step in steps],
        mode="markers", name="a network",
        marker={"color": IN, "size": 11, "line": {"width": 1, "color": theme.background}},
        hovertemplate="%{x:.0%}<extra></extra>",
    )  # fmt: skip
    truths = [(row, paper.truth) for row, paper in enumerate(rows) if paper.truth is not None]
    figure.add_scatter(
        x=[truth for _, truth in truths], y=[row for row, _ in truths],
        mode="markers", name="the truth, by the recipe",
        marker={"color": OUT, "symbol": "diamond", "size": 15,
                "line": {"width": 2, "color": theme.text}},
        hovertemplate="%{x:.0%}<extra></extra>", cliponaxis=False,
    )  # fmt: skip
    apply_style(figure, theme, height=430).update_layout(margin_l=36)
    figure.update_xaxes(
        title="what a network answers", range=[-0.01, 1.01], tickvals=[0, 0.25, 0.5, 0.75, 1],
        ticktext=[f"surely<br>{escape_markup(classes[1])}", "25%", "50%", "75%",
                  f"surely<br>{escape_markup(classes[0])}"],
    )  # fmt: skip
    return figure.update_yaxes(range=[len(rows) - 0.6, -0.75], visible=False)
