"""Does the model notice what it was never taught? Charts of how scores tell nodes apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bup import metrics
from bup.errors import BupError
from bup.metrics import PrecisionRecall, Roc
from dashboard.figures.style import (
    RUN_STYLES,
    apply_style,
    count_bars,
    diagonal,
    dotted,
    escape_markup,
    hatch,
    histogram_outline,
    line,
    marker,
    percent_axis,
    row_title,
)
from dashboard.ui import columns
from dashboard.ui.theme import IN, OUT, WRONG, Theme


class NodeGroup(NamedTuple):
    """Some of the nodes, in a panel of their own."""

    name: str
    member: np.ndarray  # [m] mask
    colour: str
    pattern: str


BINS = 40


def node_groups(ood: np.ndarray, right: np.ndarray) -> list[NodeGroup]:
    """Right answers, wrong answers and classes never shown, each unless it is empty."""
    parts = (
        NodeGroup("known classes, right", right & ~ood, IN, ""),
        NodeGroup("known classes, wrong", ~right & ~ood, WRONG, "/"),
        NodeGroup("classes never shown", ood, OUT, "x"),
    )
    return [part for part in parts if part.member.any()]


def score_histograms(table: pd.DataFrame, score: str, theme: Theme, bins: int = BINS) -> go.Figure:
    """The distribution of a score among test nodes: right, wrong, and of classes never shown."""
    all_columns = columns.all_columns(table)
    if score not in all_columns:
        raise BupError(f"this run has no score {score!r}: choose one of {', '.join(all_columns)}")
    test = table[table["part"] == "test"]
    right = test["correct"].fillna(False).to_numpy(bool)
    parts = node_groups(test["ood"].to_numpy(bool), right)
    values = test[score].to_numpy(float)
    axis = all_columns[score].axis or all_columns[score].label
    return histograms(parts, [("", values)], theme, axis, bins)


def histograms(
    parts: Sequence[NodeGroup],
    runs: Sequence[tuple[str, np.ndarray]],
    theme: Theme,
    axis: str,
    bins: int = BINS,
) -> go.Figure:
    """Numbers [m] of one run or several, distributed in each part of the nodes.

    One panel per part, below each other, so that the eye compares along one axis; each is a
    density, so that small parts are as visible as large ones. The first run has bars, which carry
    the part's number times ``bins`` plus their own as ``customdata``; the others have lines.
    """
    (_, values), *others = runs
    edges = np.histogram_bin_edges(np.concatenate([numbers for _, numbers in runs]), bins)
    figure = make_subplots(
        rows=len(parts),
        cols=1,
        shared_xaxes=True,
        shared_yaxes="all",
        vertical_spacing=0.16 / len(parts) + 0.03,
    )
    for row, part in enumerate(parts, start=1):
        inside = values[part.member]
        counts = np.histogram(inside, edges)[0]
        figure.add_bar(
            x=edges[:-1],
            y=counts / counts.sum() / np.diff(edges),
            customdata=(row - 1) * bins + np.arange(bins),
            width=np.diff(edges),
            offset=0,
            hovertext=[
                f"{theme.noun.count(int(n))} from {a:.3g} to {b:.3g}"
                for n, (a, b) in zip(counts, pairwise(edges), strict=True)
            ],
            hoverinfo="text",
            marker={
                "color": part.colour,
                "line": {"width": 0},
                "pattern": hatch(part.pattern, theme.background),
            },
            name=part.name,
            showlegend=False,
            row=row,
            col=1,
        )
        for (other, numbers), style in zip(others, RUN_STYLES[1:], strict=False):
            other_counts = np.histogram(numbers[part.member], edges)[0]
            height = other_counts / other_counts.sum() / np.diff(edges)
            outline = histogram_outline(edges, height, style)
            outline.update(name=escape_markup(other), showlegend=row == 1)
            figure.add_trace(outline, row=row, col=1)
        mean = inside.mean()
        figure.add_vline(mean, line=line(theme.text, 2), row=row, col=1)
        count = theme.noun.count(len(inside))
        row_title(figure, row, f"<b>{part.name}</b>: {count}, mean {mean:.3f}")
    y_axis = {"nticks": 4, "rangemode": "tozero"}
    apply_style(
        figure,
        theme,
        90 + 130 * len(parts) + 30 * bool(others),
        y=y_axis,
        bargap=0,
        legend_y=1.1,
        showlegend=bool(others),
    )
    figure.update_yaxes(title="density", row=(len(parts) + 1) // 2)
    return figure.update_xaxes(title=escape_markup(axis), row=len(parts))


class DetectionCurve(NamedTuple):
    """How well one run detects the sought nodes."""

    label: str
    roc: Roc
    auroc: float
    precision_recall: PrecisionRecall

    @classmethod
    def of(cls, label: str, doubt: np.ndarray, sought: np.ndarray) -> DetectionCurve:
        roc, precision_recall = metrics.roc(doubt, sought), metrics.precision_recall(doubt, sought)
        return cls(label, roc, metrics.auroc(doubt, sought), precision_recall)


def roc_figure(
    curves: Sequence[DetectionCurve],
    theme: Theme,
    false_alarms: float | None = None,
    nodes: np.ndarray | None = None,
) -> go.Figure:
    """How many of the sought nodes are found for how many others flagged by mistake.

    ``nodes`` belong to the points of the first curve; a line marks the share of false alarms.
    """
    figure = go.Figure()
    for (label, roc, auroc, _), style in zip(curves, cycle(RUN_STYLES)):
        figure.add_scatter(
            x=roc.false_positive_rate,
            y=roc.true_positive_rate,
            customdata=nodes if roc is curves[0].roc else None,
            mode="lines",
            line=style.line(2.5),
            hovertemplate="%{y:.1%} found, %{x:.1%} of the others flagged<extra></extra>",
            name=f"{escape_markup(label)}: AUROC {auroc:.1%}",
        )
    figure.add_trace(diagonal(theme, "guessing: 50.0%"))
    if false_alarms is not None:
        figure.add_vline(false_alarms, line=line(theme.text, 1, "dash"))
    x_axis = percent_axis("share of the others flagged by mistake")
    y_axis = percent_axis("share found", high=1.02)
    return apply_style(figure, theme, 420, x=x_axis, y=y_axis)


def precision_recall_figure(
    curves: Sequence[DetectionCurve],
    base_rate: float,
    theme: Theme,
    nodes: np.ndarray | None = None,
) -> go.Figure:
    """The precision of the flagged nodes for each share of the sought nodes that is found.

    ``nodes`` belong to the points of the first curve.
    """
    figure = go.Figure()
    for (label, _, _, curve), style in zip(curves, cycle(RUN_STYLES)):
        figure.add_scatter(
            x=curve.recall,
            y=curve.precision,
            customdata=nodes if curve is curves[0].precision_recall else None,
            mode="lines",
            # Steps, because average precision is the area under steps, not under slopes.
            line=style.line(2.5) | {"shape": "hv"},
            hovertemplate="%{x:.1%} found, %{y:.1%} of the flagged are right<extra></extra>",
            name=escape_markup(label),
        )
    figure.add_trace(dotted([base_rate, base_rate], theme, f"guessing: {base_rate:.1%}"))
    x_axis = percent_axis("share found")
    y_axis = percent_axis("share of the flagged that are sought", high=1.02)
    return apply_style(figure, theme, 420, x=x_axis, y=y_axis)


def matrix_figure(
    counts: np.ndarray,
    true: Sequence[int],
    assigned: Sequence[int],
    names: Sequence[str],
    theme: Theme,
) -> go.Figure:
    """How many nodes of a class got which answer; a cell carries true * classes + assigned."""
    cells = counts[np.ix_(true, assigned)]
    number = np.array(true)[:, None] * len(names) + np.array(assigned)
    hover = [
        [
            f"{theme.noun.count(int(n))}: {escape_markup(names[i])}, taken for "
            f"{escape_markup(names[j])}"
            for j, n in zip(assigned, row, strict=True)
        ]
        for i, row in zip(true, cells, strict=True)
    ]
    figure = go.Figure(
        go.Heatmap(
            z=cells,
            x=np.arange(len(assigned)),
            y=np.arange(len(true)),
            customdata=number,
            text=[[f"{n:,}" if n else "" for n in row] for row in cells],
            texttemplate="%{text}",
            hovertext=hover,
            hoverinfo="text",
            colorscale=[[0, theme.background], [1, IN]],
            showscale=False,
            xgap=2,
            ygap=2,
        )
    )
    across, down = (
        {
            "tickvals": np.arange(len(classes)),
            "ticktext": [escape_markup(names[k]) for k in classes],
            "showgrid": False,
            "zeroline": False,
        }
        for classes in (assigned, true)
    )
    x_axis = across | {"title": "taken for", "tickangle": -25}
    y_axis = down | {"autorange": "reversed"}
    return apply_style(figure, theme, 170 + 40 * len(true), x=x_axis, y=y_axis)


def found_by_figure(nodes_of: Mapping[tuple[str, ...], np.ndarray], theme: Theme) -> go.Figure:
    """How many sought nodes exactly these methods find; a bar carries its number."""
    names = [_methods_text(methods) for methods in nodes_of]
    sizes = [len(nodes) for nodes in nodes_of.values()]
    hover = [f"{theme.noun.count(n)} found by {name}" for n, name in zip(sizes, names, strict=True)]
    colours = [IN if methods else WRONG for methods in nodes_of]
    return count_bars(sizes, names, hover, colours, theme, 110 + 34 * len(sizes), room=1.15)


def _methods_text(methods: tuple[str, ...]) -> str:
    if not methods:
        return "none of them"
    names = " and ".join(map(escape_markup, methods))
    return f"only {names}" if len(methods) == 1 else names


def share_figure(
    rows: pd.DataFrame, theme: Theme, here: tuple[float, float] | None = None
) -> go.Figure:
    """How well unseen nodes are found by how many of them the graph holds, one line per method.

    ``rows`` are those of the question ``strangers``: one per rerun. ``here`` is one more run, a
    reader's own, by its share and its AUROC; the chart is then a small one with names on its lines.
    """
    figure = go.Figure()
    styles = zip(rows.groupby("method", sort=False), cycle(RUN_STYLES), strict=False)
    for (method, part), style in styles:
        cells = part.groupby("unseen_share").auroc_own.agg(["mean", "std"])
        name = escape_markup(str(method))
        figure.add_scatter(
            x=cells.index,
            y=cells["mean"],
            error_y={"array": cells["std"].fillna(0), "thickness": 1, "width": 3},
            mode="lines+markers",
            line={"color": style.colour, "dash": style.dash},
            marker={"symbol": style.symbol, "size": 8},
            name=name,
        )
        if here is not None:
            first = cells.iloc[0]  # where the lines lie apart
            figure.add_annotation(
                x=np.log10(first.name),
                y=first["mean"],
                xanchor="left",
                xshift=5,
                yshift=9,
                text=name,
                showarrow=False,
            )
    figure.add_hline(50, line=line(theme.text, 1, "dot"))
    across = theme.noun.apply_to("unseen nodes, % of the graph")
    x_axis = {"title": across, "type": "log", "tickvals": [0.2, 0.5, 1, 2, 5, 10, 20, 50]}
    y_axis = {"title": "AUROC (%)", "range": [25, 100]}
    apply_style(figure, theme, 420 if here is None else 265, x=x_axis, y=y_axis)
    if here is not None:
        figure.add_scatter(
            x=[here[0]],
            y=[here[1]],
            mode="markers",
            marker=marker(OUT, 15, edge=line(theme.text, 2)),
            name="this run",
        )
        figure.update_layout(showlegend=False)
    return figure
