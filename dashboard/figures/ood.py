"""Does the model notice what it was never taught? Charts of how scores tell nodes apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bup.errors import BupError
from bup.metrics import PrecisionRecall, Roc
from dashboard.figures.reliability import RUN_STYLES
from dashboard.figures.style import apply_style, escape_markup, hatch, row_title
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
    """Right answers, wrong answers and classes never shown, as far as there are any."""
    parts = (
        NodeGroup("known classes, right", right & ~ood, IN, ""),
        NodeGroup("known classes, wrong", ~right & ~ood, WRONG, "/"),
        NodeGroup("classes never shown", ood, OUT, "x"),
    )
    return [part for part in parts if part.member.any()]


def score_histograms(table: pd.DataFrame, score: str, theme: Theme, bins: int = BINS) -> go.Figure:
    """The distribution of a score among test nodes: right, wrong, and of classes never shown."""
    known = columns.all_columns(table)
    if score not in known:
        raise BupError(f"this run has no score {score!r}: choose one of {', '.join(known)}")
    test = table[table["part"] == "test"]
    right = test["correct"].fillna(False).to_numpy(bool)
    parts = node_groups(test["ood"].to_numpy(bool), right)
    values = test[score].to_numpy(float)
    axis = known[score].axis or known[score].label
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
        count = np.histogram(inside, edges)[0]
        figure.add_bar(
            x=edges[:-1],
            y=count / count.sum() / np.diff(edges),
            customdata=(row - 1) * bins + np.arange(bins),
            width=np.diff(edges),
            offset=0,
            hovertext=[
                f"{theme.noun.count(int(n))} from {a:.3g} to {b:.3g}"
                for n, (a, b) in zip(count, pairwise(edges), strict=True)
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
            theirs = np.histogram(numbers[part.member], edges)[0]
            height = theirs / theirs.sum() / np.diff(edges)
            figure.add_scatter(
                x=np.repeat(edges, 2),
                y=np.concatenate([[0], np.repeat(height, 2), [0]]),
                mode="lines",
                line={"color": style.colour, "dash": style.dash, "width": 2},
                hoverinfo="skip",
                name=escape_markup(other),
                showlegend=row == 1,
                row=row,
                col=1,
            )
        mean = inside.mean()
        figure.add_vline(mean, line={"color": theme.text, "width": 2}, row=row, col=1)
        counted = theme.noun.count(len(inside))
        row_title(figure, row, f"<b>{part.name}</b>: {counted}, mean {mean:.3f}")
    apply_style(figure, theme, height=90 + 130 * len(parts) + 30 * bool(others))
    figure.update_layout(bargap=0, legend_y=1.1, showlegend=bool(others))
    figure.update_yaxes(nticks=4, rangemode="tozero")
    figure.update_yaxes(title="density", row=(len(parts) + 1) // 2)
    return figure.update_xaxes(title=escape_markup(axis), row=len(parts))


class DetectionCurve(NamedTuple):
    """How one run finds what is sought."""

    label: str
    roc: Roc
    auroc: float
    precision_recall: PrecisionRecall


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
            line={"color": style.colour, "dash": style.dash, "width": 2.5},
            hovertemplate="%{y:.1%} found, %{x:.1%} of the others flagged<extra></extra>",
            name=f"{escape_markup(label)}: AUROC {auroc:.1%}",
        )
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": theme.text, "width": 1, "dash": "dot"},
        hoverinfo="skip",
        name="guessing: 50.0%",
    )
    _unit_square(figure, theme)
    if false_alarms is not None:
        figure.add_vline(false_alarms, line={"color": theme.text, "width": 1, "dash": "dash"})
    figure.update_xaxes(title="share of the others flagged by mistake")
    return figure.update_yaxes(title="share found")


def precision_recall_figure(
    curves: Sequence[DetectionCurve],
    base_rate: float,
    theme: Theme,
    nodes: np.ndarray | None = None,
) -> go.Figure:
    """How pure the flagged nodes are when this share of the sought ones is to be found.

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
            line={"color": style.colour, "dash": style.dash, "width": 2.5, "shape": "hv"},
            hovertemplate="%{x:.1%} found, %{y:.1%} of the flagged are right<extra></extra>",
            name=escape_markup(label),
        )
    figure.add_scatter(
        x=[0, 1],
        y=[base_rate, base_rate],
        mode="lines",
        line={"color": theme.text, "width": 1, "dash": "dot"},
        hoverinfo="skip",
        name=f"guessing: {base_rate:.1%}",
    )
    _unit_square(figure, theme)
    figure.update_xaxes(title="share found")
    return figure.update_yaxes(title="share of the flagged that are sought")


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
    words = [
        [
            f"{theme.noun.count(int(n))}: {escape_markup(names[i])}, taken for "
            f"{escape_markup(names[j])}"
            for j, n in zip(assigned, row, strict=True)
        ]
        for i, row in zip(true, cells, strict=True)
    ]
    scale = [[0, theme.background], [1, IN]]
    figure = go.Figure(
        go.Heatmap(
            z=cells,
            x=np.arange(len(assigned)),
            y=np.arange(len(true)),
            customdata=number,
            text=[[f"{n:,}" if n else "" for n in row] for row in cells],
            texttemplate="%{text}",
            hovertext=words,
            hoverinfo="text",
            colorscale=scale,
            showscale=False,
            xgap=2,
            ygap=2,
        )
    )
    apply_style(figure, theme, height=170 + 40 * len(true))
    ticks = {"showgrid": False, "zeroline": False}
    figure.update_xaxes(
        title="taken for",
        tickvals=np.arange(len(assigned)),
        ticktext=[escape_markup(names[j]) for j in assigned],
        tickangle=-25,
        **ticks,
    )
    return figure.update_yaxes(
        tickvals=np.arange(len(true)),
        ticktext=[escape_markup(names[i]) for i in true],
        autorange="reversed",
        **ticks,
    )


