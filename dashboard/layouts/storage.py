"""The positions of a graph: shipped, stored in the cache folder, or being drawn."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bup.errors import BupError
from bup.graph import Graph
from bup.io import files
from bup.io.limits import server_limits
from dashboard.layouts.arrangement import STEPS
from dashboard.layouts.process import LayoutProcess

BUILT_IN = ("cora", "citeseer", "pubmed", "almanac", "synthetic")

_SHIPPED = Path(__file__).parent.parent / "shipped" / "layouts"
_IN_MEMORY = 6  # layouts
MOST_WAITING = 20  # processes, each with the links of its graph

log = logging.getLogger(__name__)
_lock = threading.Lock()
_cache: OrderedDict[str, Layout] = OrderedDict()
_processes: dict[str, LayoutProcess] = {}


@dataclass(frozen=True, eq=False)
class Layout:
    """Where every node of a graph stands."""

    points: np.ndarray  # [n, 2] float32, within [-1, 1] both ways, y up
    share: float = 1.0  # of the drawing that is done: below 1 these are a first picture

    @property
    def finished(self) -> bool:
        return self.share == 1


def cached_layout(graph: Graph) -> Layout | None:
    """The finished layout of a graph, if it is in memory."""
    return _cache.get(graph.digest)


def get_layout(graph: Graph, wait: bool = False) -> Layout:
    """The layout of a graph; for a new large graph, after a moment, a first picture of it.

    The drawing then goes on, and its result is stored. ``wait`` waits for its end: seconds for a
    graph of Cora's size or of 100,000 nodes. Raises BupError where it fails.
    """
    with _lock:
        layout = cached_layout(graph) or _read(graph)
        if layout is not None:
            _remember(graph.digest, layout)
            return layout
        process = _processes.get(graph.digest)
        if process is None:
            if sum(not waiting.ended for waiting in _processes.values()) >= MOST_WAITING:
                raise BupError(
                    f"{MOST_WAITING} maps of other graphs are to be drawn before this one: try "
                    "again in some minutes, or use the pages that need no map"
                )
            process = LayoutProcess(
                graph.num_nodes, graph.edges, lambda steps: _store(steps, graph)
            )
            _processes[graph.digest] = process
    process.wait(wait)
    if process.problem is not None:
        with _lock:
            _processes.pop(graph.digest, None)  # the next call tries again
        raise BupError(
            f"the map of {graph.name} cannot be computed, {process.problem}, or use the pages that "
            "need no map"
        )
    steps = process.steps
    assert steps is not None
    return Layout(_scale(steps), process.share)


def positions(graph: Graph) -> np.ndarray:
    """Position [n, 2] of every node, float32, within [-1, 1] both ways, y up."""
    return get_layout(graph, wait=True).points


def write_shipped(graph: Graph) -> Path:
    """Draw a built-in graph again, by Graphviz whatever its size; return the path of its file."""
    process = LayoutProcess(graph.num_nodes, graph.edges, large=graph.num_nodes)
    process.wait(finished=True)
    if process.problem is not None or process.steps is None:
        raise BupError(f"the map of {graph.name} cannot be computed, {process.problem}")
    path = _SHIPPED / f"{graph.name}.safetensors"
    _write(path, process.steps, graph)
    return path


def _store(steps: np.ndarray, graph: Graph) -> None:
    try:
        _write(_path(graph), steps, graph)
        files.trim(_path(graph).parent.glob("*.safetensors"), server_limits().layout_bytes)
    except OSError as error:
        log.warning("the map of %s cannot be stored (%s): it is drawn again", graph.name, error)
    with _lock:
        _remember(graph.digest, Layout(_scale(steps)))
        _processes.pop(graph.digest, None)


def _remember(digest: str, layout: Layout) -> None:
    _cache[digest] = layout
    _cache.move_to_end(digest)
    while len(_cache) > _IN_MEMORY:
        _cache.popitem(last=False)


def _path(graph: Graph) -> Path:
    return files.cache_folder() / "layouts" / f"{graph.digest}.safetensors"


def _read(graph: Graph) -> Layout | None:
    places = [_SHIPPED / f"{graph.name}.safetensors"] if graph.name in BUILT_IN else []
    for path in (*places, _path(graph)):
        try:
            arrays, values = files.read(path)
        except (OSError, files.DamagedFile):
            continue
        steps, fits = arrays.get("steps"), values.get("digest") == graph.digest
        if fits and steps is not None and steps.shape == (graph.num_nodes, 2):
            files.mark_used(path)
            return Layout(_scale(steps))
    return None


def _write(path: Path, steps: np.ndarray, graph: Graph) -> None:
    files.write_atomically(path, files.pack({"steps": steps}, {"digest": graph.digest}))


def _scale(steps: np.ndarray) -> np.ndarray:
    return steps.astype(np.float32) / STEPS
