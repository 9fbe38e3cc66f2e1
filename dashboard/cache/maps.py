"""Figures and maps in the form that is sent to browsers, cached for all browser sessions."""

import base64
import hashlib
import io
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import plotly.graph_objects as go

from bup.graph import Graph
from dashboard.cache.graphs import layout
from dashboard.cache.run_cache import LoadedRun
from dashboard.cache.shared_cache import cached, cached_call
from dashboard.components.chart import ChartFigure
from dashboard.components.map import map_data
from dashboard.components.map.excerpts import Excerpt, Window, excerpt
from dashboard.components.map.map_data import Limits
from dashboard.components.map.parcels import Parcel
from dashboard.figures.edges import edge_image
from dashboard.figures.map import map_figure
from dashboard.ui.theme import Theme


def cached_figure(make_figure: Callable[..., go.Figure], *args: Any) -> ChartFigure:
    """The figure of these arguments, cached by their content."""
    return cached_call(_chart_figure, make_figure, *args)


def _chart_figure(make_figure: Callable[..., go.Figure], *args: Any) -> ChartFigure:
    return ChartFigure.of(make_figure(*args))


def _key(*args: Any, **options: Any) -> Hashable:
    """What tells the arguments of the functions below apart; options that are None do not count."""
    values = (*args, *options.values())
    return tuple(_part(value) for value in values if value is not None)


def _part(value: Any) -> Hashable:
    if isinstance(value, LoadedRun):
        return value.run, _part(value.graph)
    if isinstance(value, Graph):  # a large one is drawn twice: a first sketch and the finished map
        return value.digest, layout(value).finished
    if isinstance(value, np.ndarray):
        return "all" if value.all() else hashlib.sha256(np.packbits(value).tobytes()).hexdigest()
    return value


@cached(by=_key)
def edge_picture(graph: Graph, dark: bool) -> str:
    picture = edge_image(layout(graph).points, graph.edges, Theme(dark=dark))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


@cached(by=_key)
def cached_map(run: LoadedRun, colour: str, theme: Theme, mask: np.ndarray) -> ChartFigure:
    """The map of a run with the nodes of a mask [n] as a figure."""
    picture, points = edge_picture(run.graph, theme.dark), layout(run.graph).points
    classes = run.graph.class_names
    return ChartFigure.of(map_figure(run.table, points, colour, classes, theme, picture, mask))


@cached(by=_key)
def own_limits(run: LoadedRun, colour: str) -> Limits | None:
    """The scale that fits a run's map."""
    return map_data.own_limits(run.table, colour)


@cached(by=_key)
def look(run: LoadedRun, colour: str, theme: Theme, limits: Limits | None) -> dict[str, Any]:
    """The legend of a run's map: what its colours and shapes mean."""
    return map_data.look(run.table, colour, run.graph.class_names, theme, limits)


@cached(by=_key)
def graph_parcel(graph: Graph, window: Window | None = None) -> Parcel:
    """A graph, or the nodes of a window, packed for the map."""
    return map_data.graph_parcel(graph, layout(graph).points, part_of(graph, window))


@cached(by=_key)
def part_of(graph: Graph, window: Window | None) -> Excerpt:
    """The part of a graph that the map draws in a window."""
    return excerpt(graph, layout(graph).points, window)


@cached(by=_key)
def layer_parcel(
    run: LoadedRun, colour: str, mask: np.ndarray, window: Window | None = None
) -> Parcel:
    """The colour and shape of each node of a run, packed for the map."""
    part = part_of(run.graph, window)
    return map_data.layer_parcel(run.table, colour, run.graph.class_names, mask, part)
