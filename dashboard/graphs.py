"""Graphs and what belongs to them alone, loaded once and shared by every browser."""

from __future__ import annotations

from typing import Any

import streamlit as st

import bup
from bup.graph import Graph, describe
from bup.receptive import Inputs
from dashboard import layouts
from dashboard.layouts import Layout


@st.cache_resource(max_entries=6, show_spinner="Loading the graph ...")
def graph(name: str) -> Graph:
    return bup.load_graph(name)


@st.cache_resource(max_entries=6, show_spinner=False)
def description(name: str) -> dict[str, Any]:
    return describe(graph(name))


def layout(name: str) -> Layout:
    """Where a graph's nodes stand; of a large one, a first picture while it is being drawn."""
    with st.spinner("Drawing the map for the first time ..."):
        return layouts.look(graph(name))


@st.cache_resource(max_entries=6, show_spinner=False)
def inputs(name: str) -> Inputs:
    return Inputs.of(graph(name))
