"""Why is the model unsure of one node? What its neighbours did to its variance."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bup.errors import BupError
from bup.propagation import Shares
from dashboard.figures.style import apply_style, hatch, marker, row_axis, shorten
from dashboard.ui.numbers import signed
from dashboard.ui.theme import IN, WRONG, Theme

MOST_NEIGHBOURS = 8
"""How many neighbours have a bar of their own; the others share one bar."""


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
    names = [shorten(neighbour_ids[i]) for i in shown]
    names += [f"{len(rest)} others"] if len(rest) else []
    names += [theme.noun.apply_to("the node itself")] if own.any() else []
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
    x_axis = {"title": "variance", "nticks": 4}
    y_axis = row_axis(names)
    return apply_style(
        figure,
        theme,
        100 + 20 * len(names),
        x=x_axis,
        y=y_axis,
        barmode="overlay",
        showlegend=False,
        margin={"t": 30, "b": 44, "r": 8},
    )


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
                text=[signed(change, digits) for change in parts[here]],
                textposition="outside",
                cliponaxis=False,
                textfont={"size": theme.font_size - 2},
                hovertemplate="%{text}<extra></extra>",
                name=name,
                **place,
            )
    reached = np.concatenate([[before, after], start, start + parts])
    # Room for the numbers beside the bars, which plotly does not count as part of them.
    room = max(np.ptp(reached), 0.1 * before) * (1.5 if theme.large else 1)
    most, least = 1.15 * room, 0.5 * room  # most where the bars lead
    left, right = (most, least) if after <= before else (least, most)
    figure.update_xaxes(range=[reached.min() - left, reached.max() + right], **place)
    figure.add_scatter(
        x=[before, after],
        y=[0, len(parts) + 1],
        mode="markers+text",
        marker=marker(theme.text, 11, ["circle", "diamond"]),
        text=[f"{before:.{digits}f}", f"{after:.{digits}f}"],
        textposition=["middle left", "middle right"],
        hoverinfo="skip",
        showlegend=False,
        **place,
    )
