"""Paths from many nodes at once."""

from __future__ import annotations

import numpy as np

from bup.io.lazy import sparse

MOST_STEPS = 250_000_000
"""Nodes times sources that can be walked within seconds."""


def sample_sources(sources: np.ndarray, num_nodes: int) -> np.ndarray:
    """The sources, or if they are too many for a graph of this size, evenly some of them."""
    most = max(64, MOST_STEPS // num_nodes)
    if len(sources) <= most:
        return sources
    return sources[np.linspace(0, len(sources) - 1, most).astype(int)]


def sum_lengths(adjacency: sparse.csr_array, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each node [n]: sum of the shortest paths from the sources that reach it, and how many do.

    64 sources walk at once, each a bit of a word: one link further on are those of whom a neighbour
    has just heard.
    """
    total, reached = np.zeros((2, adjacency.shape[0]), dtype=np.int64)
    for first in range(0, len(sources), 64):
        heard = np.zeros(adjacency.shape[0], dtype=np.uint64)
        for bit, node in enumerate(sources[first : first + 64].tolist()):
            heard[node] |= np.uint64(1 << bit)
        new, length = heard, 0
        while new.any():
            count = np.bitwise_count(new)
            reached += count
            total += length * count.astype(np.int64)
            new, length = _from_neighbours(adjacency, new) & ~heard, length + 1
            heard = heard | new
    return total, reached


def _from_neighbours(adjacency: sparse.csr_array, words: np.ndarray) -> np.ndarray:
    """The bits [n] that at least one neighbour has."""
    linked = np.flatnonzero(np.diff(adjacency.indptr))
    found = np.zeros_like(words)
    if len(linked):
        told = words[adjacency.indices]
        found[linked] = np.bitwise_or.reduceat(told, adjacency.indptr[linked])
    return found
