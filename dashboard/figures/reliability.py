"""Charts of calibration, and of answering only when sure."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bup import metrics
from bup.graph.noun import Noun
from bup.metrics import ReliabilityBins, RiskCoverage
from bup.results.result import EvalSet
from dashboard.figures.style import (
    RUN_STYLES,
    RunStyle,
    apply_style,
    diagonal,
    error_bars,
    escape_markup,
    hatch,
    histogram_outline,
    line,
    percent_axis,
)
from dashboard.ui.theme import IN, WRONG, Theme

NARROW = 0.045
"""Bins below this share of the axis are too narrow for their count above the bar."""


def reliability_figure(
    bins: ReliabilityBins,
    theme: Theme,
    label: str = "this run",
    other: tuple[ReliabilityBins, str] | None = None,
) -> go.Figure:
    """How often the nodes of each confidence are right, above how many nodes that is.

    ``customdata`` is the number of the bin, for all that shows a bin of the first run.
    """
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, row_heights=[0.77, 0.23], vertical_spacing=0.05
    )
    full = np.flatnonzero(bins.count)
    left, width = bins.edges[full], np.diff(bins.edges)[full]
    texts = np.array(_texts(bins, theme.noun))
    place = {"x": left, "width": width, "offset": 0, "customdata": full}
    common = {"hoverinfo": "text", "unselected": {"marker": {"opacity": 0.45}}}
    figure.add_bar(
        **place,
        y=bins.accuracy[full],
        marker={"color": IN + "38", "line": line(IN, 1)},
        hovertext=texts,
        showlegend=False,
        **common,
    )
    for bars, here in gap_bars(bins, full):
        figure.add_trace(bars.update(customdata=full[here], hovertext=texts[here], **common))
    figure.add_trace(diagonal(theme))
    points = bin_points(bins, label, RUN_STYLES[0], theme)
    figure.add_trace(points.update(customdata=full, unselected=common["unselected"]))
    if other is not None:
        figure.add_trace(bin_points(*other, RUN_STYLES[1], theme).update(mode="lines+markers"))
    roomy = other is None and width.min() >= NARROW
    figure.add_bar(
        **place,
        y=bins.count[full],
        marker={"color": IN, "line": line(theme.background, 1)},
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
    highest = bins.count.max()
    if other is not None:
        highest = max(highest, other[0].count.max())
        outline = histogram_outline(other[0].edges, other[0].count, RUN_STYLES[1])
        figure.add_trace(outline.update(showlegend=False), row=2, col=1)
    apply_style(figure, theme, 480, barmode="overlay", bargap=0)
    figure.update_xaxes(range=[0, 1.01])
    figure.update_xaxes(title="confidence in the predicted class", tickformat=".0%", row=2)
    figure.update_yaxes(percent_axis("share that is right", high=1.02), row=1)
    return figure.update_yaxes(title=theme.noun.many, range=[0, 1.35 * highest], nticks=4, row=2)


def gap_bars(bins: ReliabilityBins, full: np.ndarray) -> Iterator[tuple[go.Bar, np.ndarray]]:
    """Bars between accuracy and mean confidence of these bins, and which of them [k] have one.

    One trace for bins that are too confident, one for those that are not confident enough.
    """
    accuracy, gap = bins.accuracy[full], bins.gap[full]
    bottom = np.minimum(accuracy, bins.confidence[full])
    for name, sign, colour, shape in (
        ("too confident", -1, WRONG, "/"),
        ("not confident enough", 1, "#009E73", "\\"),
    ):
        here = np.sign(gap) == sign
        bars = go.Bar(
            x=bins.edges[full][here],
            width=np.diff(bins.edges)[full][here],
            offset=0,
            base=bottom[here],
            y=np.abs(gap[here]),
            marker={"color": colour + "30", "pattern": hatch(shape, colour) | {"size": 7}},
            name=name,
        )
        yield bars, here


def bin_points(bins: ReliabilityBins, label: str, style: RunStyle, theme: Theme) -> go.Scatter:
    """Accuracy against mean confidence of the bins that hold a node, with Wilson intervals."""
    full = np.flatnonzero(bins.count)
    accuracy = bins.accuracy[full]
    return go.Scatter(
        x=bins.confidence[full],
        y=accuracy,
        mode="markers",
        marker=style.marker(9, line(theme.background, 1)),
        line=style.line(),
        error_y=error_bars(accuracy, bins.low[full], bins.high[full], style.colour),
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


def confidence_histogram(
    confidence: np.ndarray, correct: np.ndarray, theme: Theme, bins: int = 20
) -> go.Figure:
    """How many nodes the model is how sure of, right and wrong ones stacked.

    A bar carries twice its number as ``customdata``, and one more if its answers are wrong.
    """
    correct = np.asarray(correct, dtype=bool)
    edges = np.linspace(0, 1, bins + 1)
    figure = _stacked_bars(
        edges[:-1],
        {
            "right": np.histogram(confidence[correct], edges)[0],
            "wrong": np.histogram(confidence[~correct], edges)[0],
        },
        theme,
        theme.noun.apply_to("%{y:,} nodes, %{hovertext}"),
    )
    figure.update_traces(
        width=1 / bins,
        offset=0,
        marker_line=line(theme.background, 1),
        hovertext=[f"{a:.0%} to {b:.0%} confident" for a, b in pairwise(edges)],
    )
    # Each label has a row of its own above the chart and lies on the side of its line with more
    # room; the outer line has the upper row, so that no line crosses a label.
    row = 1.5 * theme.font_size
    lines = [
        (confidence.mean(), "mean confidence", "dash"),
        (correct.mean(), "accuracy", "solid"),
    ]
    x_axis = percent_axis("confidence in the predicted class")
    y_axis = {"title": theme.noun.many}
    apply_style(
        figure,
        theme,
        x=x_axis,
        y=y_axis,
        barmode="stack",
        bargap=0,
        margin_t=round(3.6 * row),
        legend={"yanchor": "top", "y": 0.98, "x": 0.02, "orientation": "v"},
    )
    to_left = lines[0][0] + lines[1][0] >= 1
    for height, (value, name, dash) in enumerate(sorted(lines, reverse=not to_left)):
        figure.add_vline(value, line=line(theme.text, 2, dash))
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
    return figure


def set_size_figure(size: np.ndarray, covered: np.ndarray, classes: int, theme: Theme) -> go.Figure:
    """How many nodes get a set of how many classes, by whether it contains the true one.

    A bar carries twice its size as ``customdata``, and one more if the sets miss the true class.
    """
    covered = np.asarray(covered, dtype=bool)
    figure = _stacked_bars(
        np.arange(classes + 1),
        {
            "contains the true class": np.bincount(size[covered], minlength=classes + 1),
            "misses it": np.bincount(size[~covered], minlength=classes + 1),
        },
        theme,
        theme.noun.apply_to("%{y:,} nodes with %{x} classes"),
    )
    x_axis = {"title": "classes in the set", "dtick": 1}
    y_axis = {"title": theme.noun.many}
    return apply_style(figure, theme, 320, x=x_axis, y=y_axis, barmode="stack", bargap=0.2)


def _stacked_bars(
    x: np.ndarray, heights: Mapping[str, np.ndarray], theme: Theme, hover: str
) -> go.Figure:
    """Bars of what is right and, hatched, of what is wrong; ``customdata`` is 2 * bar + which."""
    figure = go.Figure()
    looks = ((IN, ""), (WRONG, "/"))
    for which, ((name, height), (colour, pattern)) in enumerate(
        zip(heights.items(), looks, strict=True)
    ):
        figure.add_bar(
            x=x,
            y=height,
            customdata=2 * np.arange(len(x)) + which,
            marker={"color": colour, "pattern": hatch(pattern, theme.background)},
            hovertemplate=hover,
            name=name,
        )
    return figure


def risk_coverage(judged: EvalSet) -> RiskCoverage:
    """How often the answers for these nodes are right, by how many of them are answered."""
    probs, targets, _ = judged
    return metrics.risk_coverage(1 - metrics.confidence(probs), metrics.hits(probs, targets))


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
            line=style.line(2.5),
            marker=style.marker(6),
            hovertemplate="%{x:.1%} answered, %{y:.1%} right<extra>%{fullData.name}</extra>",
            name=f"{escape_markup(name)}: {here:.1%} right",
        )
        figure.add_scatter(
            x=[coverage],
            y=[here],
            mode="markers",
            marker=style.marker(14, line(theme.text, 2)),
            hoverinfo="skip",
            showlegend=False,
        )
        # The first few nodes make the rate jump between 0 and 1; they must not set the scale.
        lowest = min(lowest, here, accuracy[run.coverage >= 0.05].min())
    figure.add_vline(coverage, line=line(theme.text, 1, "dot"))
    pad = max(0.01, 0.06 * (1 - lowest))
    across = theme.noun.apply_to("share of nodes answered, surest first")
    x_axis = percent_axis(across, high=1.02)
    y_axis = percent_axis("share of answers that are right", lowest - pad, 1 + pad)
    return apply_style(figure, theme, x=x_axis, y=y_axis)
