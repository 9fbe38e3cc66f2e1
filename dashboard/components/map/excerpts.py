"""The part of a graph that a map is sent: all of it, or as much as a browser draws fluently."""

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
    thinned: bool = False  # some nodes or links of the window are left out

    def of(self, values: np.ndarray) -> np.ndarray:
        """The values of the excerpt's nodes."""
        return values if self.nodes is None else values[self.nodes]


def excerpt(
    graph: Graph, positions: np.ndarray, window: Window | None = None, most: int = MOST_NODES
) -> Excerpt:
    """The nodes in a window with their neighbours and the links between them.

    If these are more than ``most``, a sample. A window inside another one shows the nodes that the
    outer one does there, and more.
    """
    n = graph.num_nodes
    if window is None:
        inside = np.ones(n, dtype=bool)
    else:
        left, bottom, right, top = window
        x, y = positions.T
        inside = (x >= left) & (x <= right) & (y >= bottom) & (y <= top)
    edges, chosen = graph.edges, inside
    if crowded := int(inside.sum()) > most:
        chosen = np.zeros(n, dtype=bool)
        nodes = np.flatnonzero(inside)
        chosen[nodes[np.argpartition(_sampling_order(n)[nodes], most)[:most]]] = True
        edges = edges[:, chosen[edges].all(axis=0)]
    elif window is not None:
        edges = edges[:, inside[edges].any(axis=0)]
        linked = inside.copy()
        linked[edges] = True
        if int(linked.sum()) <= most:
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
    """The window that is sent for a view: somewhat larger, and snapped to a grid, so that
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
def _sampling_order(n: int) -> np.ndarray:
    """The order in which nodes are sampled: random, but always the same."""
    return np.random.RandomState(0).permutation(n)
