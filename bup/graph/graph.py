"""The graph: an immutable record, and what follows from it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bup.errors import BupError
from bup.graph import convert, paths
from bup.graph.arrays import (
    UNLABELLED,
    check_edges,
    check_features,
    check_labels,
    check_parts,
    freeze,
    is_whole,
)
from bup.graph.noun import NODE, Noun
from bup.graph.words import are_names
from bup.io.lazy import csgraph, sparse


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
    features: sparse.csr_array | np.ndarray
    edges: np.ndarray
    labels: np.ndarray
    class_names: tuple[str, ...]
    ids: tuple[str, ...] | None = None
    titles: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    words: tuple[str, ...] | None = None
    noun: Noun = NODE
    parts: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", check_features(self.features))
        object.__setattr__(self, "labels", check_labels(self.labels, self.class_names))
        object.__setattr__(self, "edges", check_edges(self.edges, len(self.labels)))
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
            object.__setattr__(self, "parts", check_parts(self.parts, self.num_nodes))

    from_arrays = staticmethod(convert.from_arrays)
    from_frames = staticmethod(convert.from_frames)
    from_networkx = staticmethod(convert.from_networkx)
    from_pyg = staticmethod(convert.from_pyg)
    to_pyg = convert.to_pyg

    def __repr__(self) -> str:
        notes = f", notes {self.notes!r}" if self.notes else ""
        return (
            f"Graph({self.name!r}, {self.noun.count(self.num_nodes)}, {self.num_edges:,} links, "
            f"{self.num_features:,} features, classes {self.class_names!r}{notes})"
        )

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
        return freeze(self.labels != UNLABELLED)

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """A as a symmetric matrix of ones, without self-loops."""
        rows, cols = np.concatenate([self.edges, self.edges[::-1]], axis=1)
        ones = np.ones(len(rows), dtype=np.float32)
        shape = (self.num_nodes, self.num_nodes)
        matrix = sparse.csr_array((ones, (rows, cols)), shape=shape)
        matrix.sort_indices()
        return freeze(matrix)

    @cached_property
    def degree(self) -> np.ndarray:
        """The number of links [n] of each node."""
        return freeze(np.bincount(self.edges.ravel(), minlength=self.num_nodes))

    @cached_property
    def looped_degree(self) -> np.ndarray:
        """d_ii of A + I: one more, for the self-loop, as formulas of the paper have it."""
        return freeze(self.degree + 1)

    @cached_property
    def components(self) -> np.ndarray:
        """Component number [n] of each node; 0 is the largest component."""
        _, component = csgraph.connected_components(self.adjacency, directed=False)
        sizes = np.bincount(component)
        rank = np.empty_like(sizes)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        return freeze(rank[component])

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
    def names(self) -> tuple[str, ...] | None:
        """What people call the nodes: ids that are names, else titles that are; None: neither."""
        return next((t for t in (self.ids, self.titles) if t is not None and are_names(t)), None)

    def name_of(self, node: int) -> str:
        """A node's name; its id where it has none."""
        return (self.names[node] if self.names else "") or self.node_id(node)

    def about(self, node: int) -> str:
        """What there is to read of a node beside its name: its title, or the id behind a title."""
        if self.titles is None:
            return ""
        other = self.node_id(node) if self.names is self.titles else self.titles[node]
        return "" if other == self.name_of(node) else other

    @cached_property
    def _index_of(self) -> dict[str, int]:
        return {node_id: node for node, node_id in enumerate(self.ids or ())}

    def find(self, node_id: str) -> int:
        """The index of the node with this id."""
        if self.ids is None:
            # fullmatch on ASCII digits: int() would also take " 7", "+7", "1_0" and other scripts
            if re.fullmatch("[0-9]{1,18}", node_id) and int(node_id) < self.num_nodes:
                return int(node_id)
        elif node_id in self._index_of:
            return self._index_of[node_id]
        ids = f"0 to {self.num_nodes - 1}" if self.ids is None else f"such as {self.ids[0]!r}"
        raise BupError(f"{self.name} has no node {node_id!r}: its ids are {ids}")

    def index(self, node: int | str) -> int:
        """A node's index, given that or, as text, its id."""
        if isinstance(node, str):
            return self.find(node)
        if not is_whole(node) or not 0 <= node < self.num_nodes:
            raise BupError(
                f"a node of {self.name} is a whole number from 0 to {self.num_nodes - 1}, or its "
                f"id as text, got {node!r}"
            )
        return int(node)

    def hops(self, sources: Iterable[int]) -> np.ma.MaskedArray:
        """Shortest-path lengths [len(sources), n] in links; masked where there is no path."""
        return self._path_lengths(sources, nearest=False)

    def nearest_hops(self, sources: Iterable[int]) -> np.ma.MaskedArray:
        """Length [n] of the path to the nearest source; masked where no source is reachable."""
        return self._path_lengths(sources, nearest=True)

    def _path_lengths(self, sources: Iterable[int], nearest: bool) -> np.ma.MaskedArray:
        nodes = self._check_nodes(sources)
        lengths = csgraph.dijkstra(
            self.adjacency, directed=False, indices=nodes, unweighted=True, min_only=nearest
        )
        unreachable = np.isinf(lengths)
        return np.ma.MaskedArray(np.where(unreachable, 0, lengths).astype(np.int64), unreachable)

    def mean_hops(self, sources: Iterable[int]) -> np.ma.MaskedArray:
        """Mean path length [n] over the reachable sources; masked where none is reachable.

        Of very many sources on a large graph, over ``paths.sample_sources`` of them.
        """
        nodes = paths.sample_sources(self._check_nodes(sources), self.num_nodes)
        total, reached = paths.sum_lengths(self.adjacency, nodes)
        return np.ma.MaskedArray(total / np.maximum(reached, 1), reached == 0)

    @cached_property
    def homophily(self) -> float | None:
        """Share of the edges between labelled nodes that join two of the same class.

        None where no edge has a label at both ends.
        """
        ends = self.labels[self.edges]
        labelled = (ends != UNLABELLED).all(axis=0)
        return float((ends[0] == ends[1])[labelled].mean()) if labelled.any() else None

    def _check_nodes(self, nodes: Iterable[int]) -> np.ndarray:
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
