"""How much people disagree about things, and how much a model doubts them."""

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from dashboard.figures.style import apply_style, escape_markup, marker, percent_axis, row_axis
from dashboard.ui.theme import IN, OUT, Theme


class Filed(NamedTuple):
    """A thing, what there is to read of it, and how people and a model file it."""

    name: str
    about: str
    disagreement: float  # the share of answers of people that are not the most frequent one
    doubt: float  # the probability that the model gives to other classes than its answer
    agrees: bool  # the model's answer is the most frequent one of people


def people_figure(things: Sequence[Filed], whose: str, with_model: bool, theme: Theme) -> go.Figure:
    """A row for each thing: a bar for people, and a mark for the model."""
    names, rows = [escape_markup(thing.name) for thing in things], list(range(len(things)))
    hover = [f"<b>{escape_markup(t.name)}</b><br>{escape_markup(t.about)}" for t in things]
    figure = go.Figure(
        go.Bar(
            x=[thing.disagreement for thing in things],
            y=rows,
            orientation="h",
            marker={"color": IN},
            name=whose,
            hovertext=hover,
            hoverinfo="text+x",
        )
    )
    for symbol, agrees in (("diamond", True), ("x", False)) if with_model else ():
        marked = [row for row in rows if things[row].agrees == agrees]
        figure.add_scatter(
            x=[things[row].doubt for row in marked],
            y=marked,
            mode="markers",
            marker=marker(OUT, 11, symbol, {"color": theme.text, "width": 1}),
            name="the model" if agrees else "the model, with another answer",
            hovertext=[hover[row] for row in marked],
            hoverinfo="text+x",
        )
    x_axis = percent_axis("share of other classes than the most likely one", -0.01, 0.8)
    y_axis = row_axis(names)
    return apply_style(figure, theme, 110 + 22 * len(rows), x=x_axis, y=y_axis, bargap=0.35)