def catches_figure(found: Mapping[tuple[str, ...], np.ndarray], theme: Theme) -> go.Figure:
    """How many sought nodes exactly these methods find; a bar carries its number."""
    names = [_only(who) for who in found]
    sizes = [len(nodes) for nodes in found.values()]
    figure = go.Figure(
        go.Bar(
            x=sizes,
            y=np.arange(len(sizes)),
            customdata=np.arange(len(sizes)),
            orientation="h",
            marker={"color": [IN if who else WRONG for who in found]},
            text=[f"{size:,}" for size in sizes],
            textposition="outside",
            cliponaxis=False,
            hovertext=[
                f"{theme.noun.count(size)} found by {name}"
                for size, name in zip(sizes, names, strict=True)
            ],
            hoverinfo="text",
        )
    )
    apply_style(figure, theme, height=110 + 34 * len(sizes))
    figure.update_xaxes(title=theme.noun.many, range=[0, 1.15 * max([1, *sizes])])
    return figure.update_yaxes(
        tickvals=np.arange(len(sizes)), ticktext=names, autorange="reversed", showgrid=False
    )


def _only(who: tuple[str, ...]) -> str:
    if not who:
        return "none of them"
    return (
        f"only {escape_markup(who[0])}" if len(who) == 1 else " and ".join(map(escape_markup, who))
    )


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
    figure.add_hline(50, line={"color": theme.text, "width": 1, "dash": "dot"})
    apply_style(figure, theme, height=420 if here is None else 265)
    if here is not None:
        figure.add_scatter(
            x=[here[0]],
            y=[here[1]],
            mode="markers",
            marker={"color": OUT, "size": 15, "line": {"width": 2, "color": theme.text}},
            name="this run",
        )
        figure.update_layout(showlegend=False)
    ticks = [0.2, 0.5, 1, 2, 5, 10, 20, 50]
    figure.update_xaxes(
        title=theme.noun.apply_to("unseen nodes, % of the graph"), type="log", tickvals=ticks
    )
    return figure.update_yaxes(title="AUROC (%)", range=[25, 100])


def _unit_square(figure: go.Figure, theme: Theme) -> None:
    apply_style(figure, theme, height=420)
    figure.update_xaxes(range=[0, 1.01], tickformat=".0%")
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
