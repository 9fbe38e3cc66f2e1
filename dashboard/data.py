"""What pages read, loaded once and shared by every browser: graphs, positions, results.

Caches are keyed by names and specifications, never by arrays.
"""

from __future__ import annotations

import base64
import gc
import hashlib
import io
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

import bup
from bup import runs
from bup.graph import Graph, describe
from bup.inspection import Inspection, inspect, with_links
from bup.methods import METHODS, settings_of
from bup.methods import bup as bup_method
from bup.results import Result, evaluate, node_table
from bup.scores import KINDS
from bup.spec import Spec
from bup.training import Inputs
from dashboard import columns, layouts
from dashboard.components.chart import Drawing
from dashboard.figures import map as map_figures
from dashboard.jobs import Manager
from dashboard.theme import Theme


@st.cache_resource(max_entries=6, show_spinner="Loading the graph ...")
def graph(name: str) -> Graph:
    return bup.load_graph(name)


@st.cache_resource(max_entries=6, show_spinner=False)
def figures(name: str) -> dict[str, Any]:
    return describe(graph(name))


@st.cache_resource(max_entries=6, show_spinner="Drawing the map for the first time ...")
def positions(name: str) -> np.ndarray:
    return layouts.positions(graph(name))


@st.cache_resource(max_entries=6, show_spinner=False)
def inputs(name: str) -> Inputs:
    return Inputs.of(graph(name))


@st.cache_resource(max_entries=12, show_spinner=False)
def edge_picture(name: str, dark: bool) -> str:
    picture = map_figures.edge_image(positions(name), graph(name).edges, Theme(dark=dark))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


@st.cache_resource(show_spinner=False)
def manager() -> Manager:
    return Manager()


@st.cache_resource(show_spinner=False)
def spare_the_collector() -> None:
    """Keep what is loaded by now out of the garbage collections that follow every script run.

    Streamlit makes one each time; over all objects of the libraries it takes a quarter of a second,
    in which nobody is served.
    """
    gc.collect()
    gc.freeze()


@st.cache_resource(max_entries=24, show_spinner=False)
def _shelf(key: str) -> dict[str, Any]:
    """What is known of one run; filled when the result is there."""
    return {}


def result(spec: Spec) -> Result | None:
    """The run's result if it is stored; once found, it is kept in memory."""
    shelf = _shelf(spec.key)
    if "result" not in shelf:
        found = runs.stored(spec, graph(spec.graph))
        if found is None:
            return None
        shelf["result"] = found
    return shelf["result"]


def table(spec: Spec) -> pd.DataFrame:
    shelf = _shelf(spec.key)
    if "table" not in shelf:
        found = node_table(shelf["result"], graph(spec.graph))
        found.attrs["scores"] = {
            score.name: (score.title, f"{score.help} {KINDS[score.kind].capitalize()}.")
            for score in METHODS[spec.method].scores
            if score.name not in columns.KNOWN
        }
        shelf["table"] = found
    return shelf["table"]


def table_csv(spec: Spec) -> str:
    shelf = _shelf(spec.key)
    if "csv" not in shelf:
        shelf["csv"] = table(spec).to_csv(index=False)
    return shelf["csv"]


def report(spec: Spec, bins: int = 10) -> dict[str, Any]:
    shelf = _shelf(spec.key)
    if ("report", bins) not in shelf:
        shelf["report", bins] = evaluate(shelf["result"], graph(spec.graph), bins)
    return shelf["report", bins]


def inspection(
    spec: Spec,
    node: int,
    add: tuple[tuple[int, int], ...] = (),
    remove: tuple[tuple[int, int], ...] = (),
) -> Inspection:
    """One node of a run, on the graph as it is or with some links changed."""
    here = graph(spec.graph)
    found = result(spec)
    assert found is not None
    if not add and not remove:
        return inspect(here, found, node, inputs=inputs(spec.graph))
    return inspect(with_links(here, add, remove), found, node)


def layer_stds(spec: Spec) -> dict[str, np.ndarray]:
    """Root mean variance [n] of the hidden message before, between and after propagation."""
    shelf = _shelf(spec.key)
    if "layers" not in shelf:
        found = result(spec)
        assert found is not None
        traced = bup_method.trace(graph(spec.graph), found.weights, settings_of(spec))
        first, second = traced.layers
        steps = {
            "from its own words": first.before,
            "after one step": first.after,
            "after two steps": second.after,
        }
        shelf["layers"] = {name: v.mean(dim=1).sqrt().numpy() for name, v in steps.items()}
    return shelf["layers"]


def map_drawing(spec: Spec, colour: str, theme: Theme, shown: np.ndarray) -> Drawing:
    """The map of a run; drawn once for every way of looking at it."""
    filtered = "all" if shown.all() else hashlib.sha256(np.packbits(shown).tobytes()).hexdigest()
    return _map_drawing(spec.key, colour, theme.dark, theme.large, filtered, spec, theme, shown)


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
        map_figures.map_figure(
            table(_spec), positions(name), colour, names, _theme, picture, _shown
        )
    )
