"""Charts of the lessons: numbers in, one idea out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bup import metrics
from bup.landscape import Point
from bup.likelihood import ProbabilityDistribution
from bup.metrics import ReliabilityBins
from bup.propagation import Shares
from dashboard.figures.frame import framed, hatch, plain, row_title
from dashboard.figures.reliability import diagonal
from dashboard.theme import IN, OUT, SCORE_SCALE, WRONG, Theme, class_colours

DASHES = ("solid", "dash", "dot")
"""The second cue beside colour."""


def rule_figures(
    steps: Mapping[str, Shares], neighbour_names: Sequence[str], theme: Theme
) -> dict[str, go.Figure]:
    """What every neighbour did to one node's variance: a chart per rule, all on one scale."""
    figures, highest = {}, 0.0
    for rule, step in steps.items():
        before, own, changes = float(step.before[0]), float(step.own[0]), step.change[:, 0].tolist()
        parts = [own, *changes] if own else changes
        names = ["the node itself"] * bool(own) + [plain(name) for name in neighbour_names]
        values = [before, *parts, before + sum(parts)]
        bars = go.Waterfall(
            orientation="h",
            measure=["absolute", *["relative"] * len(parts), "total"],
            x=values,
            y=list(range(len(values))),
            text=[f"{before:.2f}", *(signed(part) for part in parts), f"{values[-1]:.2f}"],
            textposition="outside",
            hoverinfo="skip",
            decreasing={"marker": {"color": IN}},
            increasing={"marker": {"color": WRONG}},
            totals={"marker": {"color": "#8C8C8C"}},
            connector={"line": {"color": theme.faint, "width": 1}},
        )
        figure = framed(go.Figure(bars), theme, height=100 + 30 * len(values))
        ticks = {"tickvals": list(range(len(values))), "ticktext": ["before", *names, "after"]}
        figure.update_layout(margin_t=10, bargap=0.35)
        figure.update_yaxes(autorange="reversed", showgrid=False, zeroline=False, **ticks)
        figures[rule] = figure
        highest = max(highest, *np.cumsum([before, *parts]))
    for figure in figures.values():
        # Room for the numbers beside the bars, which plotly does not count as part of them.
        figure.update_xaxes(title="variance", range=[0, highest * (1.5 if theme.large else 1.3)])
    return figures


def signed(number: float) -> str:
    return f"{number:+.2f}".replace("-", "−")


def messages_figure(
    mean: Sequence[float],
    std: Sequence[float],
    names: Sequence[str],
    draw: np.ndarray,
    theme: Theme,
) -> go.Figure:
    """One bell curve per class on a common axis, equally high, with one draw from each."""
    figure = go.Figure()
    z = np.linspace(-4, 4, 121)
    colours = class_colours(names)
    for i, (name, m, s) in enumerate(zip(names, mean, std, strict=True)):
        figure.add_scatter(
            x=m + s * z,
            y=np.exp(-(z**2) / 2),
            mode="lines",
            line={"color": colours[name], "width": 2.5, "dash": DASHES[i % len(DASHES)]},
            fill="tozeroy",
            fillcolor=colours[name] + "30",
            hoverinfo="skip",
            name=plain(name),
        )
        figure.add_scatter(
            x=[draw[i]],
            y=[0.04],
            mode="markers",
            marker={
                "color": colours[name],
                "symbol": "x",
                "size": 16 if draw[i] == draw.max() else 10,
                "line": {"width": 1.5, "color": theme.text},
            },
            hovertext=f"{plain(name)}: {draw[i]:.2f}",
            hoverinfo="text",
            showlegend=False,
        )
    framed(figure, theme, height=240)
    figure.update_yaxes(visible=False, range=[0, 1.08])
    # A fixed axis: what moves is the curve, not the frame.
    return figure.update_xaxes(title="message: higher speaks for the class", range=[-5, 5])


def wins_figure(
    draws: np.ndarray, chances: np.ndarray, names: Sequence[str], theme: Theme
) -> go.Figure:
    """Which class won each draw [classes, draws], stacked up, against the exact probability."""
    winner = draws.argmax(axis=0)
    total = draws.shape[1]
    colours = class_colours(names)
    figure = go.Figure()
    rows = np.arange(len(names))
    counts = np.bincount(winner, minlength=len(names))
    figure.add_scatter(
        x=np.concatenate([np.arange(c) + 0.5 for c in counts]) / total,
        y=np.repeat(rows, counts),
        mode="markers",
        marker={
            "color": np.repeat([colours[name] for name in names], counts),
            "symbol": "line-ns-open",
            "size": 14,
            "line": {"width": 3},
        },
        hoverinfo="skip",
        showlegend=False,
    )
    for row, chance in zip(rows, chances, strict=True):
        figure.add_shape(
            type="line",
            x0=chance,
            x1=chance,
            y0=row - 0.42,
            y1=row + 0.42,
            line={"color": theme.text, "width": 3},
        )
    framed(figure, theme, height=180)
    ticks = {"tickvals": rows, "ticktext": [plain(name) for name in names]}
    figure.update_yaxes(range=[len(names) - 0.4, -0.6], showgrid=False, zeroline=False, **ticks)
    title = "share of the draws that the class won"
    return figure.update_xaxes(title=title, range=[0, 1.01], tickformat=".0%")


