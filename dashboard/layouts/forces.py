"""A large component drawn by forces: links pull their ends together, nodes push each other away.

From coarse to fine: linked nodes are joined into clusters, and those into larger ones, until a few
hundred are left. These are drawn; then each cluster is replaced by its members, which move to their
places. The repulsion of all pairs is computed on a grid: nodes are masses, the field is a
convolution, and each node reads the force at its place.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import fft, sparse

_FEW = 300  # clusters, with which drawing begins
_ROUNDS = (200, 40, 15)  # of settling: for those few, for 100,000, at least
_FINEST = 1024  # cells along a side of the grid, at most


class _Level(NamedTuple):
    """Clusters of clusters: how many links join two of them, and how many nodes are in each."""

    links: sparse.csr_array
    size: np.ndarray
    cluster: np.ndarray  # of the finer level's


def draw(n: int, edges: np.ndarray) -> Iterator[tuple[float, int, np.ndarray]]:
    """After each level: share of the work done, number of clusters, and where each node's is.

    Points [n, 2] float32, such that linked nodes are some units apart.
    """
    # RandomState, because its stream is frozen for good: newer generators may change with NumPy.
    random = np.random.RandomState(0)
    levels = _levels(n, edges, random)
    rounds = [_rounds(len(level.size)) for level in levels]
    work = [each * (len(level.size) + 1000) for each, level in zip(rounds, levels, strict=True)]
    inside = [np.arange(n)]  # the cluster of each node, level by level
    for level in levels[1:]:
        inside.append(level.cluster[inside[-1]])
    points = np.sqrt(n) * random.uniform(-0.5, 0.5, (len(levels[-1].size), 2)).astype(np.float32)
    heat = 0.1 * np.sqrt(n)
    for depth in reversed(range(len(levels))):
        level = levels[depth]
        points = _move(points, level, rounds[depth], heat)
        yield sum(work[depth:]) / sum(work), len(points), points[inside[depth]]
        if depth:
            near = np.sqrt(n / len(level.cluster))
            points = points[level.cluster] + _scatter_around(len(level.cluster), 0.5 * near, random)
            heat = 3 * near


def _rounds(count: int) -> int:
    """Number of rounds: fewer for many points, which are near their place already."""
    few, many, least = _ROUNDS
    share = np.log(max(count, _FEW) / _FEW) / np.log(100_000 / _FEW)
    return max(least, round(few + share * (many - few)))


def expand(n: int, clusters: int, points: np.ndarray) -> np.ndarray:
    """Points that ``draw`` gave after a level, with the nodes of a cluster around its place."""
    return points + _scatter_around(n, 0.5 * np.sqrt(n / clusters), np.random.RandomState(0))


def _scatter_around(n: int, far: float, random: np.random.RandomState) -> np.ndarray:
    return (far * random.normal(size=(n, 2))).astype(np.float32)


def _levels(n: int, edges: np.ndarray, random: np.random.RandomState) -> list[_Level]:
    both = np.concatenate([edges, edges[::-1]], axis=1).astype(np.int32)
    ones = np.ones(both.shape[1], dtype=np.float32)
    links = sparse.csr_array((ones, tuple(both)), shape=(n, n))
    levels = [_Level(links, np.ones(n, dtype=np.float32), np.arange(n))]
    while (before := len(levels[-1].size)) > _FEW:
        links, size, _ = levels[-1]
        cluster = _clusters(links, size, random)
        count = int(cluster.max()) + 1
        if count > 0.95 * before:
            break
        ones = np.ones(before, dtype=np.float32)
        into = sparse.csr_array((ones, (cluster, np.arange(before))), shape=(count, before))
        joined = (into @ links @ into.T).tocsr()
        joined.setdiag(0)
        joined.eliminate_zeros()
        levels.append(_Level(joined, np.bincount(cluster, size).astype(np.float32), cluster))
    return levels


def _clusters(
    links: sparse.csr_array, size: np.ndarray, random: np.random.RandomState
) -> np.ndarray:
    """Each that draws tails joins one that drew heads: of those it is linked to, the one with the
    most links for its size."""
    every = links.tocoo()
    heads = random.random_sample(len(size)) < 0.5
    joins = ~heads[every.row] & heads[every.col]
    tail, head = every.row[joins], every.col[joins]
    strong = every.data[joins] / size[head]
    order = np.lexsort((random.random_sample(len(strong)), strong))
    leader = np.arange(len(size))
    leader[tail[order]] = head[order]  # of several, the last one stays
    return np.unique(leader, return_inverse=True)[1]


def _move(points: np.ndarray, level: _Level, rounds: int, heat: float) -> np.ndarray:
    """Points after some rounds of forces; a step is at most the heat, which falls to zero."""
    links, size, _ = level
    degree = np.asarray(links.sum(axis=1)).ravel()
    stiff = (degree + 1)[:, None]
    finest = max(64, 2 ** int(np.ceil(np.log2(1.6 * np.sqrt(len(size))))))
    for k in range(rounds):
        push = size[:, None] * _repulsion(points, size, min(finest, _FINEST))
        step = (push + links @ points - degree[:, None] * points) / stiff
        length = np.maximum(np.hypot(*step.T), 1e-9)[:, None]
        points = points + step * np.minimum(0.8, heat * (1 - k / rounds) / length)
    return points


def _repulsion(points: np.ndarray, size: np.ndarray, cells: int) -> np.ndarray:
    """The push of all others on each point [n, 2]: size divided by distance, away from each."""
    low = points.min(axis=0)
    cell = max(float(np.ptp(points, axis=0).max()) / (cells - 2), 1e-6)
    at = (points - low) / cell
    corner = at.astype(np.int32)
    right, up = (at - corner).T
    index = corner[:, 0] * cells + corner[:, 1]
    # A point counts for the four corners around it, the more the nearer.
    shares = ((1 - right) * (1 - up), (1 - right) * up, right * (1 - up), right * up)
    corners = list(zip((index + by for by in (0, 1, cells, cells + 1)), shares, strict=True))
    grid = np.zeros(cells * cells)
    for k, share in corners:
        grid += np.bincount(k, share * size, len(grid))
    room = (2 * cells, 2 * cells)  # so that what leaves on the right does not enter on the left
    masses = fft.rfft2(grid.reshape(cells, cells).astype(np.float32), room, workers=2)
    force = np.empty_like(points)
    for axis, kernel in enumerate(_kernels(cells)):
        field = fft.irfft2(masses * kernel, room, workers=2)[:cells, :cells].ravel()
        force[:, axis] = sum(field[k] * share for k, share in corners) / cell
    return force


@lru_cache(maxsize=2)
def _kernels(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """The force of one unit on a grid of this size, across and along, as its transform."""
    away = fft.fftfreq(2 * cells, 1 / (2 * cells)).astype(np.float32)
    squared = away[:, None] ** 2 + away**2 + 0.25
    return fft.rfft2(away[:, None] / squared), fft.rfft2(away / squared)
