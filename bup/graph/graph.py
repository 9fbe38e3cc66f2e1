"""The graph: an immutable record, and what follows from it."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bup.errors import BupError
from bup.graph import paths
from bup.graph.noun import NODE, Noun
from bup.io.lazy import sparse

if TYPE_CHECKING:
    import pandas as pd

UNLABELLED = -1
"""The label of a node whose class is unknown; such nodes enter no split and no metric."""

PARTS = ("train", "validation", "test")
NO_PART = -1
"""The index in ``PARTS`` of a node that a split leaves out."""

SPARSE_BELOW = 0.3
"""Features with a smaller share of nonzero values become a sparse matrix."""


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected simple graph with features and, for most nodes, a class.

    Arrays are read-only, and checked here once.

    Parameters
    ----------
    name : str
        What the graph is called; runs on it carry this name.
    features : csr_array or array [n, f]
        Features, as float32.
    edges : array [2, m]
        Edges, each once, with ``edges[0] < edges[1]``, sorted; ``simple_edges`` makes them.
    labels : array [n]
        Class numbers; -1 where the class is unknown.
    class_names : tuple of str
        Names of the classes.
    ids : tuple of str, default None
        Names of the nodes; None: their indices.
    titles : tuple of str, default None
        A line of text about each node.
    notes : tuple of str, default ()
        What a user should know about these data.
    words : tuple of str, default None
        What each feature stands for, if features are words.
    noun : Noun, default NODE
        What texts call a node, such as a paper.
    parts : array [n], default None
        A split that came with the graph: 0 train, 1 validation, 2 test, -1 none.

    Raises
    ------
    BupError
        If there are self-loops, duplicate or dangling edges, features that are not finite or labels
        outside ``class_names``.

    Examples
    --------
    >>> import bup, numpy as np
    >>> graph = bup.Graph(
    ...     name="path",
    ...     features=np.eye(3, dtype=np.float32),
    ...     edges=np.array([[0, 1], [1, 2]]),
    ...     labels=np.array([0, 1, -1]),
    ...     class_names=("a", "b"),
    ... )
    >>> graph.degree.tolist()
    [1, 2, 1]
    """

    name: str
    features: sparse.csr_array | np.ndarray = field(repr=False)  # [n, f] float32, perhaps sparse
    edges: np.ndarray = field(repr=False)  # [2, m] int64, each once, edges[0] < edges[1], sorted
    labels: np.ndarray = field(repr=False)  # [n] int64, UNLABELLED where unknown
    class_names: tuple[str, ...]
    ids: tuple[str, ...] | None = field(default=None, repr=False)  # None: a node's id is its index
    titles: tuple[str, ...] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = field(default=())  # what a user should know about these data
    words: tuple[str, ...] | None = field(default=None, repr=False)  # [f] if features are words
    noun: Noun = NODE  # the word for a node in texts
    parts: np.ndarray | None = field(default=None, repr=False)  # [n] a split that came with it

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", _checked_features(self.features))
        object.__setattr__(self, "labels", _checked_labels(self.labels, self.class_names))
        object.__setattr__(self, "edges", _checked_edges(self.edges, len(self.labels)))
        if self.features.shape[0] != self.num_nodes:
            raise BupError(
                f"features have {self.features.shape[0]} rows but there are {self.num_nodes} "
                "labels: give one row per node"
            )
        if len(set(self.class_names)) != self.num_classes:
            raise BupError(f"class names must be unique, got {self.class_names!r}")
        for what, values, things, size in (
            ("ids", self.ids, "nodes", self.num_nodes),
            ("titles", self.titles, "nodes", self.num_nodes),
            ("words", self.words, "features", self.num_features),
        ):
            if values is not None and len(values) != size:
                raise BupError(f"{len(values)} {what} for {size} {things}: give one each")
        if self.ids is not None and len(set(self.ids)) != self.num_nodes:
            raise BupError("node ids must be unique, some occur twice")
        if self.parts is not None:
            object.__setattr__(self, "parts", _checked_parts(self.parts, self.num_nodes))

    @staticmethod
    def from_arrays(
        features: sparse.sparray | np.ndarray | None,
        edges: np.ndarray,
        labels: np.ndarray,
        class_names: Sequence[str] | None = None,
        **rest: Any,
    ) -> Graph:
        """A graph from arrays as they come: edges [2, m] in any order, repeated or with loops.

        Without features (None) each node gets a feature of its own: only links tell classes. The
        notes say what was dropped. Without ``class_names`` classes are called by number;
        ``rest`` are further fields, such as ``name``, ``ids`` and ``titles``.
        """
        from bup.graph.convert import from_arrays

        return from_arrays(features, edges, labels, class_names, **rest)

    @staticmethod
    def from_frames(nodes: pd.DataFrame, edges: pd.DataFrame, **columns: Any) -> Graph:
        """A graph from a table of nodes and one of links; see ``bup.graph.convert.from_frames``."""
        from bup.graph.convert import from_frames

        return from_frames(nodes, edges, **columns)

    @staticmethod
    def from_networkx(graph: Any, **columns: Any) -> Graph:
        """A graph from NetworkX: attributes of nodes are what columns are to ``from_frames``.

        Every link counts alike; ``unweighted=True`` says that you know, if links have weights.
        """
        from bup.graph.convert import from_networkx

        return from_networkx(graph, **columns)

    @staticmethod
    def from_pyg(data: Any, class_names: Sequence[str] | None = None, **rest: Any) -> Graph:
        """A graph from PyTorch Geometric's ``Data`` with ``x``, ``edge_index`` and ``y``.

        Its ``train_mask``, ``val_mask`` and ``test_mask`` are the graph's split, see ``bup.fit``.
        Every link counts alike; ``unweighted=True`` says that you know, if links have weights.
        """
        from bup.graph.convert import from_pyg

        return from_pyg(data, class_names, **rest)

    def to_pyg(self) -> Any:
        """The same as PyTorch Geometric's ``Data``: dense ``x``, links in both directions."""
        from bup.graph.convert import to_pyg

        return to_pyg(self)

    def __repr__(self) -> str:
        parts = [
            self.noun.count(self.num_nodes),
            f"{self.num_edges:,} links",
            f"{self.num_features:,} features",
            f"classes {self.class_names!r}",
        ]
        if self.notes:
            parts.append(f"notes {self.notes!r}")
        return f"Graph({self.name!r}, {', '.join(parts)})"

    @property
    def num_nodes(self) -> int:
        return len(self.labels)

    @property
    def num_edges(self) -> int:
        return self.edges.shape[1]

    @property
    def num_features(self) -> int:
        return self.features.shape[1]

    @property
    def num_classes(self) -> int:
        return len(self.class_names)

    @cached_property
    def labelled(self) -> np.ndarray:
        """Mask [n] of the nodes whose class is known."""
        return _frozen(self.labels != UNLABELLED)

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """A as a symmetric matrix of ones, without self-loops."""
        rows, cols = np.concatenate([self.edges, self.edges[::-1]], axis=1)
        ones = np.ones(len(rows), dtype=np.float32)
        shape = (self.num_nodes, self.num_nodes)
        matrix = sparse.csr_array((ones, (rows, cols)), shape=shape)
        matrix.sort_indices()
        return _frozen_csr(matrix)

    @cached_property
    def degree(self) -> np.ndarray:
        """The number of links [n] of each node."""
        return _frozen(np.bincount(self.edges.ravel(), minlength=self.num_nodes))

    @cached_property
    def looped_degree(self) -> np.ndarray:
        """d_ii of A + I: one more, for the self-loop, as formulas of the paper have it."""
        return _frozen(self.degree + 1)

    @cached_property
    def components(self) -> np.ndarray:
        """Component number [n] of each node; 0 is the largest component."""
        from scipy.sparse import csgraph  # slow to import

        _, component = csgraph.connected_components(self.adjacency, directed=False)
        sizes = np.bincount(component)
        rank = np.empty_like(sizes)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        return _frozen(rank[component])

    @cached_property
    def digest(self) -> str:
        """A hash of the content (not the name): results trained on other content do not fit."""
        content = hashlib.sha256()
        parts = [self.edges, self.labels]
        if isinstance(self.features, np.ndarray):
            parts.append(self.features)
        else:
            parts += [self.features.indptr, self.features.indices, self.features.data]
        for part in parts:
            content.update(f"{part.dtype}{part.shape}".encode())
            content.update(np.ascontiguousarray(part).data)
        named = (self.class_names, self.ids, self.titles)
        content.update(repr(named if self.titles is not None else named[:2]).encode())
        return content.hexdigest()

    def neighbours(self, node: int) -> np.ndarray:
        """Indices of the nodes linked to ``node``, ascending, without ``node`` itself."""
        starts = self.adjacency.indptr
        return self.adjacency.indices[starts[node] : starts[node + 1]]

    def node_id(self, node: int) -> str:
        return str(node) if self.ids is None else self.ids[node]

    @cached_property
    def _index_of(self) -> dict[str, int]:
        return {} if self.ids is None else {name: i for i, name in enumerate(self.ids)}

    def find(self, node_id: str) -> int:
        """The index of the node with this id."""
        if self.ids is None:
            # fullmatch on ASCII digits: int() would also take " 7", "+7", "1_0" and other scripts
            if re.fullmatch("[0-9]{1,18}", node_id) and int(node_id) < self.num_nodes:
                return int(node_id)
        elif node_id in self._index_of:
            return self._index_of[node_id]
        known = f"0 to {self.num_nodes - 1}" if self.ids is None else f"such as {self.ids[0]!r}"
        raise BupError(f"{self.name} has no node {node_id!r}: its ids are {known}")

    def index(self, node: int | str) -> int:
        """A node's index, given that or, as text, its id."""
        if isinstance(node, str):
            return self.find(node)
        whole = isinstance(node, int | np.integer) and not isinstance(node, bool)
        if not whole or not 0 <= node < self.num_nodes:
            raise BupError(
                f"a node of {self.name} is a whole number from 0 to {self.num_nodes - 1}, or its "
                f"id as text, got {node!r}"
            )
        return int(node)

    def hops(self, sources: Iterable[int]) -> np.ma.MaskedArray:
        """Shortest-path lengths [len(sources), n] in links; masked where there is no path."""
        from scipy.sparse import csgraph

        lengths = csgraph.dijkstra(
            self.adjacency, directed=False, indices=self._checked_nodes(sources), unweighted=True
        )
        unreachable = np.isinf(lengths)
        return np.ma.MaskedArray(np.where(unreachable, 0, lengths).astype(np.int64), unreachable)

    def nearest_hops(self, sources: Iterable[int]) -> np.ma.MaskedArray:
        """Length [n] of the path to the nearest source; masked where no source is reachable."""
        from scipy.sparse import csgraph

        lengths = csgraph.dijkstra(
            self.adjacency,
            directed=False,
            indices=self._checked_nodes(sources),
            unweighted=True,
            min_only=True,
        )
        unreachable = np.isinf(lengths)
        return np.ma.MaskedArray(np.where(unreachable, 0, lengths).astype(np.int64), unreachable)

    def mean_hops(self, sources: Iterable[int]) -> np.ma.MaskedArray:
        """Mean path length [n] over the reachable sources; masked where none is reachable.

        Of very many sources on a large graph, over ``paths.sample_sources`` of them.
        """
        nodes = paths.sample_sources(self._checked_nodes(sources), self.num_nodes)
        total, reached = paths.sum_lengths(self.adjacency, nodes)
        return np.ma.MaskedArray(total / np.maximum(reached, 1), reached == 0)

    @cached_property
    def homophily(self) -> float | None:
        """Share of the edges between labelled nodes that join two of the same class.

        None where no edge has a label at both ends.
        """
        ends = self.labels[self.edges]
        known = (ends != UNLABELLED).all(axis=0)
        return float((ends[0] == ends[1])[known].mean()) if known.any() else None

    def _checked_nodes(self, nodes: Iterable[int]) -> np.ndarray:
        nodes = np.asarray(list(nodes))
        if len(nodes) == 0:
            raise BupError("path lengths need at least one source node, got none")
        if nodes.dtype.kind not in "iu":
            raise BupError(f"source nodes must be whole numbers, got {nodes.dtype}")
        if nodes.min() < 0 or nodes.max() >= self.num_nodes:
            raise BupError(
                f"source nodes must be between 0 and {self.num_nodes - 1}, "
                f"got {nodes.min()} to {nodes.max()}"
            )
        return nodes


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


