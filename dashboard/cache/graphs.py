"""Graphs and what is computed from a graph alone, shared by all browser sessions."""

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st

import bup
from bup import datasets
from bup.engine.receptive_field import Inputs
from bup.errors import quote
from bup.graph import Graph, describe, storage
from bup.io import files
from bup.io.limits import server_limits
from bup.training.cost import DRAWN_AT_ONCE
from dashboard import layouts
from dashboard.cache.shared_cache import cached
from dashboard.layouts import Layout
from dashboard.network import visitor
from dashboard.network.rate_limits import RateLimit

NICENESS = 10
MOST_WAITING = 10  # for graphs to be drawn, counting the one that is
LARGE = RateLimit("large graphs", most=30, seconds=600)
_places = threading.BoundedSemaphore(MOST_WAITING)


def graph(name: str) -> Graph:
    """The graph of this name; loaded again when its files have changed.

    A browser can send any name: whether it is allowed is checked here, before any file is read.
    """
    if not datasets.is_allowed(name):
        raise bup.BupError(
            f"there is no graph {quote(name, 200)} here: choose one of "
            f"{', '.join(datasets.list_graphs())}, or bring your own on the page Your own"
        )
    size, most = datasets.size(name), server_limits().graph_bytes
    if size > most:
        raise bup.BupError(
            f"{quote(name, 200)} would take about {size / 1e6:,.0f} MB, and this server draws "
            f"graphs of at most {most / 1e6:,.0f} MB: ask for fewer nodes or links, or run it "
            f"yourself with: {shlex.join(['bup', 'fit', '--graph', name])}"
        )
    return _graph(name, datasets.stamp(name))


@cached(by=lambda name, stamp: (name, stamp))
def _graph(name: str, stamp: Hashable) -> Graph:
    if datasets.size(name) > DRAWN_AT_ONCE:
        with (
            _place(),
            st.spinner("Drawing this graph: one is drawn at a time, each takes some seconds ..."),
        ):
            return _draw_in_process(name)
    with st.spinner("Loading the graph ..."):
        return bup.load_graph(name)


@contextmanager
def _place() -> Iterator[None]:
    """Wait for a place in the queue, which is short: anybody can invent names of graphs."""
    if not _places.acquire(blocking=False):
        raise bup.BupError(
            f"{MOST_WAITING} other graphs are to be drawn before this one: try again in a minute"
        )
    try:
        with LARGE.acquire(visitor.client()):
            yield
    finally:
        _places.release()


def _draw_in_process(name: str) -> Graph:
    """Draw a graph in another process: it takes no time or memory of the server's own."""
    command = [sys.executable, "-P", "-m", "bup.datasets", name]
    with tempfile.TemporaryFile() as output:
        with subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE) as process:
            with contextlib.suppress(OSError, AttributeError):  # not on Windows
                os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
            _, errors = process.communicate()
        if process.returncode == 0:
            output.seek(0)
            packed = files.unpack(output.read())
            return storage.unpack(packed.values["name"], packed)
    why = errors.decode(errors="replace").strip().rpartition("\n")[2]
    if why.startswith("bup: "):
        raise bup.BupError(why.removeprefix("bup: "))
    reason = why[:200] or f"code {process.returncode}"
    raise bup.BupError(f"{name} could not be drawn ({reason}): ask for a smaller one")


def layout(graph: Graph) -> Layout:
    """Where a graph's nodes are on the map; of a large graph, a sketch until it is finished."""
    if (finished := layouts.cached_layout(graph)) is not None:
        return finished
    with st.spinner("Drawing the map for the first time ..."):
        return layouts.get_layout(graph)


@cached(by=lambda graph: graph.digest)
def description(graph: Graph) -> dict[str, Any]:
    return describe(graph)


@cached(by=lambda graph: graph.digest)
def inputs(graph: Graph) -> Inputs:
    return Inputs.of(graph)
