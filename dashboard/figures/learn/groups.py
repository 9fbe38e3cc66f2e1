"""Shares of groups against what was promised to all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from dashboard.figures.frame import framed, hatch, unformatted
from dashboard.theme import IN, OUT, WRONG, Theme


class Group(NamedTuple):
    """Papers that have something in common, and how their sets do."""

    name: str
    papers: int
    covered: float  # the share of sets that contain the true class
    size: float  # classes in a set, on average


def coverage_figure(groups: Sequence[Group], level: float, theme: Theme) -> go.Figure:
    """How many sets of each group contain the truth, against the level promised on average."""
    figure = go.Figure()
    short = [group.covered < level - 0.03 for group in groups]
    figure.add_bar(
        x=[group.covered for group in groups],
        y=[unformatted(f"{group.name} ({group.papers:,})") for group in groups],
        orientation="h",
        marker={
            "color": [WRONG if fails else IN for fails in short],
            "pattern": hatch("", "#FFFFFF")
            | {"shape": ["/" if fails else "" for fails in short], "fgopacity": 0.25},
        },
        text=[
            f"{group.covered:.0%} covered,<br>{group.size:.1f} classes a set" for group in groups
        ],
        textposition=["inside" if group.covered > 0.45 else "outside" for group in groups],
        insidetextanchor="start",
        insidetextfont={"color": "#FFFFFF"},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_vline(x=level, line={"color": theme.text, "width": 2, "dash": "dash"})
    figure.add_annotation(
        x=level, y=1, yref="paper", yanchor="bottom", text=f"promised: {level:.0%}", showarrow=False
    )
    framed(figure, theme, height=330)
    figure.update_xaxes(title="sets that contain the truth", range=[0, 1.005], tickformat=".0%")
    return figure.update_yaxes(autorange="reversed", showgrid=False)


class Move(NamedTuple):
    """A score before and after something was changed, in standard deviations over papers."""

    name: str
    kind: str  # what it is meant to measure
    by: float


KINDS: Mapping[str, str] = {"aleatoric": OUT, "epistemic": IN, "both": "#8C8C8C"}


def moves_figure(moves: Sequence[Move], theme: Theme) -> go.Figure:
    """How far every score moved from where nothing was changed: bars to both sides of zero."""
    figure = go.Figure()
    for kind, colour in KINDS.items():
        some = [move for move in moves if move.kind == kind]
        figure.add_bar(
            x=[move.by for move in some],
            y=[unformatted(move.name) for move in some],
            orientation="h",
            marker={
                "color": colour,
                "pattern": hatch("/" if kind == "aleatoric" else "", theme.text),
            },
            text=[f"{move.by:+.1f}".replace("-", "−") for move in some],
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
            name={"both": "both together"}.get(kind, f"meant to be {kind}"),
        )
    far = max([3.0, *(abs(move.by) * 1.15 for move in moves)])
    framed(figure, theme, height=400)
    figure.update_layout(barmode="overlay", bargap=0.25)
    figure.update_xaxes(
        title="change (std)",
        range=[-far * 0.6, far], zeroline=True, zerolinecolor=theme.text, zerolinewidth=2,
    )  # fmt: skip
    order = [unformatted(move.name) for move in moves]
    return figure.update_yaxes(
        categoryorder="array", categoryarray=order, autorange="reversed", showgrid=False
    )


class Ranked(NamedTuple):
    """How well a score finds strangers where links hold, and where they mislead."""

    name: str
    held: float
    misled: float


def misled_figure(scores: Sequence[Ranked], names: tuple[str, str], theme: Theme) -> go.Figure:
    """A line a score, from where links hold (a circle) to where they mislead (a diamond)."""
    figure = go.Figure()
    rows = [unformatted(score.name) for score in scores]
    ends: list[float | str | None] = []
    for score in scores:
        ends += [score.held, score.misled, None]
    figure.add_scatter(
        x=ends, y=[row for row in rows for _ in range(3)], mode="lines",
        line={"color": theme.faint, "width": 4}, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    for name, colour, symbol, values in (
        (names[0], IN, "circle", [score.held for score in scores]),
        (names[1], WRONG, "diamond", [score.misled for score in scores]),
    ):
        figure.add_scatter(
            x=values, y=rows, mode="markers+text", name=name, hoverinfo="skip", cliponaxis=False,
            marker={"color": colour, "symbol": symbol, "size": 13},
            text=[f"{value:.0%}" for value in values], textposition="top center",
        )  # fmt: skip
    figure.add_vline(x=0.5, line={"color": theme.text, "width": 1, "dash": "dash"})
    figure.add_annotation(
        x=0.5, y=1, yref="paper", yanchor="top", xanchor="left", text=" a coin", showarrow=False
    )
    framed(figure, theme, height=390)
    figure.update_xaxes(
        title="AUROC of finding the strangers", range=[0.2, 1.02], tickformat=".0%",
    )  # fmt: skip
    return figure.update_yaxes(range=[len(rows) - 0.6, -0.7], showgrid=False)
