"""Paths from many nodes at once."""

from __future__ import annotations

import numpy as np

from bup.io.lazy import sparse

MOST_STEPS = 250_000_000
"""Nodes times sources that can be searched within seconds."""


def sample_sources(sources: np.ndarray, num_nodes: int) -> np.ndarray:
    """The sources; if they are too many for a graph of this size, an even selection of them."""
    most = max(64, MOST_STEPS // num_nodes)
    if len(sources) <= most:
        return sources
    return sources[np.linspace(0, len(sources) - 1, most).astype(int)]


def sum_lengths(adjacency: sparse.csr_array, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each node [n]: the sum of its distances to the sources that reach it, and their number.

    64 breadth-first searches run at once, each as one bit of a word per node. In every step a node
    gets the bits that its neighbours got in the step before.
    """
    total, reached = np.zeros((2, adjacency.shape[0]), dtype=np.int64)
    for first in range(0, len(sources), 64):
        visited = np.zeros(adjacency.shape[0], dtype=np.uint64)
        for bit, node in enumerate(sources[first : first + 64].tolist()):
            visited[node] |= np.uint64(1 << bit)
        new, length = visited, 0
        while new.any():
            count = np.bitwise_count(new)
            reached += count
            total += length * count.astype(np.int64)
            new, length = _from_neighbours(adjacency, new) & ~visited, length + 1
            visited = visited | new
    return total, reached


def _from_neighbours(adjacency: sparse.csr_array, words: np.ndarray) -> np.ndarray:
    """The bits [n] that at least one neighbour has."""
    linked = np.flatnonzero(np.diff(adjacency.indptr))
    bits = np.zeros_like(words)
    if len(linked):
        received = words[adjacency.indices]
        bits[linked] = np.bitwise_or.reduceat(received, adjacency.indptr[linked])
    return bits