def _checked_features(features: sparse.csr_array | np.ndarray) -> sparse.csr_array | np.ndarray:
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
    return _frozen_csr(matrix) if sparse.issparse(matrix) else _frozen(matrix)


def _checked_labels(labels: np.ndarray, class_names: tuple[str, ...]) -> np.ndarray:
    labels = np.asarray(labels)
    _check_whole("labels", labels)
    if labels.ndim != 1 or len(labels) == 0:
        raise BupError(f"a graph needs at least one node, got labels of shape {labels.shape}")
    if labels.min() < UNLABELLED or labels.max() >= len(class_names):
        raise BupError(
            f"labels must be between 0 and {len(class_names) - 1} (or {UNLABELLED} for unknown), "
            f"got {labels.min()} to {labels.max()}"
        )
    return _frozen(labels.astype(np.int64))


def _checked_edges(edges: np.ndarray, num_nodes: int) -> np.ndarray:
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
    return _frozen(edges)


def _checked_parts(parts: np.ndarray, num_nodes: int) -> np.ndarray:
    parts = np.asarray(parts)
    if parts.shape != (num_nodes,) or not np.isin(parts, (NO_PART, *range(len(PARTS)))).all():
        raise BupError(
            f"parts must be one of 0 ({PARTS[0]}), 1 ({PARTS[1]}), 2 ({PARTS[2]}) and {NO_PART} "
            f"(none) for each of {num_nodes} nodes, got {parts.dtype} of shape {parts.shape}"
        )
    return _frozen(parts.astype(np.int8))


