"""What neighbours do to a variance, rule by rule."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from bup.propagation import Shares
from dashboard.figures.style import apply_style, escape_markup
from dashboard.ui.numbers import signed
from dashboard.ui.theme import IN, WRONG, Theme


def rule_figures(
    steps: Mapping[str, Shares], neighbour_names: Sequence[str], theme: Theme
) -> dict[str, go.Figure]:
    """What every neighbour did to one node's variance: a chart per rule, all on one scale."""
    figures, highest = {}, 0.0
    for rule, step in steps.items():
        before, own, changes = float(step.before[0]), float(step.own[0]), step.change[:, 0].tolist()
        parts = [own, *changes] if own else changes
        names = ["the node itself"] * bool(own) + [escape_markup(name) for name in neighbour_names]
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
        ticks = {"tickvals": list(range(len(values))), "ticktext": ["before", *names, "after"]}
        y_axis = {"autorange": "reversed", "showgrid": False, "zeroline": False} | ticks
        figures[rule] = apply_style(
            go.Figure(bars), theme, 60 + 26 * len(values), y=y_axis, margin_t=10, bargap=0.35
        )
        highest = max(highest, *np.cumsum([before, *parts]))
    for figure in figures.values():
        # Room for the numbers beside the bars, which plotly does not count as part of them.
        figure.update_xaxes(title="variance", range=[0, highest * (1.5 if theme.large else 1.3)])
    return figures
