"""Maps as the browser takes them, drawn once and shared by every browser."""

from __future__ import annotations

import base64
import hashlib
import io

import numpy as np
import streamlit as st

from bup.graph import Graph
from bup.spec import Spec
from dashboard.components import map_data
from dashboard.components.chart import Drawing
from dashboard.components.map_data import Parcel
from dashboard.figures.edges import edge_image
from dashboard.figures.map import map_figure
from dashboard.graphs import graph, layout
from dashboard.layouts import Layout
from dashboard.shelf import table
from dashboard.theme import Theme


def edge_picture(name: str, dark: bool) -> str:
    return _edge_picture(*_drawn(name), dark, graph(name), layout(name))


def _drawn(name: str) -> tuple[str, bool]:
    """What a picture of a graph is known by: a large one has two, a first and the finished one."""
    return graph(name).digest, layout(name).finished


@st.cache_resource(max_entries=12, show_spinner=False)
def _edge_picture(digest: str, finished: bool, dark: bool, _graph: Graph, _layout: Layout) -> str:
    picture = edge_image(_layout.points, _graph.edges, Theme(dark=dark))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def map_drawing(spec: Spec, colour: str, theme: Theme, shown: np.ndarray) -> Drawing:
    """The map of a run; drawn once for every way of looking at it."""
    name, look = spec.graph, (colour, theme.dark, theme.large, _digest(shown))
    picture, points = edge_picture(name, theme.dark), layout(name).points
    return _map_drawing(spec.key, _drawn(name), look, spec, theme, shown, picture, points)


def _digest(shown: np.ndarray) -> str:
    return "all" if shown.all() else hashlib.sha256(np.packbits(shown).tobytes()).hexdigest()


@st.cache_resource(max_entries=48, show_spinner=False)
def _map_drawing(
    key: str,
    drawn: tuple[str, bool],
    look: tuple[str, bool, bool, str],
    _spec: Spec,
    _theme: Theme,
    _shown: np.ndarray,
    _picture: str,
    _points: np.ndarray,
) -> Drawing:
    names = graph(_spec.graph).class_names
    return Drawing.of(map_figure(table(_spec), _points, look[0], names, _theme, _picture, _shown))


def graph_parcel(name: str) -> Parcel:
    return _graph_parcel(*_drawn(name), graph(name), layout(name))


@st.cache_resource(max_entries=6, show_spinner=False)
def _graph_parcel(digest: str, finished: bool, _graph: Graph, _layout: Layout) -> Parcel:
    return map_data.graph_parcel(_graph, _layout.points)


def layer_parcel(spec: Spec, colour: str, shown: np.ndarray) -> Parcel:
    """What each node of a run looks like, packed once for every way of looking at it."""
    return _layer_parcel(spec.key, colour, _digest(shown), spec, shown)


@st.cache_resource(max_entries=48, show_spinner=False)
def _layer_parcel(key: str, colour: str, filtered: str, _spec: Spec, _shown: np.ndarray) -> Parcel:
    names = graph(_spec.graph).class_names
    return map_data.layer_parcel(table(_spec), colour, names, _shown)
