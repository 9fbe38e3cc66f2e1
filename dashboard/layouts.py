"""Where each node stands on the map: computed once per graph, the same place ever after.

The positions of the built-in graphs are shipped in ``assets/layouts``. After a change of such a
graph or of this file, make them again (PubMed takes a minute or two) with

    python -m dashboard.layouts cora citeseer pubmed synthetic

Those of any other graph are computed on first use and kept in the cache folder. Either way they
belong to a graph's content, by its digest, never to its name alone.

Graphviz's sfdp draws each component. Half of every node's distance from the centre is then made
even, which folds in the long arms and opens up the crowded middle; nodes that still sit on top of
each other are pushed apart, so that each can be clicked. Small components lie around the largest,
as near as they have room, lone nodes last. Components of more than ``LARGE`` nodes are contracted
first: clusters of linked nodes are drawn, and their nodes set around them.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import ndimage, sparse
from scipy.sparse import csgraph
from scipy.spatial import KDTree

import bup
from bup import files
from bup.errors import BupError
from bup.graph import Graph, simple_edges

LARGE = 30_000
BUILT_IN = ("cora", "citeseer", "pubmed", "synthetic")

_ROOT = Path(__file__).parent.parent
_SHIPPED = _ROOT / "assets" / "layouts"
_STEPS = 32767  # positions are kept as 16-bit whole numbers: evenly fine, unlike half floats
_ASPECT = 1.25  # width to height of a map with many small components
_STRETCH = (1.1, 0.9)  # pages are wider than high
_CELLS = 2  # of the grid on which components are packed, in the distance that nodes keep
_PATIENCE = 900  # seconds
_SERVE = "--serve"

log = logging.getLogger(__name__)


def positions(graph: Graph) -> np.ndarray:
    """Position [n, 2] of every node, float32, within [-1, 1] both ways, y up.

    The first call for a graph that is not built in takes seconds (Cora's size) to two minutes;
    raises BupError where Graphviz fails.
    """
    kept = files.cache_folder() / "layouts" / f"{graph.digest}.safetensors"
    places = [_SHIPPED / f"{graph.name}.safetensors"] if graph.name in BUILT_IN else []
    for path in (*places, kept):
        if (steps := _read(path, graph)) is not None:
            return _unit(steps)
    steps = _computed_elsewhere(graph)
    try:
        _write(kept, steps, graph)
    except OSError as error:
        log.warning("%s cannot be written (%s): the map is computed again", kept, error)
    return _unit(steps)


def arrange(num_nodes: int, edges: np.ndarray) -> np.ndarray:
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
    drawn = [_drawn(n, index[links]) for n, links in zip(sizes, links_of, strict=True)]
    order = np.argsort(-sizes, kind="stable")
    points = np.empty((num_nodes, 2))
    for k, placed in zip(order, packed([drawn[k] for k in order]), strict=True):
        points[nodes_of[k]] = placed
    points -= (points.max(axis=0) + points.min(axis=0)) / 2
    return np.round(points / max(np.abs(points).max(), 1e-9) * _STEPS).astype(np.int16)


def _drawn(n: int, edges: np.ndarray) -> np.ndarray:
    """One component, wider than high, in units of the distance that nodes keep on the map."""
    if n == 1:
        return np.zeros((1, 2))
    points = _evened(_sfdp(n, edges))
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    return _apart(0.8 * (np.sqrt(n) - 0.7) * points @ axes.T * _STRETCH)


def _sfdp(n: int, edges: np.ndarray) -> np.ndarray:
    if n > LARGE:
        return _contracted(n, edges)
    import pygraphviz

    # Overlap is left to _apart: this Graphviz is built without the means to remove it (it says so).
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


def _contracted(n: int, edges: np.ndarray) -> np.ndarray:
    """Every node near its cluster; a cluster is a node that drew heads and linked ones that drew
    tails, and so on until few enough are left."""
    # RandomState, because its stream is frozen for good: newer generators may change with NumPy.
    random = np.random.RandomState(0)
    both = np.concatenate([edges, edges[::-1]], axis=1)
    heads = random.random_sample(n) < 0.5
    joins = both[:, ~heads[both[0]] & heads[both[1]]]
    leader = np.arange(n)
    leader[joins[0]] = joins[1]
    leaders, cluster = np.unique(leader, return_inverse=True)
    coarse = _sfdp(len(leaders), simple_edges(*cluster[edges]))
    near = np.median(KDTree(coarse).query(coarse, k=2)[0][:, 1])
    points = coarse[cluster] + near * random.normal(size=(n, 2))
    links = sparse.csr_array((np.ones(both.shape[1]), tuple(both)), shape=(n, n))
    degree = links.sum(axis=1)[:, None]
    for _ in range(3):
        points = (points + links @ points / degree) / 2
    return points


def _evened(points: np.ndarray) -> np.ndarray:
    """About the unit disc: half of a node's radius as drawn, half as even spreading has it."""
    points = points - np.median(points, axis=0)
    radius = np.hypot(*points.T)
    rank = np.argsort(np.argsort(radius, kind="stable"), kind="stable")
    even = np.sqrt((rank + 0.5) / len(points))
    wanted = (radius / np.quantile(radius, 0.98) + even) / 2
    return points * (wanted / np.maximum(radius, 1e-9))[:, None]


def _apart(points: np.ndarray, rounds: int = 60) -> np.ndarray:
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


def packed(components: Sequence[np.ndarray], gap: float = 0.8) -> list[np.ndarray]:
    """The components [k, 2] around the first, each along its rim, as near as it has room.

    Given the largest first, in units of the distance that nodes keep. Nearness is measured by an
    ellipse, for pages are wider than high. Each component but the first takes the room of a disc,
    twice ``gap`` away from the next, and no nearer to the first than nodes are to each other.
    """
    first, *others = [
        points - (points.min(axis=0) + points.max(axis=0)) / 2 for points in components
    ]
    radii = [np.hypot(*points.T).max() + gap for points in others]
    # Discs are laid by size, and sizes rounded up, so that one search serves all of a size.
    radii = [np.ceil(radius * _CELLS) / _CELLS for radius in radii]
    area = np.abs(first).max() + np.sqrt(sum((2 * radius) ** 2 for radius in radii)) + 4
    half = int(area * np.sqrt(_ASPECT) * _CELLS)
    room = _room_around(first, half)
    y, x = np.mgrid[-half : half + 1, -half : half + 1]
    nearest = np.argsort(((x / _ASPECT) ** 2 + y**2).ravel(), kind="stable")
    placed: dict[int, np.ndarray] = {}
    by_size = sorted(range(len(others)), key=lambda k: -radii[k])
    free = iter(nearest)
    for number, k in enumerate(by_size):
        reach = radii[k] * _CELLS
        if number == 0 or radii[k] < radii[by_size[number - 1]]:
            free = iter(nearest[room.ravel()[nearest] > reach])
        # What was too near for one disc is so for all of its size: the search goes on from there.
        row, column = divmod(int(next(at for at in free if room.flat[at] > reach)), 2 * half + 1)
        _take(room, row, column, reach)
        centre = np.array([column - half, row - half]) / _CELLS
        along = np.arctan2(centre[1] * _ASPECT, centre[0] / _ASPECT) + np.pi / 2
        turn = np.array([[np.cos(along), np.sin(along)], [-np.sin(along), np.cos(along)]])
        placed[k] = others[k] @ turn + centre
    return [first, *(placed[k] for k in range(len(others)))]


def _room_around(points: np.ndarray, half: int) -> np.ndarray:
    """Distance in cells [2 half + 1, 2 half + 1] to what a component covers, its bays included."""
    bare = np.ones((2 * half + 1, 2 * half + 1), dtype=bool)
    column, row = np.rint(points * _CELLS).astype(int).T + half
    bare[row, column] = False
    covered = ndimage.distance_transform_edt(bare) <= 4 * _CELLS
    covered = ndimage.distance_transform_edt(covered) > 3 * _CELLS
    return ndimage.distance_transform_edt(~ndimage.binary_fill_holes(covered))


def _take(room: np.ndarray, row: int, column: int, radius: float) -> None:
    """Lay a disc: only cells where no disc of its size or smaller fits any more are changed."""
    wide = int(2 * radius) + 2
    top, left = max(0, row - wide), max(0, column - wide)
    near = room[top : row + wide + 1, left : column + wide + 1]
    y, x = np.ogrid[: near.shape[0], : near.shape[1]]
    np.minimum(near, np.hypot(y + top - row, x + left - column) - radius, out=near)


def _computed_elsewhere(graph: Graph) -> np.ndarray:
    """In a process of its own: Graphviz lets no other thread run, could take the server with it,
    and repeats itself only from a fresh start."""
    asked = files.pack({"edges": graph.edges}, {"nodes": graph.num_nodes})
    command = [sys.executable, "-m", "dashboard.layouts", _SERVE]
    try:
        done = subprocess.run(
            command, input=asked, capture_output=True, cwd=_ROOT, timeout=_PATIENCE, check=False
        )
        return files.unpack(done.stdout).arrays["steps"]
    except subprocess.TimeoutExpired:
        problem = f"Graphviz took more than {_PATIENCE // 60} minutes"
    except (files.DamagedFile, KeyError):
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        problem = f"Graphviz ended with {said[:200]!r} (code {done.returncode})"
    raise BupError(
        f"the map of {graph.name} cannot be computed, {problem}: reinstall pygraphviz, or use the "
        "pages that need no map"
    )


def _serve() -> None:
    arrays, values = files.unpack(sys.stdin.buffer.read())
    steps = arrange(values["nodes"], arrays["edges"])
    sys.stdout.buffer.write(files.pack({"steps": steps}, {}))


def _read(path: Path, graph: Graph) -> np.ndarray | None:
    try:
        arrays, values = files.read_packed(path)
    except (OSError, files.DamagedFile):
        return None
    steps = arrays.get("steps")
    if steps is None or steps.shape != (graph.num_nodes, 2):
        return None
    return steps if values.get("digest") == graph.digest else None


def _write(path: Path, steps: np.ndarray, graph: Graph) -> None:
    files.write_atomically(path, files.pack({"steps": steps}, {"digest": graph.digest}))


def _unit(steps: np.ndarray) -> np.ndarray:
    return steps.astype(np.float32) / _STEPS


def main(names: Sequence[str]) -> None:
    if list(names) == [_SERVE]:
        return _serve()
    if not names or not set(names) <= set(BUILT_IN):
        sys.exit(f"give one or more of {', '.join(BUILT_IN)}")
    for name in names:
        graph = bup.load_graph(name)
        path = _SHIPPED / f"{name}.safetensors"
        _write(path, _computed_elsewhere(graph), graph)
        print(f"{path}: {graph.num_nodes} nodes, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
