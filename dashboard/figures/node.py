"""What does the model think of one node, and why? Charts of the node inspector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bup.errors import BupError
from bup.propagation import Shares
from dashboard.figures.frame import framed, hatch, plain
from dashboard.theme import IN, OUT, WRONG, Theme

MOST_NEIGHBOURS = 12
"""How many neighbours have a bar of their own; the others share one."""

LONGEST_NAME = 26


def probability_bars(
    probs: np.ndarray,
    low: np.ndarray | None,
    high: np.ndarray | None,
    class_names: Sequence[str],
    true_index: int | None,
    theme: Theme,
) -> go.Figure:
    """The probability of each class with its credible interval, prediction and truth marked.

    ``low`` and ``high`` are None for methods that give no interval.
    """
    predicted = int(np.argmax(probs))
    figure = go.Figure()
    rows = np.arange(len(probs))
    for name, here, colour in (
        ("predicted", rows == predicted, IN),
        ("other classes", rows != predicted, IN + ("A0" if theme.dark else "70")),
    ):
        figure.add_bar(
            x=probs[here],
            y=rows[here],
            orientation="h",
            width=0.7,
            marker={"color": colour},
            hovertext=[_hover(i, probs, low, high, class_names) for i in rows[here]],
            hoverinfo="text",
            name=name,
            showlegend=name == "predicted",
        )
    if low is not None and high is not None:
        figure.add_scatter(
            x=probs,
            y=rows,
            mode="markers",
            marker={"color": theme.text, "symbol": "line-ns-open", "size": 8},
            error_x={
                "array": high - probs,
                "arrayminus": probs - low,
                "color": theme.text,
                "thickness": 1.5,
                "width": 4,
            },
            hoverinfo="skip",
            name="credible interval",
        )
    figure.add_scatter(
        x=np.full(len(probs), 1.13),
        y=rows,
        mode="text",
        text=[f"{p:.1%}" if p >= 0.0005 else "&lt;0.1%" for p in probs],
        textposition="middle right",
        hoverinfo="skip",
        showlegend=False,
    )
    if true_index is not None:
        figure.add_scatter(
            x=[1.07],
            y=[true_index],
            mode="markers",
            marker={
                "color": OUT,
                "symbol": "star",
                "size": 13,
                "line": {"width": 1, "color": theme.text},
            },
            hoverinfo="skip",
            name="true class",
        )
    _class_rows(figure, class_names, theme, bold=predicted)
    figure.update_layout(barmode="overlay")
    ticks = [0, 0.25, 0.5, 0.75, 1]
    figure.update_xaxes(title="probability", range=[0, 1.45], tickvals=ticks, tickformat=".0%")
    return figure


def _hover(
    i: int,
    probs: np.ndarray,
    low: np.ndarray | None,
    high: np.ndarray | None,
    class_names: Sequence[str],
) -> str:
    span = "" if low is None or high is None else f"<br>{low[i]:.1%} to {high[i]:.1%}"
    return f"{plain(class_names[i])}: {probs[i]:.1%}{span}"


def message_figure(
    mean: np.ndarray, std: np.ndarray | None, class_names: Sequence[str], theme: Theme
) -> go.Figure:
    """The Gaussian of each class's message, one ridge per class, with its mean and std.

    Ridges are drawn equally high: their width is the uncertainty. ``std`` is None for methods
    whose messages are plain numbers.
    """
    figure = go.Figure()
    rows = np.arange(len(mean))
    hover = [f"{plain(name)}: {m:.3f}" for name, m in zip(class_names, mean, strict=True)]
    if std is not None:
        hover = [f"{text} ± {s:.3f}" for text, s in zip(hover, std, strict=True)]
        z = np.linspace(-3, 3, 61)
        bell = 0.85 * np.exp(-(z**2) / 2)
        # Rows count downwards, so a ridge rises towards smaller numbers.
        for i in rows:
            figure.add_scatter(
                x=mean[i] + std[i] * z,
                y=i - bell,
                mode="lines",
                line={"color": IN, "width": 1.5},
                hoverinfo="skip",
                showlegend=False,
            )
            figure.add_scatter(
                x=mean[i] + std[i] * z[[0, -1]],
                y=[i, i],
                mode="lines",
                line={"color": IN, "width": 0.5},
                fill="tonexty",
                fillcolor=IN + "38",
                hoverinfo="skip",
                showlegend=False,
            )
    figure.add_scatter(
        x=mean,
        y=rows,
        mode="markers",
        marker={
            "color": OUT,
            "symbol": "diamond",
            "size": 9,
            "line": {"width": 1, "color": theme.text},
        },
        error_x=None if std is None else {"array": std, "color": theme.text, "width": 4},
        hovertext=hover,
        hoverinfo="text",
        name="mean" if std is None else "mean ± std",
        showlegend=True,
    )
    _class_rows(figure, class_names, theme, above=1.0 if std is not None else 0.6)
    return figure.update_xaxes(title="message: higher speaks for the class")


def shares_figure(
    steps: tuple[Shares, ...], neighbour_ids: Sequence[str], theme: Theme
) -> go.Figure:
    """What each neighbour did to the node's variance, step by step, from before to after.

    Numbers are means over the hidden dimensions. ``neighbour_ids`` are in the order of the
    neighbours of the steps; a neighbour's bar carries its node index as ``customdata``. The bars
    float, with no bar for before and after: the axis need not begin at 0 to be honest.
    """
    if any(len(step.neighbours) != len(neighbour_ids) for step in steps):
        raise BupError(f"{len(neighbour_ids)} ids do not fit the neighbours: give one each")
    changes = np.array([step.change.mean(axis=1) for step in steps])  # [steps, k]
    own = np.array([step.own.mean() for step in steps])
    order = np.argsort(-np.abs(changes).sum(axis=0), kind="stable")
    shown, rest = order[:MOST_NEIGHBOURS], order[MOST_NEIGHBOURS:]
    if len(rest) == 1:  # "1 other" would take as much room as its name
        shown, rest = order, order[:0]
    names = [_short(neighbour_ids[i]) for i in shown]
    names += [f"{len(rest)} others"] if len(rest) else []
    names += ["the node itself"] if own.any() else []
    names = ["before", *names, "after"]
    figure = make_subplots(
        rows=1,
        cols=len(steps),
        shared_yaxes=True,
        horizontal_spacing=0.06,
        subplot_titles=[f"step {i}" for i in range(1, len(steps) + 1)],
    )
    for column, step in enumerate(steps, start=1):
        parts = list(changes[column - 1, shown])
        parts += [changes[column - 1, rest].sum()] if len(rest) else []
        parts += [own[column - 1]] if own.any() else []
        _add_waterfall(figure, step, np.array(parts), steps[0].neighbours[shown], theme, column)
    framed(figure, theme, height=130 + 26 * len(names))
    figure.update_layout(barmode="overlay", showlegend=False, margin_t=40)
    ticks = {"tickvals": list(range(len(names))), "ticktext": names}
    figure.update_yaxes(range=[len(names) - 0.4, -0.6], showgrid=False, zeroline=False, **ticks)
    return figure.update_xaxes(title="variance", nticks=4)


def _add_waterfall(
    figure: go.Figure,
    step: Shares,
    parts: np.ndarray,
    neighbours: np.ndarray,
    theme: Theme,
    column: int,
) -> None:
    before, after = step.before.mean(), step.after.mean()
    digits = max(2, 3 - int(np.floor(np.log10(max(before, 1e-6)))))
    start = before + np.concatenate([[0.0], np.cumsum(parts)[:-1]]) if len(parts) else parts
    rows = np.arange(1, len(parts) + 1)
    place = {"row": 1, "col": column}
    of_neighbour = np.arange(len(parts)) < len(neighbours)
    for name, sign, colour, pattern in (
        ("took off", parts <= 0, IN, ""),
        ("added", parts > 0, WRONG, "/"),
    ):
        for clickable in (True, False):
            here = sign & (of_neighbour == clickable)
            if not here.any():
                continue
            figure.add_bar(
                x=parts[here],
                base=start[here],
                y=rows[here],
                orientation="h",
                width=0.7,
                customdata=neighbours[here[: len(neighbours)]] if clickable else None,
                marker={
                    "color": colour if clickable else colour + "90",
                    "pattern": hatch(pattern, theme.background),
                },
                text=[f"{change:+.{digits}f}".replace("-", "−") for change in parts[here]],
                textposition="outside",
                hovertemplate="%{text}<extra></extra>",
                name=name,
                **place,
            )
    reached = np.concatenate([[before, after], start, start + parts])
    # Room for the numbers beside the bars, which plotly does not count as part of them.
    room = max(np.ptp(reached), 0.1 * before) * (0.9 if theme.large else 0.55)
    figure.update_xaxes(range=[reached.min() - room, reached.max() + room], **place)
    figure.add_scatter(
        x=[before, after],
        y=[0, len(parts) + 1],
        mode="markers+text",
        marker={"color": theme.text, "symbol": ["circle", "diamond"], "size": 11},
        text=[f"{before:.{digits}f}", f"{after:.{digits}f}"],
        textposition=["middle left", "middle right"],
        hoverinfo="skip",
        showlegend=False,
        **place,
    )


def _class_rows(
    figure: go.Figure,
    class_names: Sequence[str],
    theme: Theme,
    bold: int | None = None,
    above: float = 0.6,
) -> None:
    """One row per class, from the top; rows are numbers, so that equal names cannot merge."""
    names = [_short(name) for name in class_names]
    if bold is not None:
        names[bold] = f"<b>{names[bold]}</b>"
    framed(figure, theme, height=120 + 28 * len(names))
    ticks = {"tickvals": list(range(len(names))), "ticktext": names}
    figure.update_yaxes(range=[len(names) - 0.4, -above], showgrid=False, zeroline=False, **ticks)


def _short(name: str) -> str:
    """A name from the data, cut to fit beside a chart and harmless in it."""
    return plain(name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…")
