"""Is confidence worth what it says? Charts of calibration and of answering only when sure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bup.graph.noun import Noun
from bup.metrics import ReliabilityBins, RiskCoverage
from dashboard.figures.style import apply_style, escape_markup, hatch
from dashboard.ui.theme import IN, OUT, WRONG, Theme


@dataclass(frozen=True)
class RunStyle:
    """How one of several runs in a chart is told from the others, colour being only one cue."""

    colour: str
    symbol: str
    dash: str


RUN_STYLES = (
    RunStyle(IN, "circle", "solid"),
    RunStyle("#CC79A7", "diamond", "dash"),
    RunStyle(OUT, "square", "dot"),
    RunStyle("#009E73", "triangle-up", "dashdot"),
    RunStyle("#56B4E9", "x", "longdash"),
    RunStyle("#8C8C8C", "star", "longdashdot"),
)

NARROW = 0.045
"""Bins below this share of the axis have no room for their count above their bar."""


def reliability_figure(
    bins: ReliabilityBins,
    theme: Theme,
    label: str = "this run",
    other: tuple[ReliabilityBins, str] | None = None,
) -> go.Figure:
    """How often the nodes of each confidence are right, above how many nodes that is.

    Whatever belongs to a bin of the first run carries the bin's number as ``customdata``.
    """
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, row_heights=[0.77, 0.23], vertical_spacing=0.05
    )
    full = np.flatnonzero(bins.count)
    left, width = bins.edges[full], np.diff(bins.edges)[full]
    accuracy, gap = bins.accuracy[full], bins.gap[full]
    texts = np.array(_texts(bins, theme.noun))
    place = {"x": left, "width": width, "offset": 0, "customdata": full}
    common = {"hoverinfo": "text", "unselected": {"marker": {"opacity": 0.45}}}
    figure.add_bar(
        **place,
        y=accuracy,
        marker={"color": IN + "38", "line": {"width": 1, "color": IN}},
        hovertext=texts,
        showlegend=False,
        **common,
    )
    for name, sign, colour, shape in (
        ("too confident", -1, WRONG, "/"),
        ("not confident enough", 1, "#009E73", "\\"),
    ):
        here = np.sign(gap) == sign
        figure.add_bar(
            x=left[here],
            width=width[here],
            offset=0,
            customdata=full[here],
            base=np.minimum(accuracy, bins.confidence[full])[here],
            y=np.abs(gap[here]),
            marker={
                "color": colour + "30",
                "pattern": hatch(shape, colour) | {"size": 7},
            },
            hovertext=texts[here],
            name=name,
            **common,
        )
    figure.add_trace(diagonal(theme))
    figure.add_trace(
        bin_points(bins, label, RUN_STYLES[0], theme).update(
            customdata=full, unselected=common["unselected"]
        )
    )
    if other is not None:
        figure.add_trace(bin_points(*other, RUN_STYLES[1], theme).update(mode="lines+markers"))
    roomy = other is None and width.min() >= NARROW
    figure.add_bar(
        **place,
        y=bins.count[full],
        marker={"color": IN, "line": {"width": 1, "color": theme.background}},
        text=[f"{count:,}" for count in bins.count[full]] if roomy else None,
        textposition="outside",
        textangle=0,
        cliponaxis=False,
        hovertext=texts,
        showlegend=False,
        row=2,
        col=1,
        **common,
    )
    if other is not None:
        theirs = other[0]
        figure.add_trace(
            go.Scatter(
                x=np.repeat(theirs.edges, 2),
                y=np.concatenate([[0], np.repeat(theirs.count, 2), [0]]),
                mode="lines",
                line={"color": RUN_STYLES[1].colour, "dash": RUN_STYLES[1].dash, "width": 2},
                hoverinfo="skip",
                showlegend=False,
            ),
            row=2,
            col=1,
        )
    apply_style(figure, theme, height=480).update_layout(barmode="overlay", bargap=0)
    figure.update_xaxes(range=[0, 1.01])
    figure.update_xaxes(title="confidence in the predicted class", tickformat=".0%", row=2)
    figure.update_yaxes(title="share that is right", range=[0, 1.02], tickformat=".0%", row=1)
    highest = max([*bins.count, *(other[0].count if other else ())])
    figure.update_yaxes(title=theme.noun.many, range=[0, 1.35 * highest], nticks=4, row=2)
    return figure


def bin_points(bins: ReliabilityBins, label: str, style: RunStyle, theme: Theme) -> go.Scatter:
    """Accuracy against mean confidence of the bins that hold a node, with Wilson intervals."""
    full = np.flatnonzero(bins.count)
    accuracy = bins.accuracy[full]
    return go.Scatter(
        x=bins.confidence[full],
        y=accuracy,
        mode="markers",
        marker={
            "color": style.colour,
            "symbol": style.symbol,
            "size": 9,
            "line": {"width": 1, "color": theme.background},
        },
        line={"color": style.colour, "dash": style.dash, "width": 2},
        error_y={
            "array": bins.high[full] - accuracy,
            "arrayminus": accuracy - bins.low[full],
            "color": style.colour,
            "thickness": 1.5,
            "width": 4,
        },
        text=_texts(bins, theme.noun),
        hovertemplate="%{text}<extra>%{fullData.name}</extra>",
        name=escape_markup(label),
    )


def _texts(bins: ReliabilityBins, noun: Noun) -> list[str]:
    columns = (bins.accuracy, bins.low, bins.high, bins.confidence, bins.count)
    return [
        f"{right:.1%} right ({low:.0%} to {high:.0%})<br>"
        f"{sure:.1%} confident on average<br>{noun.count(int(count))}"
        for right, low, high, sure, count in zip(*columns, strict=True)
        if count
    ]


def diagonal(theme: Theme) -> go.Scatter:
    """Where confidence and accuracy are equal."""
    return go.Scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": theme.text, "width": 1, "dash": "dot"},
        hoverinfo="skip",
        name="perfect",
    )


def confidence_histogram(
    confidence: np.ndarray, correct: np.ndarray, theme: Theme, bins: int = 20
) -> go.Figure:
    """How many nodes the model is how sure of, right and wrong ones stacked.

    A bar carries twice its number as ``customdata``, and one more if its answers are wrong.
    """
    correct = np.asarray(correct, dtype=bool)
    edges = np.linspace(0, 1, bins + 1)
    figure = go.Figure()
    for name, group, colour, pattern in (
        ("right", correct, IN, ""),
        ("wrong", ~correct, WRONG, "/"),
    ):
        figure.add_bar(
            x=edges[:-1],
            y=np.histogram(confidence[group], edges)[0],
            customdata=2 * np.arange(bins) + (name == "wrong"),
            width=1 / bins,
            offset=0,
            marker={
                "color": colour,
                "line": {"width": 1, "color": theme.background},
                "pattern": hatch(pattern, theme.background),
            },
            hovertext=[f"{a:.0%} to {b:.0%} confident" for a, b in pairwise(edges)],
            hovertemplate=theme.noun.apply_to("%{y:,} nodes, %{hovertext}"),
            name=name,
        )
    apply_style(figure, theme)
    lines = [
        (confidence.mean(), "mean confidence", "dash"),
        (correct.mean(), "accuracy", "solid"),
    ]
    # Each label has a row of its own above the chart and lies on the side of its line with more
    # room; the outer line has the upper row, so that no line crosses a label.
    row = 1.5 * theme.font_size
    to_left = lines[0][0] + lines[1][0] >= 1
    for height, (value, name, dash) in enumerate(sorted(lines, reverse=not to_left)):
        line = {"color": theme.text, "width": 2, "dash": dash}
        figure.add_shape(type="line", x0=value, x1=value, y0=0, y1=1, yref="paper", line=line)
        figure.add_annotation(
            x=value,
            y=1,
            yref="paper",
            text=f"{name} {value:.1%}",
            ax=0,
            ay=-row * (height + 0.7),
            xanchor="right" if to_left else "left",
            arrowhead=0,
            arrowwidth=1,
            arrowcolor=theme.text,
            standoff=0,
        )
    figure.update_layout(
        barmode="stack",
        bargap=0,
        margin_t=round(3.6 * row),
        legend={"yanchor": "top", "y": 0.98, "x": 0.02, "orientation": "v"},
    )
    figure.update_xaxes(
        title="confidence in the predicted class", range=[0, 1.01], tickformat=".0%"
    )
    return figure.update_yaxes(title=theme.noun.many)


def set_size_figure(size: np.ndarray, covered: np.ndarray, classes: int, theme: Theme) -> go.Figure:
    """How many nodes get a set of how many classes, by whether it contains the true one.

    A bar carries twice its size as ``customdata``, and one more if the sets miss the true class.
    """
    covered = np.asarray(covered, dtype=bool)
    figure = go.Figure()
    for name, group, colour, pattern in (
        ("contains the true class", covered, IN, ""),
        ("misses it", ~covered, WRONG, "/"),
    ):
        figure.add_bar(
            x=np.arange(classes + 1),
            y=np.bincount(size[group], minlength=classes + 1),
            customdata=2 * np.arange(classes + 1) + (name == "misses it"),
            marker={"color": colour, "pattern": hatch(pattern, theme.background)},
            hovertemplate=theme.noun.apply_to("%{y:,} nodes with %{x} classes"),
            name=name,
        )
    apply_style(figure, theme, 320)
    figure.update_layout(barmode="stack", bargap=0.2)
    figure.update_xaxes(title="classes in the set", dtick=1)
    return figure.update_yaxes(title=theme.noun.many)


def risk_coverage_figure(
    curve: RiskCoverage,
    coverage: float,
    theme: Theme,
    label: str = "this run",
    other: tuple[RiskCoverage, str] | None = None,
    nodes: np.ndarray | None = None,
) -> go.Figure:
    """How often the answers are right when only the surest nodes are answered.

    ``nodes`` holds, for each point of the first curve, a node that is answered from there on.
    """
    figure = go.Figure()
    lowest = 1.0
    runs = [(curve, label)] if other is None else [(curve, label), other]
    for (run, name), style in zip(runs, RUN_STYLES, strict=False):
        accuracy, here = 1 - run.risk, run.accuracy_at(coverage)
        figure.add_scatter(
            x=run.coverage,
            y=accuracy,
            customdata=nodes if run is curve else None,
            mode="lines" if len(accuracy) > 30 else "lines+markers",
            line={"color": style.colour, "dash": style.dash, "width": 2.5},
            marker={"color": style.colour, "symbol": style.symbol, "size": 6},
            hovertemplate="%{x:.1%} answered, %{y:.1%} right<extra>%{fullData.name}</extra>",
            name=f"{escape_markup(name)}: {here:.1%} right",
        )
        figure.add_scatter(
            x=[coverage],
            y=[here],
            mode="markers",
            marker={
                "color": style.colour,
                "symbol": style.symbol,
                "size": 14,
                "line": {"width": 2, "color": theme.text},
            },
            hoverinfo="skip",
            showlegend=False,
        )
        # The first few nodes make the rate jump between 0 and 1; they must not set the scale.
        lowest = min(lowest, here, accuracy[run.coverage >= 0.05].min())
    apply_style(figure, theme)
    figure.add_vline(coverage, line={"color": theme.text, "width": 1, "dash": "dot"})
    figure.update_xaxes(
        title=theme.noun.apply_to("share of nodes answered, surest first"), range=[0, 1.02]
    )
    pad = max(0.01, 0.06 * (1 - lowest))
    figure.update_yaxes(title="share of answers that are right", range=[lowest - pad, 1 + pad])
    figure.update_xaxes(tickformat=".0%")
    return figure.update_yaxes(tickformat=".0%")
