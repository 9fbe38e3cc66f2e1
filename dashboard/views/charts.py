"""Charts and maps whose points can be clicked, with a caption that explains them."""

from collections.abc import Callable, Sequence
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from dashboard.charts.chart import Chart
from dashboard.components.chart import ChartFigure, Mark, chart
from dashboard.figures.map import MOST_POINTS
from dashboard.session.view import View
from dashboard.views.picking import on_click, pick_node, selected_nodes


def clickable(
    figure: go.Figure | ChartFigure,
    key: str,
    caption: str,
    on_pick: Callable[[int], None],
    marks: Sequence[Mark] = (),
) -> None:
    """A chart whose points can be clicked; ``on_pick`` gets the clicked point's ``customdata``."""
    options = {"toImageButtonOptions": {"format": "svg", "filename": key}, "scrollZoom": False}
    drawing = figure if isinstance(figure, ChartFigure) else ChartFigure.of(figure)
    chart(drawing, key, caption, on_click(key, on_pick), marks=marks, config=options)
    st.caption(caption)


def node_chart(view: View, figure: go.Figure, key: str, caption: str) -> None:
    """A chart whose points are nodes: a click picks one."""
    clickable(figure, key, caption, partial(pick_node, view))


def show(view: View, drawing: Chart, header: bool = True) -> None:
    """A chart of ``dashboard.charts`` whose points are nodes: a click picks one."""
    if header:
        st.header(drawing.title)
    pick = partial(pick_node, view)
    clickable(drawing.figure, drawing.key, drawing.caption, pick, drawing.marks)


def node_map(
    view: View, drawing: ChartFigure, key: str, caption: str, axes: tuple[str, ...] = ("",)
) -> None:
    """A map whose nodes can be clicked or enclosed; a ring marks the picked node."""
    positions = view.positions[list(view.marked)].tolist()
    if view.graph.num_nodes > MOST_POINTS:
        counted = view.graph.noun.count(view.graph.num_nodes)
        caption += f" The map draws {MOST_POINTS:,} of {counted} at random, highlighted ones first."

    def on_group() -> None:
        if nodes := selected_nodes(key):
            st.session_state.group = nodes

    chart(
        drawing,
        key,
        caption,
        on_click(key, partial(pick_node, view)),
        on_group,
        [Mark(x, y, a) for x, y in positions for a in axes],
        {"toImageButtonOptions": {"format": "png", "filename": key, "scale": 2}},
    )
    st.caption(caption)
