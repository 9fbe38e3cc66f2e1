"""What of a graph the map is sent: all of it, or as much of a part as a browser draws fluently."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bup.graph import Graph

MOST_NODES = 100_000
MOST_LINKS = 180_000

Window = tuple[float, float, float, float]
"""Left, bottom, right and top of a part of the map."""


@dataclass(frozen=True, eq=False)
class Excerpt:
    """Nodes and links of a window, thinned where they are too many."""

    nodes: np.ndarray | None  # ascending; None: every node
    links: np.ndarray  # [2, k], by their place among the nodes
    window: Window | None = None  # None: the whole map
    thinned: bool = False  # not everything in the window is here: there is more to see nearby

    def of(self, values: np.ndarray) -> np.ndarray:
        """Those of the excerpt's nodes."""
        return values if self.nodes is None else values[self.nodes]


def excerpt(graph: Graph, positions: np.ndarray, window: Window | None = None) -> Excerpt:
    """The nodes in a window with all that they are linked to, and those links.

    Where these are too many, some: of two windows, one in the other, the inner one shows what the
    outer one does, and more.
    """
    n = graph.num_nodes
    if window is None:
        inside = np.ones(n, dtype=bool)
    else:
        left, bottom, right, top = window
        x, y = positions.T
        inside = (x >= left) & (x <= right) & (y >= bottom) & (y <= top)
    edges, chosen = graph.edges, inside
    if crowded := int(inside.sum()) > MOST_NODES:
        chosen = np.zeros(n, dtype=bool)
        nodes = np.flatnonzero(inside)
        chosen[nodes[np.argpartition(_turns(n)[nodes], MOST_NODES)[:MOST_NODES]]] = True
        edges = edges[:, chosen[edges].all(axis=0)]
    elif window is not None:
        edges = edges[:, inside[edges].any(axis=0)]
        linked = inside.copy()
        linked[edges] = True
        if int(linked.sum()) <= MOST_NODES:
            chosen = linked
        else:
            edges, crowded = edges[:, inside[edges].all(axis=0)], True
    if cut := edges.shape[1] > MOST_LINKS:
        drawn = np.random.RandomState(0).permutation(edges.shape[1])[:MOST_LINKS]
        edges = edges[:, np.sort(drawn)]
    if chosen.all():
        return Excerpt(None, edges, window, crowded or cut)
    place = np.cumsum(chosen) - 1
    return Excerpt(np.flatnonzero(chosen), place[edges], window, crowded or cut)


def snap_window(view: Window) -> Window | None:
    """The window that is sent for what somebody sees: somewhat larger, and one of few, so that
    neighbouring views and other visitors share it. None: the whole map."""
    left, bottom, right, top = view
    side = max(right - left, top - bottom)
    if not np.isfinite(side) or side >= 1.2:
        return None
    cell = 2.0 ** np.ceil(np.log2(max(side, 2.0**-16)) - 1)
    margin = cell / 4
    low = [float(np.floor((v - margin) / cell) * cell) for v in (left, bottom)]
    high = [float(np.ceil((v + margin) / cell) * cell) for v in (right, top)]
    return low[0], low[1], high[0], high[1]


@lru_cache(maxsize=2)
def _turns(n: int) -> np.ndarray:
    """When each of n nodes has its turn to be seen: as good as at random, but always the same."""
    return np.random.RandomState(0).permutation(n)