def densities_figure(
    grid: np.ndarray,
    density: np.ndarray,
    chances: ProbabilityDistribution,
    names: Sequence[str],
    theme: Theme,
) -> go.Figure:
    """The density [classes, grid] of every class's probability, its interval and its mean.

    Ridges are drawn equally high: where a curve is wide, the probability is unsure.
    """
    figure = go.Figure()
    colours = class_colours(names)
    low, middle, high = (np.asarray(t[0]) for t in (chances.low, chances.mean, chances.high))
    for row, name in enumerate(names):
        shape = density[row] / max(float(density[row].max()), 1e-12)
        figure.add_scatter(
            x=np.concatenate([grid, grid[::-1]]),
            y=np.concatenate([row - 0.75 * shape, np.full(len(grid), float(row))]),
            mode="lines",
            line={"color": colours[name], "width": 2},
            fill="toself",
            fillcolor=colours[name] + "40",
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            x=[low[row], high[row]],
            y=[row + 0.08] * 2,
            mode="lines",
            line={"color": theme.text, "width": 5},
            hoverinfo="skip",
            name=f"{chances.level:.0%} credible interval",
            showlegend=row == 0,
        )
        figure.add_scatter(
            x=[middle[row]],
            y=[row + 0.08],
            mode="markers",
            marker={
                "color": colours[name],
                "size": 13,
                "line": {"width": 2, "color": theme.text},
            },
            hovertext=f"{middle[row]:.1%} ({low[row]:.1%} to {high[row]:.1%})",
            hoverinfo="text",
            name="mean",
            showlegend=row == 0,
        )
    framed(figure, theme, height=330)
    ticks = {"tickvals": list(range(len(names))), "ticktext": [plain(name) for name in names]}
    figure.update_yaxes(range=[len(names) - 0.6, -1.0], showgrid=False, zeroline=False, **ticks)
    return figure.update_xaxes(title="probability to win", range=[-0.01, 1.01], tickformat=".0%")


def answers_figure(
    groups: Mapping[str, tuple[np.ndarray, bool]], threshold: float, theme: Theme, bins: int = 25
) -> go.Figure:
    """Confidence by group, one panel each; what is at or above the threshold is drawn solid.

    ``groups`` maps a name to the confidences and whether the group's class was hidden.
    """
    edges = np.linspace(0, 1, bins + 1)
    figure = make_subplots(rows=len(groups), cols=1, shared_xaxes=True, vertical_spacing=0.12)
    looks = [(IN, ""), (WRONG, "/"), (OUT, "x")]
    for row, (name, (values, hidden)) in enumerate(groups.items(), start=1):
        colour, pattern = looks[2] if hidden else looks[row - 1]
        _threshold_bars(figure, row, values, edges, threshold, colour, pattern, theme)
        above = float((values >= threshold).mean()) if len(values) else 0.0
        row_title(figure, row, f"<b>{plain(name)}</b>: {above:.0%} of {len(values):,} believed")
    framed(figure, theme, height=100 + 110 * len(groups))
    figure.update_layout(barmode="overlay", bargap=0, margin_t=34)
    figure.update_yaxes(tickformat=".0%", nticks=3, rangemode="tozero")
    figure.update_xaxes(range=[0, 1.01], tickformat=".0%")
    return figure.update_xaxes(title="confidence in the predicted class", row=len(groups))


def _threshold_bars(
    figure: go.Figure,
    row: int,
    values: np.ndarray,
    edges: np.ndarray,
    threshold: float,
    colour: str,
    pattern: str,
    theme: Theme,
) -> None:
    """A histogram as shares, pale, and solid what reaches the threshold, which a line marks.

    A bin that the threshold cuts is solid as far as its papers are.
    """
    for part, opacity in ((values, 0.25), (values[values >= threshold], 1.0)):
        figure.add_bar(
            x=edges[:-1],
            y=np.histogram(part, edges)[0] / max(len(values), 1),
            width=np.diff(edges),
            offset=0,
            marker={
                "color": colour,
                "opacity": opacity,
                "line": {"width": 0},
                "pattern": hatch(pattern, theme.background),
            },
            hoverinfo="skip",
            showlegend=False,
            row=row,
            col=1,
        )
    line = {"color": theme.text, "width": 2, "dash": "dash"}
    figure.add_vline(threshold, line=line, row=row, col=1)


