"""Where each node stands: components are drawn, spread evenly, pushed apart and packed.

Graphviz's sfdp draws a component, or, where it has more than ``LARGE`` nodes, ``forces``. Half of
every node's distance from the centre is then made even, which folds in the long arms and opens up
the crowded middle; nodes that still sit on top of each other are pushed apart, so that each can be
clicked. Small components lie around the largest, as near as they have room, lone nodes last.
"""

import contextlib
from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import KDTree

from dashboard.layouts import forces
from dashboard.layouts.packing import pack

LARGE = 6_000
STEPS = 32767  # positions are stored as 16-bit integers, which are equally precise everywhere
_ASPECT = (1.1, 0.9)  # pages are wider than high
_DRAFT = 2_000  # clusters needed for a first picture

Report = Callable[[float, np.ndarray | None], None]
"""A function that is given the share that is done and, once, the first picture."""


def arrange(
    num_nodes: int, edges: np.ndarray, report: Report | None = None, large: int = LARGE
) -> np.ndarray:
    """Positions as 16-bit steps [n, 2] from the centre; they depend on the links alone."""
    links = sparse.coo_array((np.ones(edges.shape[1]), tuple(edges)), shape=(num_nodes, num_nodes))
    count, component = csgraph.connected_components(links, directed=False)
    sizes = np.bincount(component)
    nodes_of = np.split(np.argsort(component, kind="stable"), np.cumsum(sizes)[:-1])
    by_component = np.argsort(component[edges[0]], kind="stable")
    links_of = np.split(
        edges[:, by_component],
        np.cumsum(np.bincount(component[edges[0]], minlength=count))[:-1],
        axis=1,
    )
    index = np.empty(num_nodes, dtype=np.int64)
    for nodes in nodes_of:
        index[nodes] = np.arange(len(nodes))
    first, *others = np.argsort(-sizes, kind="stable").tolist()
    rest = [_draw_component(sizes[k], index[links_of[k]], large) for k in others]

    def combine(largest: np.ndarray) -> np.ndarray:
        points = np.empty((num_nodes, 2))
        for k, placed in zip([first, *others], pack([largest, *rest]), strict=True):
            points[nodes_of[k]] = placed
        points -= (points.max(axis=0) + points.min(axis=0)) / 2
        return np.round(points / max(np.abs(points).max(), 1e-9) * STEPS).astype(np.int16)

    def report_draft(share: float, draft: np.ndarray | None) -> None:
        if report is not None:
            report(share, None if draft is None else combine(draft))

    return combine(_draw_component(sizes[first], index[links_of[first]], large, report_draft))


def _draw_component(
    n: int, edges: np.ndarray, large: int, report: Report = lambda *_: None
) -> np.ndarray:
    """One component, wider than high, in units of the distance that nodes keep on the map."""
    if n == 1:
        return np.zeros((1, 2))
    if n <= large:
        with contextlib.suppress(ImportError):  # without Graphviz, forces draw small graphs, too
            points = _spread_evenly(_sfdp(n, edges))
            return _push_apart(_stretch(points, _axes(points)))
    axes = None  # of the first picture, so that later ones are not rotated or mirrored
    for share, clusters, points in forces.draw(n, edges):
        draft = None
        if axes is None and (clusters >= _DRAFT or share == 1):
            evened = _spread_evenly(forces.expand(n, clusters, points))
            axes = _axes(evened)
            draft = _stretch(evened, axes)
        report(0.9 * share, draft)
    assert axes is not None
    return _push_apart(_stretch(_spread_evenly(points), axes), rounds=int(np.clip(6e6 / n, 8, 60)))


def _axes(points: np.ndarray) -> np.ndarray:
    """The directions [2, 2] in which points lie furthest and least far apart."""
    return np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]


def _stretch(points: np.ndarray, axes: np.ndarray) -> np.ndarray:
    return 0.8 * (np.sqrt(len(points)) - 0.7) * points @ axes.T * _ASPECT


def _sfdp(n: int, edges: np.ndarray) -> np.ndarray:
    import pygraphviz

    # Overlap is left to _push_apart: this Graphviz cannot remove it.
    settings = 'overlap=true; splines=""; K=1; repulsiveforce=1; start=1;'
    names = ";".join(map(str, range(n)))
    links = ";".join(f"{i}--{j}" for i, j in edges.T.tolist())
    drawing = pygraphviz.AGraph(
        string=f'graph {{ {settings} node [shape=point, width=0.01, label=""]; {names}; {links} }}'
    )
    drawing.layout("sfdp")
    points = [drawing.get_node(i).attr["pos"].split(",") for i in range(n)]
    drawing.close()
    return np.array(points, dtype=float)


def _spread_evenly(points: np.ndarray) -> np.ndarray:
    """About the unit disc: a node's radius is the mean of its own and of an even spread."""
    points = points - np.median(points, axis=0)
    radius = np.hypot(*points.T)
    rank = np.argsort(np.argsort(radius, kind="stable"), kind="stable")
    even = np.sqrt((rank + 0.5) / len(points))
    wanted = (radius / np.quantile(radius, 0.98) + even) / 2
    return points * (wanted / np.maximum(radius, 1e-9))[:, None]


def _push_apart(points: np.ndarray, rounds: int = 60) -> np.ndarray:
    """Push nodes that are closer than 1 away from each other, a little in each round."""
    points, n = points.copy(), len(points)
    for _ in range(rounds):
        i, j = KDTree(points).query_pairs(1.0, output_type="ndarray").T
        if len(i) == 0:
            break
        between = points[i] - points[j]
        distance = np.maximum(np.hypot(*between.T), 1e-9)
        push = between * ((1 - distance) / distance / 4)[:, None]
        for axis in (0, 1):
            points[:, axis] += np.bincount(i, push[:, axis], n) - np.bincount(j, push[:, axis], n)
    return points
