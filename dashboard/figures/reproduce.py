"""What was measured and what comes out here beside what was published: a row per cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.figures.style import apply_style, escape_markup, row_title
from dashboard.ui.theme import IN, OUT, Theme

ROW, GAP = 24, 50  # pixels of a row, and between two groups


class Marker(NamedTuple):
    field: str
    symbol: str
    size: int


SOURCES = {
    "as measured": Marker("measured", "circle", 10),
    "trained here": Marker("here", "line-ns-open", 13),
}
"""Whose reruns: those that came with the package, those of this machine."""


class MeanInterval(NamedTuple):
    """A mean over reruns, and where the mean over all possible ones lies."""

    mean: float = np.nan
    low: float = np.nan
    high: float = np.nan


class ComparisonRow(NamedTuple):
    """A cell's figures; NaN where nothing was measured, trained here, or published."""

    place: int  # what a click on it gives back
    group: str
    label: str
    published: float
    measured: MeanInterval
    here: MeanInterval

    @property
    def known(self) -> bool:
        return bool(np.isfinite([self.published, self.measured.mean, self.here.mean]).any())


def comparison_figure(dots: Sequence[ComparisonRow], title: str, theme: Theme) -> go.Figure:
    """Means with their spread and the published figures; a panel for each group of rows."""
    dots = [dot for dot in dots if dot.known]
    groups: dict[str, list[ComparisonRow]] = {}
    for dot in dots:
        groups.setdefault(dot.group, []).append(dot)
    inside = ROW * len(dots) + GAP * (len(groups) - 1)
    figure = make_subplots(
        rows=len(groups),
        shared_xaxes=True,
        row_heights=[len(members) for members in groups.values()],
        vertical_spacing=GAP / inside if len(groups) > 1 else 0,
    )

    def is_new(name: str) -> bool:
        """Whether the legend has no such points yet."""
        return not any(trace.name == name and trace.x for trace in figure.data)

    for row, (name, members) in enumerate(groups.items(), start=1):
        published = [dot for dot in members if np.isfinite(dot.published)]
        figure.add_scatter(
            x=[dot.published for dot in published],
            y=[escape_markup(dot.label) for dot in published],
            customdata=[dot.place for dot in published],
            mode="markers",
            marker={"symbol": "diamond-open", "size": 11, "color": OUT, "line_width": 2},
            hovertemplate="published: %{x:.4g}<extra></extra>",
            name="published",
            showlegend=is_new("published"),
            row=row,
            col=1,
        )
        for name_of_source, marker in SOURCES.items():
            found = [
                (dot, figures)
                for dot in members
                if np.isfinite((figures := getattr(dot, marker.field)).mean)
            ]
            figure.add_scatter(
                x=[figures.mean for _, figures in found],
                y=[escape_markup(dot.label) for dot, _ in found],
                customdata=[dot.place for dot, _ in found],
                error_x={
                    "array": np.nan_to_num([f.high - f.mean for _, f in found]),
                    "color": theme.text,
                    "thickness": 1.2,
                    "width": 0,
                },
                mode="markers",
                marker={
                    "size": marker.size,
                    "symbol": marker.symbol,
                    "color": IN,
                    "line": {"width": 2, "color": IN},
                },
                hovertext=[
                    f"{name_of_source}: {f.mean:.4g}"
                    + (f", 95% interval {f.low:.4g} to {f.high:.4g}" if np.isfinite(f.low) else "")
                    for _, f in found
                ],
                hoverinfo="text",
                name=name_of_source,
                showlegend=is_new(name_of_source) and bool(found),
                row=row,
                col=1,
            )
        figure.update_yaxes(
            categoryorder="array",
            categoryarray=[escape_markup(dot.label) for dot in members],
            range=[len(members) - 0.4, -0.6],
            row=row,
        )
        row_title(figure, row, f"<b>{escape_markup(name)}</b>")
    apply_style(figure, theme, height=inside + 150)
    # A title stands above the first row too, so the legend goes higher still.
    figure.update_layout(legend_y=1 + 28 / inside, margin_t=70)
    figure.update_xaxes(showticklabels=True)  # of every panel: the last one is far below
    return figure.update_xaxes(title=escape_markup(title), row=len(groups))