def threshold_figure(
    doubt: np.ndarray,
    unseen: np.ndarray,
    threshold: float,
    title: str,
    theme: Theme,
    bins: int = 40,
) -> go.Figure:
    """Doubt among papers of known and of unseen classes; what reaches the threshold is solid."""
    edges = np.histogram_bin_edges(doubt, bins)
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.17)
    for row, (name, values, colour, pattern) in enumerate(
        (
            ("known classes", doubt[~unseen], IN, ""),
            ("the unseen class", doubt[unseen], OUT, "x"),
        ),
        start=1,
    ):
        _threshold_bars(figure, row, values, edges, threshold, colour, pattern, theme)
        flagged = float((values >= threshold).mean()) if len(values) else 0.0
        row_title(figure, row, f"<b>{name}</b>: {flagged:.0%} of {len(values):,} flagged")
    framed(figure, theme, height=300)
    figure.update_layout(barmode="overlay", bargap=0, margin_t=34)
    figure.update_yaxes(tickformat=".0%", nticks=3, rangemode="tozero")
    return figure.update_xaxes(title=title, row=2)


def drawn_roc_figure(
    doubt: np.ndarray, unseen: np.ndarray, threshold: float, theme: Theme
) -> go.Figure:
    """The ROC curve as far as the threshold has drawn it, the rest faint."""
    curve = metrics.roc(doubt, unseen)
    flagged = doubt >= threshold
    here = float(flagged[~unseen].mean()), float(flagged[unseen].mean())
    drawn = curve.threshold >= threshold
    figure = go.Figure()
    figure.add_scatter(
        x=curve.false_positive_rate,
        y=curve.true_positive_rate,
        mode="lines",
        line={"color": "#56B4E9", "width": 1.5, "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        x=[*curve.false_positive_rate[drawn], here[0]],
        y=[*curve.true_positive_rate[drawn], here[1]],
        mode="lines",
        line={"color": IN, "width": 3.5},
        hoverinfo="skip",
        name="drawn so far",
    )
    figure.add_scatter(
        x=[here[0]],
        y=[here[1]],
        mode="markers",
        marker={"color": OUT, "size": 15, "line": {"width": 2, "color": theme.text}},
        hovertemplate="%{y:.0%} caught, %{x:.0%} flagged by mistake<extra></extra>",
        name="your threshold",
    )
    figure.add_trace(diagonal(theme).update(name="a coin"))
    framed(figure, theme, height=380)
    figure.update_xaxes(
        title="share of known papers flagged by mistake", range=[-0.01, 1.01], tickformat=".0%"
    )
    return figure.update_yaxes(
        title="share of unseen papers caught", range=[-0.01, 1.02], tickformat=".0%"
    )


MOST_DOTS = 500


def dots_figure(
    bins: ReliabilityBins, confidence: np.ndarray, correct: np.ndarray, sweep: float, theme: Theme
) -> go.Figure:
    """Answers as dots, right ones above and wrong ones below, and the bars that they make.

    Bins that end at or below ``sweep`` are filled. Beyond 500 answers, 500 dots stand for them.
    """
    figure = go.Figure()
    filled = np.flatnonzero((bins.edges[1:] <= sweep + 1e-9) & (bins.count > 0))
    left, width = bins.edges[filled], np.diff(bins.edges)[filled]
    accuracy, gap = bins.accuracy[filled], bins.gap[filled]
    figure.add_bar(
        x=left,
        width=width,
        offset=0,
        y=accuracy,
        marker={"color": IN + "50", "line": {"width": 1.5, "color": IN}},
        text=[f"{a:.0%}" for a in accuracy] if len(bins.count) <= 12 else None,
        textposition="inside",
        insidetextanchor="start",
        textfont={"color": theme.text},
        textangle=0,
        hovertext=[
            f"{right:.0%} of {count:,} right, {sure:.0%} sure on average"
            for right, count, sure in zip(
                accuracy, bins.count[filled], bins.confidence[filled], strict=True
            )
        ],
        hoverinfo="text",
        showlegend=False,
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
            base=np.minimum(accuracy, bins.confidence[filled])[here],
            y=np.abs(gap[here]),
            marker={"color": colour + "30", "pattern": hatch(shape, colour) | {"size": 7}},
            hoverinfo="skip",
            name=name,
        )
    figure.add_trace(diagonal(theme).update(showlegend=False))
    figure.add_scatter(
        x=bins.confidence[filled],
        y=bins.confidence[filled],
        mode="markers",
        marker={"color": theme.text, "symbol": "diamond", "size": 9},
        hoverinfo="skip",
        name="mean confidence of the bin",
    )
    for edge in bins.edges:
        line = {"color": theme.faint, "width": 1}
        figure.add_shape(type="line", x0=edge, x1=edge, y0=-0.25, y1=1.25, line=line, layer="below")
    random = np.random.RandomState(0)
    shown = random.permutation(len(confidence))[:MOST_DOTS]
    height = random.random_sample(len(shown))
    right = correct[shown]
    size = 9 if len(shown) <= 100 else 5
    for name, here, low, high, colour, symbol in (
        ("right", right, 1.06, 1.22, IN, "circle"),
        ("wrong", ~right, -0.22, -0.06, WRONG, "x"),
    ):
        figure.add_scatter(
            x=confidence[shown][here],
            y=low + (high - low) * height[here],
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": size, "opacity": 0.75},
            hovertemplate="%{x:.0%} sure<extra></extra>",
            name=name,
        )
    framed(figure, theme, height=470)
    figure.update_layout(barmode="overlay", bargap=0)
    figure.update_xaxes(
        title="confidence in the predicted class", range=[0, 1.01], tickformat=".0%"
    )
    return figure.update_yaxes(
        title="share that is right",
        range=[-0.25, 1.25],
        tickvals=[-0.14, 0, 0.25, 0.5, 0.75, 1, 1.14],
        ticktext=["wrong", "0%", "25%", "50%", "75%", "100%", "right"],
        zeroline=False,
    )


HIGHEST_LOSS = 4.0


def landscape_figure(
    margins: np.ndarray,
    stds: np.ndarray,
    losses: np.ndarray,
    point: Point,
    here: tuple[float, float],
    theme: Theme,
) -> go.Figure:
    """A loss [stds, margins] as a landscape, a point on it, and an arrow downhill from there."""
    figure = go.Figure()
    figure.add_contour(
        x=margins,
        y=stds,
        z=np.minimum(losses, HIGHEST_LOSS),
        zmin=0,
        zmax=HIGHEST_LOSS,
        colorscale=SCORE_SCALE,
        showscale=False,
        contours={
            "start": 0.5,
            "end": HIGHEST_LOSS - 0.5,
            "size": 0.5,
            "showlabels": True,
            "labelfont": {"color": "#FFFFFF", "size": theme.font_size - 1},
        },
        line={"width": 1, "color": "rgba(255,255,255,0.5)"},
        hovertemplate="margin %{x:.1f}, std %{y:.1f}: loss %{z:.2f}<extra></extra>",
    )
    slope = np.array([point.by_margin, point.by_std])
    steepness = float(np.hypot(*slope))
    # The steeper, the longer, up to a length that the chart has room for.
    step = -slope / max(1e-12, steepness) * 0.9 * np.tanh(2 * steepness)
    figure.add_annotation(
        x=here[0] + step[0],
        y=here[1] + step[1],
        ax=here[0],
        ay=here[1],
        axref="x",
        ayref="y",
        arrowhead=2,
        arrowwidth=3,
        arrowcolor="#FFFFFF",
        text="",
    )
    figure.add_scatter(
        x=[here[0]],
        y=[here[1]],
        mode="markers",
        marker={"color": WRONG, "size": 14, "line": {"width": 2, "color": "#FFFFFF"}},
        hoverinfo="skip",
        showlegend=False,
    )
    framed(figure, theme, height=330).update_layout(margin_t=10)
    figure.update_xaxes(title="margin", range=[float(margins[0]), float(margins[-1])])
    return figure.update_yaxes(title="standard deviation", range=[float(stds[0]), float(stds[-1])])


def truth_figure(
    confidence: np.ndarray, truth: np.ndarray, correct: np.ndarray, theme: Theme
) -> go.Figure:
    """A network's confidence against the true probability of its answer, node by node."""
    figure = go.Figure()
    for name, here, colour, symbol in (
        ("right", correct, IN, "circle"),
        ("wrong", ~correct, WRONG, "x"),
    ):
        figure.add_scatter(
            x=confidence[here],
            y=truth[here],
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 6, "opacity": 0.6},
            hovertemplate="%{x:.0%} sure, should be %{y:.0%}<extra></extra>",
            name=f"answer {name}",
        )
    figure.add_trace(diagonal(theme).update(name="as sure as it should be"))
    framed(figure, theme, height=430)
    figure.update_xaxes(title="confidence of the network", range=[0, 1.02], tickformat=".0%")
    return figure.update_yaxes(
        title="true probability of its answer", range=[-0.02, 1.03], tickformat=".0%"
    )
