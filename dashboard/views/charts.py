"""Charts with their meaning below them, and charts whose points can be picked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import plotly.graph_objects as go
import streamlit as st

from dashboard.components import chart as component
from dashboard.components.chart import ChartFigure, Mark
from dashboard.figures.map import MOST_POINTS
from dashboard.session.view import View
from dashboard.views.picking import pick_node


def chart(figure: go.Figure, key: str, caption: str) -> None:
    """A chart with two sentences of meaning below it, which are also its name."""
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["sendChartToCloud"],  # nothing leaves this machine
        "toImageButtonOptions": {"format": "svg", "filename": key, "scale": 2},
    }
    st.plotly_chart(figure, width="stretch", theme=None, key=key, config=config, alt=caption)
    st.caption(caption)


def clickable(
    figure: go.Figure | ChartFigure,
    key: str,
    caption: str,
    on_pick: Callable[[int], None],
    marks: Sequence[Mark] = (),
) -> None:
    """A chart whose points can be clicked; ``on_pick`` gets the clicked point's ``customdata``."""

    def clicked() -> None:
        found = component.clicked_node(key)
        if found is not None:
            on_pick(found)

    options = {"toImageButtonOptions": {"format": "svg", "filename": key}, "scrollZoom": False}
    drawing = figure if isinstance(figure, ChartFigure) else ChartFigure.of(figure)
    component.chart(drawing, key, caption, clicked, marks=marks, config=options)
    st.caption(caption)


def node_map(
    view: View, drawing: ChartFigure, key: str, caption: str, axes: tuple[str, ...] = ("",)
) -> None:
    """A map whose points can be clicked or enclosed; the picked node is ringed."""
    places = view.positions[list(view.marked)].tolist()
    if view.graph.num_nodes > MOST_POINTS:
        counted = view.graph.noun.count(view.graph.num_nodes)
        caption += f" Of {counted}, {MOST_POINTS:,} are drawn, chosen at random; lit ones first."

    def on_pick() -> None:
        node = component.clicked_node(key)
        if node is not None:
            pick_node(view, node)

    def on_group() -> None:
        if nodes := component.selected_nodes(key):
            st.session_state.group = nodes

    component.chart(
        drawing,
        key,
        caption,
        on_pick,
        on_group,
        [Mark(x, y, a) for x, y in places for a in axes],
        {"toImageButtonOptions": {"format": "png", "filename": key, "scale": 2}},
    )
    st.caption(caption)
