"""Does the model notice what it was never taught? Charts of how scores tell nodes apart."""

from __future__ import annotations

from itertools import cycle, pairwise

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bup.errors import BupError
from bup.metrics import PrecisionRecall, Roc
from dashboard import columns
from dashboard.figures.frame import framed, hatch, row_title, unformatted
from dashboard.figures.reliability import RUN_STYLES
from dashboard.theme import IN, OUT, WRONG, Theme


def score_histograms(table: pd.DataFrame, score: str, theme: Theme, bins: int = 40) -> go.Figure:
    """The distribution of a score among test nodes: right, wrong, and of classes never taught.

    One panel per group that has a node, below each other, so that the eye compares along one axis;
    each panel is a density, so that small groups are as visible as large ones.
    """
    known = columns.scores(table)
    if score not in known:
        raise BupError(f"this run has no score {score!r}: choose one of {', '.join(known)}")
    test = table[table["part"] == "test"]
    ood = test["ood"].to_numpy(bool)
    right = test["correct"].fillna(False).to_numpy(bool)
    values = test[score].to_numpy(float)
    groups = [
        (name, values[member], colour, pattern)
        for name, member, colour, pattern in (
            ("known classes, right", right & ~ood, IN, ""),
            ("known classes, wrong", ~right & ~ood, WRONG, "/"),
            ("classes never shown", ood, OUT, "x"),
        )
        if member.any()
    ]
    edges = np.histogram_bin_edges(values, bins)
    figure = make_subplots(
        rows=len(groups),
        cols=1,
        shared_xaxes=True,
        shared_yaxes="all",
        vertical_spacing=0.16 / len(groups) + 0.03,
    )
    for row, (name, scores, colour, pattern) in enumerate(groups, start=1):
        count = np.histogram(scores, edges)[0]
        figure.add_bar(
            x=edges[:-1],
            y=count / count.sum() / np.diff(edges),
            width=np.diff(edges),
            offset=0,
            hovertext=[
                f"{theme.noun.counted(int(n))} from {a:.3g} to {b:.3g}"
                for n, (a, b) in zip(count, pairwise(edges), strict=True)
            ],
            hoverinfo="text",
            marker={
                "color": colour,
                "line": {"width": 0},
                "pattern": hatch(pattern, theme.background),
            },
            name=name,
            row=row,
            col=1,
        )
        mean = scores.mean()
        figure.add_vline(mean, line={"color": theme.text, "width": 2}, row=row, col=1)
        row_title(figure, row, f"<b>{name}</b>: {theme.noun.counted(len(scores))}, mean {mean:.3f}")
    framed(figure, theme, height=90 + 130 * len(groups))
    figure.update_layout(bargap=0, showlegend=False)
    figure.update_yaxes(nticks=4, rangemode="tozero")
    figure.update_yaxes(title="density", row=(len(groups) + 1) // 2)
    return figure.update_xaxes(
        title=unformatted(known[score].axis or known[score].label), row=len(groups)
    )


def roc_figure(curve: Roc, theme: Theme, auroc: float) -> go.Figure:
    """How many of the sought nodes are found for how many others flagged by mistake."""
    figure = go.Figure()
    figure.add_scatter(
        x=curve.false_positive_rate,
        y=curve.true_positive_rate,
        mode="lines",
        line={"color": IN, "width": 2.5},
        hovertemplate="%{y:.1%} found, %{x:.1%} of the known flagged<extra></extra>",
        name=f"this score: AUROC {auroc:.1%}",
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
    figure.update_xaxes(title=theme.noun.said("share of known nodes flagged by mistake"))
    return figure.update_yaxes(title=theme.noun.said("share of unseen nodes found"))


def precision_recall_figure(curve: PrecisionRecall, base_rate: float, theme: Theme) -> go.Figure:
    """How pure the flagged nodes are when this share of the sought ones is to be found."""
    figure = go.Figure()
    figure.add_scatter(
        x=curve.recall,
        y=curve.precision,
        mode="lines",
        # Steps, because average precision is the area under steps, not under slopes.
        line={"color": IN, "width": 2.5, "shape": "hv"},
        hovertemplate="%{x:.1%} found, %{y:.1%} of the flagged are unseen<extra></extra>",
        name="this score",
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
    figure.update_xaxes(title=theme.noun.said("share of unseen nodes found"))
    return figure.update_yaxes(title=theme.noun.said("share of the flagged nodes that are unseen"))


def share_figure(rows: pd.DataFrame, theme: Theme) -> go.Figure:
    """How well unseen nodes are found by how many of them the graph holds, one line per method.

    ``rows`` are those of the question ``strangers``: one per rerun.
    """
    figure = go.Figure()
    styles = zip(rows.groupby("method", sort=False), cycle(RUN_STYLES), strict=False)
    for (method, part), style in styles:
        cells = part.groupby("unseen_share").auroc_own.agg(["mean", "std"])
        figure.add_scatter(
            x=cells.index,
            y=cells["mean"],
            error_y={"array": cells["std"].fillna(0), "thickness": 1, "width": 3},
            mode="lines+markers",
            line={"color": style.colour, "dash": style.dash},
            marker={"symbol": style.symbol, "size": 8},
            name=unformatted(f"{method}: {part.own_score.iloc[0].replace('_', ' ')}"),
        )
    figure.add_hline(50, line={"color": theme.text, "width": 1, "dash": "dot"})
    framed(figure, theme, height=420)
    ticks = [0.2, 0.5, 1, 2, 5, 10, 20, 50]
    figure.update_xaxes(
        title=theme.noun.said("unseen nodes, % of the graph"), type="log", tickvals=ticks
    )
    return figure.update_yaxes(title="AUROC (%)", range=[25, 100])


def _unit_square(figure: go.Figure, theme: Theme) -> None:
    framed(figure, theme, height=420)
    figure.update_xaxes(range=[0, 1.01], tickformat=".0%")
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