def _check_whole(what: str, numbers: np.ndarray) -> None:
    # An empty list has the type float by default.
    if numbers.size and numbers.dtype.kind not in "iu":
        raise BupError(
            f"{what} must be whole numbers, got {numbers.dtype} such as {numbers.flat[0]!r}: "
            "round them yourself, and write -1 for an unknown label"
        )


def _frozen(array: np.ndarray) -> np.ndarray:
    array = array.view()
    array.setflags(write=False)
    return array


def _frozen_csr(matrix: sparse.csr_array) -> sparse.csr_array:
    # A shallow copy: the caller's own matrix stays writable.
    matrix = sparse.csr_array(matrix)
    matrix.data, matrix.indices, matrix.indptr = map(
        _frozen, (matrix.data, matrix.indices, matrix.indptr)
    )
    return matrix


def describe(graph: Graph) -> dict[str, Any]:
    """A graph's figures as plain values: size, classes, degrees, homophily, components."""
    dense = isinstance(graph.features, np.ndarray)
    nonzeros = int(np.count_nonzero(graph.features if dense else graph.features.data))
    sizes = np.bincount(graph.labels[graph.labelled], minlength=graph.num_classes)
    component_sizes = np.bincount(graph.components)
    return {
        "name": graph.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "density": nonzeros / (graph.num_nodes * graph.num_features),
        "classes": graph.num_classes,
        "class_sizes": dict(zip(graph.class_names, sizes.tolist(), strict=True)),
        "unlabelled": int((~graph.labelled).sum()),
        "homophily": graph.homophily,
        "components": {
            "count": len(component_sizes),
            "largest": int(component_sizes[0]),
            "isolated": int((component_sizes == 1).sum()),
        },
        "degree": {
            "mean": float(graph.degree.mean()),
            "median": float(np.median(graph.degree)),
            "largest": int(graph.degree.max()),
        },
        "degrees": _degree_table(graph.degree),
        "digest": graph.digest,
        "notes": list(graph.notes),
    }


def _degree_table(degree: np.ndarray) -> list[dict[str, Any]]:
    """Nodes per degree: one row each up to 6, then rows that double (7-12, 13-24, ...)."""
    rows = []
    low, high = 0, 0
    while low <= degree.max():
        nodes = int(((degree >= low) & (degree <= high)).sum())
        rows.append({"degree": str(low) if low == high else f"{low}-{high}", "nodes": nodes})
        low, high = high + 1, high + 1 if high < 6 else 2 * high
    return rows
