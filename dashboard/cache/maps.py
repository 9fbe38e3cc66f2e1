"""Figures and maps in the form that is sent to browsers, cached for all browser sessions."""

from __future__ import annotations

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


def _map_key(graph: Graph) -> Hashable:
    """The map of a large graph exists twice: a first sketch and the finished one."""
    return graph.digest, layout(graph).finished


def _digest(shown: np.ndarray) -> str:
    return "all" if shown.all() else hashlib.sha256(np.packbits(shown).tobytes()).hexdigest()


@cached(by=lambda graph, dark: (_map_key(graph), dark))
def edge_picture(graph: Graph, dark: bool) -> str:
    picture = edge_image(layout(graph).points, graph.edges, Theme(dark=dark))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


@cached(
    by=lambda loaded_run, colour, theme, shown: (
        loaded_run.run,
        _map_key(loaded_run.graph),
        colour,
        theme,
        _digest(shown),
    )
)
def cached_map(loaded_run: LoadedRun, colour: str, theme: Theme, shown: np.ndarray) -> ChartFigure:
    """The map of a run; drawn once for every way of looking at it."""
    graph = loaded_run.graph
    picture, points = edge_picture(graph, theme.dark), layout(graph).points
    return ChartFigure.of(
        map_figure(loaded_run.table, points, colour, graph.class_names, theme, picture, shown)
    )


@cached(by=lambda loaded_run, colour: (loaded_run.run, colour))
def own_limits(loaded_run: LoadedRun, colour: str) -> Limits | None:
    """The scale that fits a run's map."""
    return map_data.own_limits(loaded_run.table, colour)


@cached(by=lambda loaded_run, colour, theme, limits: (loaded_run.run, colour, theme, limits))
def look(loaded_run: LoadedRun, colour: str, theme: Theme, limits: Limits | None) -> dict[str, Any]:
    """What the colours and shapes of a run's map mean."""
    return map_data.look(loaded_run.table, colour, loaded_run.graph.class_names, theme, limits)


@cached(by=lambda graph, window=None: (_map_key(graph), window))
def graph_parcel(graph: Graph, window: Window | None = None) -> Parcel:
    """A graph, or what the map needs of a part of it."""
    return map_data.graph_parcel(graph, layout(graph).points, part_of(graph, window))


@cached(by=lambda graph, window: (_map_key(graph), window))
def part_of(graph: Graph, window: Window | None) -> Excerpt:
    return excerpt(graph, layout(graph).points, window)


@cached(
    by=lambda loaded_run, colour, shown, window=None: (
        loaded_run.run,
        _map_key(loaded_run.graph),
        colour,
        _digest(shown),
        window,
    )
)
def layer_parcel(
    loaded_run: LoadedRun, colour: str, shown: np.ndarray, window: Window | None = None
) -> Parcel:
    """What each node of a run looks like, packed once for every way of looking at it."""
    part = part_of(loaded_run.graph, window)
    return map_data.layer_parcel(
        loaded_run.table, colour, loaded_run.graph.class_names, shown, part
    )
