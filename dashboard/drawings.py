"""Maps as the browser takes them, drawn once and shared by every browser."""

from __future__ import annotations

import base64
import hashlib
import io

import numpy as np
import streamlit as st

from bup.spec import Spec
from dashboard.components import map_data
from dashboard.components.chart import Drawing
from dashboard.components.map_data import Parcel
from dashboard.figures.edges import edge_image
from dashboard.figures.map import map_figure
from dashboard.graphs import graph, positions
from dashboard.shelf import table
from dashboard.theme import Theme


@st.cache_resource(max_entries=12, show_spinner=False)
def edge_picture(name: str, dark: bool) -> str:
    picture = edge_image(positions(name), graph(name).edges, Theme(dark=dark))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def map_drawing(spec: Spec, colour: str, theme: Theme, shown: np.ndarray) -> Drawing:
    """The map of a run; drawn once for every way of looking at it."""
    filtered = _digest(shown)
    return _map_drawing(spec.key, colour, theme.dark, theme.large, filtered, spec, theme, shown)


def _digest(shown: np.ndarray) -> str:
    return "all" if shown.all() else hashlib.sha256(np.packbits(shown).tobytes()).hexdigest()


@st.cache_resource(max_entries=48, show_spinner=False)
def _map_drawing(
    key: str,
    colour: str,
    dark: bool,
    large: bool,
    filtered: str,
    _spec: Spec,
    _theme: Theme,
    _shown: np.ndarray,
) -> Drawing:
    name = _spec.graph
    picture = edge_picture(name, dark)
    names = graph(name).class_names
    return Drawing.of(
        map_figure(table(_spec), positions(name), colour, names, _theme, picture, _shown)
    )


@st.cache_resource(max_entries=6, show_spinner=False)
def graph_parcel(name: str) -> Parcel:
    return map_data.graph_parcel(graph(name), positions(name))


def layer_parcel(spec: Spec, colour: str, shown: np.ndarray) -> Parcel:
    """What each node of a run looks like, packed once for every way of looking at it."""
    return _layer_parcel(spec.key, colour, _digest(shown), spec, shown)


@st.cache_resource(max_entries=48, show_spinner=False)
def _layer_parcel(key: str, colour: str, filtered: str, _spec: Spec, _shown: np.ndarray) -> Parcel:
    names = graph(_spec.graph).class_names
    return map_data.layer_parcel(table(_spec), colour, names, _shown)
