"""Why this answer? What nodes contribute to it, for and against, as bars."""

from __future__ import annotations

from functools import partial

import numpy as np
import plotly.graph_objects as go

from bup.explanation.reasons import Contributions, GroupReasons, Reasons
from dashboard.figures.style import apply_style, escape_markup, hatch, marker, row_axis, shorten
from dashboard.ui.theme import AGAINST, FOR, Theme

MOST_NODES = 10
"""How many nodes have a bar of their own; the others share two, one for and one against."""
MOST_WORDS = 3
LEAST_REMAINDER = 5e-4
"""A smaller remainder is rounding."""


def reasons_figure(reasons: Reasons, theme: Theme, most: int = MOST_NODES) -> go.Figure:
    """What the strongest nodes contribute to an answer, for and against it, and the remainder.

    A node's bar carries its index as ``customdata``; a diamond marks those whose class was told.
    """
    values = reasons.contributions
    shown, rest = _strongest(values, most)
    labels, hover = _named(reasons, shown)
    if own := np.flatnonzero(reasons.nodes[shown] == reasons.node).tolist():
        labels[own[0]] = theme.noun.apply_to("the node itself")
    if reasons.graph.words is not None:
        labels = list(map(partial(_with_words, reasons), labels, reasons.nodes[shown]))
    sums = values[shown].tolist()
    for part, side in ((rest[rest > 0], "for"), (rest[rest < 0], "against")):
        if len(part):
            labels.append(f"{len(part):,} other{'s' if len(part) > 1 else ''} {side}")
            hover.append(labels[-1])
            sums.append(float(part.sum()))
    if abs(reasons.remainder) >= LEAST_REMAINDER:
        labels.append("the remainder")
        hover.append(escape_markup(reasons.remainder_name))
        sums.append(reasons.remainder)
    return _bars(reasons, shown, np.array(sums), labels, hover, theme, "contribution", ".2f")


def group_figure(reasons: GroupReasons, theme: Theme, most: int = MOST_NODES) -> go.Figure:
    """What share of the support of a group's answers the strongest nodes carry."""
    values = reasons.contributions / (reasons.support or 1)
    shown, _ = _strongest(values, most)
    return _bars(
        reasons, shown, values[shown], *_named(reasons, shown), theme, "share of all support", ".1%"
    )


def _with_words(reasons: Reasons, label: str, node: int) -> str:
    """A label, and below it the words of the node that contribute most in its direction."""
    sign = np.sign(reasons.contribution(node))
    found = [word for word, value in reasons.strongest_words(node, 9) if sign * value > 0]
    return f"{label}<br><sup>{shorten(', '.join(found[:MOST_WORDS]), 34)}</sup>"


def _strongest(values: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The places of the largest contributions, from for to against, and the other values."""
    shown = np.argsort(-np.abs(values), kind="stable")[:most]
    return shown[np.argsort(-values[shown], kind="stable")], np.delete(values, shown)


def _named(reasons: Contributions, shown: np.ndarray) -> tuple[list[str], list[str]]:
    """The id of each node, and what more is known about it."""
    graph, names = reasons.graph, [*reasons.graph.class_names, "class unknown"]
    hover = []
    for node, told in zip(reasons.nodes[shown], reasons.told[shown], strict=True):
        lines = [graph.name_of(node), names[graph.labels[node]]]
        lines[1:1] = filter(None, [graph.about(node)])
        lines += ["the model was told its class"] * bool(told)
        hover.append("<br>".join(map(escape_markup, lines)))
    return [shorten(graph.name_of(node)) for node in reasons.nodes[shown]], hover


def _bars(
    reasons: Contributions,
    shown: np.ndarray,
    values: np.ndarray,
    labels: list[str],
    hover: list[str],
    theme: Theme,
    axis: str,
    digits: str,
) -> go.Figure:
    """A bar for each value; the first ones are of the nodes in the places ``shown``."""
    nodes, rows = reasons.nodes[shown], np.arange(len(values))
    figure = go.Figure()
    for name, sign, colour, pattern in (
        ("for", values > 0, FOR, ""),
        ("against", values <= 0, AGAINST, "/"),
    ):
        for clickable in (True, False):
            here = rows[sign & ((rows < len(nodes)) == clickable)]
            figure.add_bar(
                x=values[here],
                y=here,
                orientation="h",
                width=0.7,
                customdata=nodes[here] if clickable else None,
                marker={
                    "color": colour if clickable else colour + "90",
                    "pattern": hatch(pattern, theme.background),
                },
                text=[f"{value:+{digits}}".replace("-", "−") for value in values[here]],
                textposition="outside",
                cliponaxis=False,
                textfont={"size": theme.font_size - 2},
                hovertext=[hover[row] for row in here],
                hoverinfo="text",
                name=name,
                showlegend=clickable and len(here) > 0,
            )
    told = rows[: len(nodes)][reasons.told[shown]]
    figure.add_scatter(
        x=np.zeros(len(told)),
        y=told,
        mode="markers",
        cliponaxis=False,
        marker=marker(theme.text, 9, "diamond"),
        hoverinfo="skip",
        name="its class was told",
        showlegend=len(told) > 0,
    )
    # Room for the numbers beside the bars, which plotly does not count as part of them.
    low, high = min(0.0, *values), max(0.0, *values)
    room = 0.2 * (high - low) * (1.5 if theme.large else 1)
    x_axis = {"title": axis, "nticks": 5, "zeroline": True, "tickformat": digits}
    return apply_style(
        figure,
        theme,
        110 + sum(36 if "<br>" in label else 22 for label in labels),
        x=x_axis | {"range": [low - room * (low < 0), high + room]},
        y=row_axis(labels),
        barmode="overlay",
        margin={"t": 30, "b": 44, "r": 8},
    )
