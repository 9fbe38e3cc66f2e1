"""Graphs and what belongs to them alone, loaded once and shared by every browser."""

from __future__ import annotations

import shlex
from collections.abc import Hashable
from typing import Any

import streamlit as st

import bup
from bup import datasets
from bup.graph import Graph, describe
from bup.limits import limits
from bup.receptive import Inputs
from dashboard import layouts
from dashboard.kept import kept
from dashboard.layouts import Layout


def graph(name: str) -> Graph:
    """The graph of this name; loaded again once the files behind it are others."""
    size, most = datasets.size(name), limits().graph_bytes
    if size > most:
        raise bup.BupError(
            f"{name} would take about {size / 1e6:,.0f} MB, and this server draws graphs of at "
            f"most {most / 1e6:,.0f} MB: ask for fewer nodes or links, or run it yourself with: "
            f"{shlex.join(['bup', 'fit', '--graph', name])}"
        )
    return _graph(name, datasets.stamp(name))


@kept(by=lambda name, stamp: (name, stamp))
def _graph(name: str, stamp: Hashable) -> Graph:
    with st.spinner("Loading the graph ..."):
        return bup.load_graph(name)


def layout(graph: Graph) -> Layout:
    """Where a graph's nodes stand; of a large one, a first picture while it is being drawn."""
    with st.spinner("Drawing the map for the first time ..."):
        return layouts.look(graph)


@kept(by=lambda graph: graph.digest)
def description(graph: Graph) -> dict[str, Any]:
    return describe(graph)


@kept(by=lambda graph: graph.digest)
def inputs(graph: Graph) -> Inputs:
    return Inputs.of(graph)
