"""The arrays of a graph, checked and read-only."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bup.errors import BupError, quote
from bup.io.lazy import sparse

UNLABELLED = -1
"""The label of a node whose class is unknown; such nodes enter no split and no metric."""

PARTS = ("train", "validation", "test")
NO_PART = -1
"""The index in ``PARTS`` of a node that a split leaves out."""

SPARSE_BELOW = 0.3
"""Features with a smaller share of nonzero values become a sparse matrix."""


def simple_edges(sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Edges [2, m] as ``Graph`` wants them: undirected, no self-loops, no duplicates, sorted."""
    low, high = np.minimum(sources, targets), np.maximum(sources, targets)
    base = int(high.max(initial=0)) + 1
    # One number per pair: sorting numbers is far quicker than sorting columns.
    pair = np.unique(low.astype(np.int64)[low != high] * base + high[low != high])
    return np.stack(np.divmod(pair, base))


def compact(features: sparse.csr_array | np.ndarray) -> sparse.csr_array | np.ndarray:
    """Features as graphs store them: a sparse matrix where most values are zero."""
    cells = math.prod(features.shape)
    if isinstance(features, np.ndarray):
        few = np.count_nonzero(features) < SPARSE_BELOW * cells
        return sparse.csr_array(features) if few else features
    return features if features.nnz < SPARSE_BELOW * cells else features.toarray()


def check_features(features: sparse.csr_array | np.ndarray) -> sparse.csr_array | np.ndarray:
    if features.ndim != 2 or 0 in features.shape:
        raise BupError(f"features must be a non-empty table [nodes, words], got {features.shape}")
    if sparse.issparse(features):
        matrix = sparse.csr_array(features, dtype=np.float32)
        if matrix.indices.dtype != np.int32 and matrix.data.size < 2**31:
            # Half the memory traffic of 64-bit indices, in every product of every epoch.
            parts = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
            matrix = sparse.csr_array(parts, shape=matrix.shape)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        values = matrix.data
    else:
        matrix = values = np.ascontiguousarray(features, dtype=np.float32)
    if not np.isfinite(values).all():
        raise BupError(
            "features must be finite: one NaN or infinity would spread to every neighbour"
        )
    return freeze(matrix)


def check_labels(labels: np.ndarray, class_names: tuple[str, ...]) -> np.ndarray:
    labels = np.asarray(labels)
    _check_whole("labels", labels)
    if labels.ndim != 1 or len(labels) == 0:
        raise BupError(f"a graph needs at least one node, got labels of shape {labels.shape}")
    if labels.min() < UNLABELLED or labels.max() >= len(class_names):
        raise BupError(
            f"labels must be between 0 and {len(class_names) - 1} (or {UNLABELLED} for unknown), "
            f"got {labels.min()} to {labels.max()}"
        )
    return freeze(labels.astype(np.int64))


def check_edges(edges: np.ndarray, num_nodes: int) -> np.ndarray:
    edges = np.asarray(edges)
    _check_whole("edges", edges)
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise BupError(f"edges must have shape [2, m], got {edges.shape}")
    if edges.size and (edges.min() < 0 or edges.max() >= num_nodes):
        raise BupError(
            f"edges must join nodes 0 to {num_nodes - 1}, got {edges.min()} to {edges.max()}"
        )
    if (edges[0] >= edges[1]).any():
        raise BupError("each edge must go from a lower to a higher node: use simple_edges()")
    order = edges[0] * num_nodes + edges[1]
    if (np.diff(order) <= 0).any():
        raise BupError("edges must be sorted and without duplicates: use simple_edges()")
    return freeze(edges)


def check_parts(parts: np.ndarray, num_nodes: int) -> np.ndarray:
    parts = np.asarray(parts)
    if parts.shape != (num_nodes,) or not np.isin(parts, (NO_PART, *range(len(PARTS)))).all():
        raise BupError(
            f"parts must be one of 0 ({PARTS[0]}), 1 ({PARTS[1]}), 2 ({PARTS[2]}) and {NO_PART} "
            f"(none) for each of {num_nodes} nodes, got {parts.dtype} of shape {parts.shape}"
        )
    return freeze(parts.astype(np.int8))


def _check_whole(what: str, numbers: np.ndarray) -> None:
    # An empty list has the type float by default.
    if numbers.size and numbers.dtype.kind not in "iu":
        raise BupError(
            f"{what} must be whole numbers, got {numbers.dtype} such as {numbers.flat[0]!r}: "
            "round them yourself, and write -1 for an unknown label"
        )


def is_whole(value: object) -> bool:
    """Whether it is a whole number, of Python or NumPy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def freeze(array: Any) -> Any:
    """The array, read-only; of a sparse matrix a shallow copy, so that the caller's is writable."""
    if isinstance(array, np.ndarray):
        array = array.view()
        array.setflags(write=False)
        return array
    matrix = sparse.csr_array(array)
    for part in ("data", "indices", "indptr"):
        setattr(matrix, part, freeze(getattr(matrix, part)))
    return matrix


def number_classes(
    labels: Sequence[str], where: str, key: Callable[[str], Any] | None = None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Class numbers [n], and the names of the classes, sorted; an empty label is unknown."""
    names = tuple(sorted(set(labels) - {""}, key=key))
    if len(names) < 2:
        given = f"only the class {quote(names[0])}" if names else "no label at all"
        raise BupError(f"{where} {given}: give labels of at least two classes")
    number = {name: k for k, name in enumerate(names)} | {"": UNLABELLED}
    return np.array([number[label] for label in labels]), names
