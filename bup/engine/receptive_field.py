"""The nodes that some messages depend on: an epoch computes only these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bup.engine.sparse import Csr
from bup.graph import Graph
from bup.graph.operators import gcn_kernel, normalised_rows
from bup.io.lazy import Tensor, sparse, torch


@dataclass(frozen=True, eq=False)
class Inputs:
    """A graph's matrices, prepared once for any number of receptive fields."""

    words: sparse.csr_array  # [n, f], rows normalised
    kernel: sparse.csr_array  # [n, n], the GCN kernel
    links: sparse.csr_array  # [n, n], ones on links, without self-loops

    @classmethod
    def of(cls, graph: Graph) -> Inputs:
        return cls(normalised_rows(graph.features), gcn_kernel(graph), graph.adjacency)

    def field(self, targets: Sequence[np.ndarray]) -> ReceptiveField:
        """The receptive field of target nodes, one array of them per seed."""
        inner = [self._with_neighbours(nodes) for nodes in targets]
        outer = [self._with_neighbours(nodes) for nodes in inner]
        return ReceptiveField(self, list(targets), inner, outer)

    def everything(self) -> ReceptiveField:
        """The field of all nodes, for one seed."""
        nodes = np.arange(self.words.shape[0])
        return ReceptiveField(self, [nodes], [nodes], [nodes])

    def without(self, links: Sequence[tuple[int, int]], words: Sequence[tuple[int, int]]) -> Inputs:
        """The matrices of the graph without some links, and without some words (node, word)."""
        kernel, adjacency, rows = self.kernel, self.links, self.words
        if links:
            n, degree = kernel.shape[0], np.diff(kernel.indptr)
            ends = np.array([*links, *(link[::-1] for link in links)]).T
            removed = ends[0] * n + ends[1]
            grow = np.sqrt(degree / (degree - np.bincount(ends[0], minlength=n)))
            kernel = _without_entries(kernel, removed)
            kernel.data *= np.repeat(grow, np.diff(kernel.indptr)) * grow[kernel.indices]
            adjacency = _without_entries(adjacency, removed)
        if words:
            rows = rows.copy()
            for node, word in words:
                rows.data[rows.indptr[node] + np.flatnonzero(rows[[node]].indices == word)] = 0
            for node in {node for node, _ in words}:
                row = rows.data[rows.indptr[node] : rows.indptr[node + 1]]
                row /= np.abs(row).sum() or 1
        return Inputs(rows, kernel, adjacency)

    def unlinked(self) -> Inputs:
        """The matrices of the graph without any link."""
        n = self.words.shape[0]
        return Inputs(self.words, sparse.eye_array(n, format="csr"), sparse.csr_array((n, n)))

    def rows(self, nodes: np.ndarray) -> tuple[np.ndarray, sparse.csr_array]:
        """The nodes that some nodes read, and the kernel between these and those [nodes, read]."""
        kernel = self.kernel[nodes]
        read, places = np.unique(kernel.indices, return_inverse=True)
        shape = (len(nodes), len(read))
        return read, sparse.csr_array((kernel.data, places, kernel.indptr), shape=shape)

    def _with_neighbours(self, nodes: np.ndarray) -> np.ndarray:
        return np.unique(self.kernel[nodes].indices).astype(np.int64)


@dataclass(frozen=True, eq=False)
class ReceptiveField:
    """The rows that the messages of some target nodes depend on, for several seeds at once.

    The first layer is computed for ``inner`` nodes (the targets and their neighbours), which read
    the words of ``outer`` nodes (those and theirs). Seeds are stacked into block-diagonal matrices:
    each has its own rows and its own copy of the weights, so words have seeds * f columns.
    """

    inputs: Inputs
    targets: list[np.ndarray]  # per seed
    inner: list[np.ndarray]
    outer: list[np.ndarray]

    @cached_property
    def outer_words(self) -> Csr:
        return self._words_of(self.outer)

    @cached_property
    def target_words(self) -> Csr:
        return self._words_of(self.targets)

    @cached_property
    def hops(self) -> tuple[Hop, Hop]:
        """From the outer nodes to the inner ones, from those to the targets."""
        return Hop(self.inputs, self.inner, self.outer), Hop(self.inputs, self.targets, self.inner)

    @cached_property
    def self_hops(self) -> tuple[Hop, Hop]:
        """The same for rules that read no neighbour: from the targets to themselves."""
        here = Hop(self.inputs, self.targets, self.targets)
        return here, here

    def _words_of(self, nodes: list[np.ndarray]) -> Csr:
        return Csr.block_diagonal([_rows(self.inputs.words, rows) for rows in nodes])


@dataclass(frozen=True, eq=False)
class Hop:
    """One layer's step from source nodes to target nodes, whose neighbours the sources contain."""

    inputs: Inputs
    targets: list[np.ndarray]  # per seed
    sources: list[np.ndarray]

    @cached_property
    def kernel(self) -> Csr:
        """The GCN kernel [targets, sources]."""
        return _between(self.inputs.kernel, self.targets, self.sources)

    @cached_property
    def links(self) -> Csr:
        return _between(self.inputs.links, self.targets, self.sources)

    def at_targets(self, values: Tensor) -> Tensor:
        """The rows of the targets among values [sources, ...]."""
        return values if self.targets is self.sources else values[self._places]

    def gather(self, values: Tensor | np.ndarray) -> Tensor:
        """The values [targets] among values per node [n], or per seed and node [seeds, n]."""
        if isinstance(values, np.ndarray):
            values = torch.from_numpy(values.astype(np.float32))
        if values.dim() == 1:
            return values[self._nodes]
        pairs = zip(values, self.targets, strict=True)
        return torch.cat([row[torch.from_numpy(nodes)] for row, nodes in pairs])

    @cached_property
    def _places(self) -> Tensor:
        starts = np.cumsum([0, *map(len, self.sources)])
        pairs = enumerate(zip(self.targets, self.sources, strict=True))
        places = [np.searchsorted(o, i) + starts[s] for s, (i, o) in pairs]
        return torch.from_numpy(np.concatenate(places))

    @cached_property
    def _nodes(self) -> Tensor:
        return torch.from_numpy(np.concatenate(self.targets))


def _between(
    matrix: sparse.csr_array, rows: Sequence[np.ndarray], columns: Sequence[np.ndarray]
) -> Csr:
    """Blocks of a matrix, one per seed; columns must contain every neighbour of the rows."""
    blocks = []
    place = np.empty(matrix.shape[1], dtype=matrix.indices.dtype)
    for r, c in zip(rows, columns, strict=True):
        block = _rows(matrix, r)
        place[c] = np.arange(len(c))
        parts = block.data, place[block.indices], block.indptr
        blocks.append(sparse.csr_array(parts, shape=(len(r), len(c))))
    return Csr.block_diagonal(blocks)


def _without_entries(matrix: sparse.csr_array, entries: np.ndarray) -> sparse.csr_array:
    """The matrix without some of its entries, given as row * columns + column."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    kept = ~np.isin(rows * matrix.shape[1] + matrix.indices, entries)
    starts = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
    return sparse.csr_array((matrix.data[kept], matrix.indices[kept], starts), shape=matrix.shape)


def _rows(matrix: sparse.csr_array, rows: np.ndarray) -> sparse.csr_array:
    return matrix if len(rows) == matrix.shape[0] and rows[0] == 0 else matrix[rows]
