"""What comes out here beside what was published: one row per cell of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.figures.frame import framed, row_title, unformatted
from dashboard.theme import IN, OUT, Theme

ROW, GAP = 24, 34  # pixels of a row, and between two groups


class Dot(NamedTuple):
    """A cell's figure; NaN where nothing is stored, or nothing was published."""

    place: int  # what a click on it gives back
    group: str
    label: str
    mean: float
    std: float
    published: float


def beside_published(dots: Sequence[Dot], title: str, theme: Theme) -> go.Figure:
    """Means with their spread and the published figures; a panel for each group of rows."""
    dots = [dot for dot in dots if np.isfinite(dot.mean) or np.isfinite(dot.published)]
    groups: dict[str, list[Dot]] = {}
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
            y=[unformatted(dot.label) for dot in published],
            customdata=[dot.place for dot in published],
            mode="markers",
            marker={"symbol": "diamond-open", "size": 11, "color": OUT, "line_width": 2},
            hovertemplate="published: %{x:.4g}<extra></extra>",
            name="published",
            showlegend=is_new("published"),
            row=row,
            col=1,
        )
        found = [dot for dot in members if np.isfinite(dot.mean)]
        figure.add_scatter(
            x=[dot.mean for dot in found],
            y=[unformatted(dot.label) for dot in found],
            customdata=[dot.place for dot in found],
            error_x={
                "array": np.nan_to_num([dot.std for dot in found]),
                "color": theme.text,
                "thickness": 1.2,
                "width": 0,
            },
            mode="markers",
            marker={"size": 9, "color": IN, "line": {"width": 1, "color": theme.background}},
            hovertext=[
                f"here: {dot.mean:.4g}" + (f" ± {dot.std:.2g}" if np.isfinite(dot.std) else "")
                for dot in found
            ],
            hoverinfo="text",
            name="stored here",
            showlegend=is_new("stored here"),
            row=row,
            col=1,
        )
        figure.update_yaxes(
            categoryorder="array",
            categoryarray=[unformatted(dot.label) for dot in members],
            range=[len(members) - 0.4, -0.6],
            row=row,
        )
        row_title(figure, row, f"<b>{unformatted(name)}</b>")
    framed(figure, theme, height=inside + 150)
    # A title stands above the first row too, so the legend goes higher still.
    figure.update_layout(legend_y=1 + 28 / inside, margin_t=70)
    return figure.update_xaxes(title=unformatted(title), row=len(groups))
