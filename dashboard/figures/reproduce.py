"""Published figures beside those measured with this package: a row for each cell of a table."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.figures.style import apply_style, escape_markup, line, marker, row_title
from dashboard.ui.theme import IN, OUT, Theme

ROW, GAP = 24, 50  # pixels of a row, and between two groups
SOURCES = {
    "as measured": ("measured", "circle", 10),
    "trained here": ("here", "line-ns-open", 13),
}
"""Field, symbol and size by who ran the reruns: the authors of the package, or this machine."""


class MeanInterval(NamedTuple):
    """A mean over reruns, and its 95% interval."""

    mean: float = np.nan
    low: float = np.nan
    high: float = np.nan


class ComparisonRow(NamedTuple):
    """The figures of a cell; NaN where nothing was measured, trained here, or published."""

    place: int  # what a click returns
    group: str
    label: str
    published: float
    measured: MeanInterval
    here: MeanInterval

    @property
    def has_values(self) -> bool:
        return bool(np.isfinite([self.published, self.measured.mean, self.here.mean]).any())


def comparison_figure(rows: Sequence[ComparisonRow], title: str, theme: Theme) -> go.Figure:
    """Means with their spread and the published figures; a panel for each group of rows."""
    rows = [row for row in rows if row.has_values]
    groups: dict[str, list[ComparisonRow]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    height = ROW * len(rows) + GAP * (len(groups) - 1)
    figure = make_subplots(
        rows=len(groups),
        shared_xaxes=True,
        row_heights=[len(members) for members in groups.values()],
        vertical_spacing=GAP / height if len(groups) > 1 else 0,
    )

    def add_points(panel: int, points: Sequence[ComparisonRow], name: str, **more: Any) -> None:
        in_legend = any(trace.name == name and trace.x for trace in figure.data)
        figure.add_scatter(
            y=[escape_markup(point.label) for point in points],
            customdata=[point.place for point in points],
            mode="markers",
            name=name,
            showlegend=not in_legend and (bool(points) or name == "published"),
            row=panel,
            col=1,
            **more,
        )

    for panel, (group, members) in enumerate(groups.items(), start=1):
        published = [row for row in members if np.isfinite(row.published)]
        add_points(
            panel,
            published,
            "published",
            x=[row.published for row in published],
            marker=marker(OUT, 11, "diamond-open", {"width": 2}),
            hovertemplate="published: %{x:.4g}<extra></extra>",
        )
        for source, (field, symbol, size) in SOURCES.items():
            points = [row for row in members if np.isfinite(getattr(row, field).mean)]
            means = [getattr(row, field) for row in points]
            add_points(
                panel,
                points,
                source,
                x=[m.mean for m in means],
                error_x={
                    "array": np.nan_to_num([m.high - m.mean for m in means]),
                    "color": theme.text,
                    "thickness": 1.2,
                    "width": 0,
                },
                marker=marker(IN, size, symbol, line(IN, 2)),
                hovertext=[
                    f"{source}: {m.mean:.4g}"
                    + (f", 95% interval {m.low:.4g} to {m.high:.4g}" if np.isfinite(m.low) else "")
                    for m in means
                ],
                hoverinfo="text",
            )
        figure.update_yaxes(
            categoryorder="array",
            categoryarray=[escape_markup(row.label) for row in members],
            range=[len(members) - 0.4, -0.6],
            row=panel,
        )
        row_title(figure, panel, f"<b>{escape_markup(group)}</b>")
    # A title stands above the first row too, so the legend goes higher still.
    apply_style(figure, theme, height + 150, legend_y=1 + 28 / height, margin_t=70)
    figure.update_xaxes(showticklabels=True)  # of every panel: the last one is far below
    return figure.update_xaxes(title=escape_markup(title), row=len(groups))
