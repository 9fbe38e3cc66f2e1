"""A graph too large for one file: its map in parts, its nodes in chunks, which the page fetches."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from bup.errors import BupError
from bup.graph import Graph
from dashboard.components.map.excerpts import Excerpt, Window, excerpt
from dashboard.components.map.map_data import MOST_NAMES, graph_parcel
from dashboard.components.map.parcels import NONE
from dashboard.export.document import as_text
from dashboard.export.files import write_data

MOST_FILES, MOST_BYTES = 5000, 500_000_000
"""What the parts of a graph with its runs may take in all."""
DEEPEST = 5
"""How often a part is halved where there is more to see; the map zooms in no further."""
CHUNK = 250
"""Of how many nodes a file says all that the page says of a node."""
MOST_LISTED = 200
"""Of how many neighbours a node's file has the place and the title."""
_ROWS = ("probs", "low", "high", "mean", "std")
_REASONS = ("nodes", "values", "gap")


def write_tiles(folder: Path, about: dict[str, Any], graph: Graph, positions: np.ndarray) -> None:
    """Move what the first picture does not need from a document into files beside it."""
    files = _Files(folder, graph.name)
    chunks = [_neighbourhoods(graph, positions, k) for k in range(0, graph.num_nodes, CHUNK)]
    _move_rows(about, chunks, graph.num_nodes)
    for run in about["runs"]:
        for colour in run["colours"]:
            colour["file"] = files.write(colour.pop("shades"))
    blocks = [block for run in about["runs"] for view in run["views"].values() for block in view]
    for block in [*blocks, about["compare"] or {"charts": []}]:
        for chart in block["charts"]:
            chart["groups"] = chart["groups"] and {}  # they list very many nodes
    about["tiles"] = {
        "ids": files.write([graph.node_id(i) for i in range(graph.num_nodes)]),
        "size": CHUNK,
        "chunks": [files.write(chunk) for chunk in chunks],
        "windows": [
            {
                "window": part.window,
                "thinned": part.thinned,
                "file": files.write(_parcel(graph, positions, part)),
            }
            for part in windows(graph, positions)
        ],
    }


class _Files:
    """Data files of a folder, of which there may be so many."""

    def __init__(self, folder: Path, graph: str) -> None:
        self._folder, self._graph, self._count, self._bytes = folder, graph, 0, 0

    def write(self, content: Any) -> str:
        path = write_data(self._folder, "part", json.dumps(content, allow_nan=False))
        self._count, self._bytes = self._count + 1, self._bytes + path.stat().st_size
        if self._count > MOST_FILES or self._bytes > MOST_BYTES:
            raise BupError(
                f"the page of a graph takes at most {MOST_FILES:,} files and "
                f"{MOST_BYTES / 1e6:,.0f} MB, and that of {self._graph} with its runs takes more: "
                "choose fewer runs or a smaller graph"
            )
        return path.name


def windows(graph: Graph, positions: np.ndarray) -> Iterator[Excerpt]:
    """The parts of a map, the large ones first; inside of one that is whole there are no others.

    They overlap by half: so each view of half their side is inside of one. (The windows of the app
    fit a view more closely, and are too many to be computed beforehand.)
    """
    done: list[Window] = []
    for level in range(1, DEEPEST + 1):
        step = 2.0**-level
        starts = (np.arange(-(2**level), 2**level) * step).tolist()
        for left, bottom in product(starts, starts):
            window = (left, bottom, left + 2 * step, bottom + 2 * step)
            if any(_holds(other, window) for other in done):
                continue
            inside = (positions >= window[:2]) & (positions <= window[2:])
            part = excerpt(graph, positions, window, MOST_NAMES)
            empty = not inside.all(axis=1).any()
            if empty or not part.thinned:
                done.append(window)
            if not empty:
                yield part


def _holds(outer: Window, inner: Window) -> bool:
    left, bottom, right, top = inner
    return outer[0] <= left and outer[1] <= bottom and outer[2] >= right and outer[3] >= top


def _parcel(graph: Graph, positions: np.ndarray, part: Excerpt) -> str:
    return base64.b64encode(graph_parcel(graph, positions, part).content).decode()


def _neighbourhoods(graph: Graph, positions: np.ndarray, first: int) -> dict[str, Any]:
    """Neighbours, places and titles of a chunk's nodes."""
    nodes = range(first, min(first + CHUNK, graph.num_nodes))
    near = [graph.neighbours(node).tolist() for node in nodes]
    listed = [[node, *others[:MOST_LISTED]] for node, others in zip(nodes, near, strict=True)]
    titles = graph.titles
    return {
        "first": first,
        "near": near,
        "focus": [positions[some].astype(float).round(4).tolist() for some in listed],
        "titles": titles and {i: titles[i] for some in listed for i in some},
    }


def _move_rows(about: dict[str, Any], chunks: list[dict[str, Any]], n: int) -> None:
    """Move what is said of each node into its chunk."""
    for chunk in chunks:
        chunk["words"] = about["words"] and _of(chunk, about["words"])
        chunk["runs"] = []
    about["words"] = about["words"] and {}
    for run in about["runs"]:
        reasons = run["reasons"]
        rows = {name: _take(run[name], n) for name in _ROWS if run[name]}
        why = {name: _take(reasons[name], n) for name in _REASONS if name in reasons}
        because = reasons.get("because")
        shades = [_numbers(colour["shades"], n) for colour in run["colours"]]
        for colour, values in zip(run["colours"], shades, strict=True):
            colour["ranks"] = as_text(_in_order(values))
        if because:
            reasons["because"] = {}
        for chunk in chunks:
            chunk["runs"].append(
                {
                    "rows": {name: as_text(_of(chunk, values)) for name, values in rows.items()},
                    "reasons": {name: as_text(_of(chunk, values)) for name, values in why.items()},
                    "because": because and _of(chunk, because),
                    "shades": [as_text(_of(chunk, values)) for values in shades],
                }
            )


def _of(chunk: dict[str, Any], values: Any) -> Any:
    return values[chunk["first"] : chunk["first"] + CHUNK]


def _take(packed: dict[str, Any], n: int) -> np.ndarray:
    """The rows [n, k] of an array, without which it stays behind."""
    values = _numbers(packed, n)
    del packed["bytes"]
    return values


def _numbers(packed: dict[str, Any], n: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed["bytes"]), f"<{packed['type']}").reshape(n, -1)


def _in_order(shades: np.ndarray) -> np.ndarray:
    """About a thousand of the shades, by which to tell a node's rank."""
    known = np.sort(shades[shades != NONE])
    return known[:: max(1, len(known) // 1000)]
