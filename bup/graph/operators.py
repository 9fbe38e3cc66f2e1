"""Matrices of a graph: kernels, random walks, normalised features."""

from __future__ import annotations

import numpy as np

from bup.graph import Graph
from bup.io.lazy import sparse


def with_loops(graph: Graph) -> sparse.csr_array:
    """A + I."""
    return sparse.csr_array(graph.adjacency + sparse.eye_array(graph.num_nodes))


def gcn_kernel(graph: Graph) -> sparse.csr_array:
    """K = D^-1/2 (A + I) D^-1/2, degrees counting the self-loop."""
    root = 1 / np.sqrt(graph.looped_degree.astype(np.float64))
    return sparse.csr_array(with_loops(graph).multiply(root[:, None]).multiply(root[None, :]))


def walk(graph: Graph) -> sparse.csr_array:
    """P = D^-1 (A + I): the mean over a node and its neighbours."""
    return sparse.csr_array(with_loops(graph).multiply(1 / graph.looped_degree[:, None]))


def neighbour_mean(graph: Graph) -> sparse.csr_array:
    """D^-1 A, without self-loops; a node without neighbours keeps its own value."""
    links = graph.adjacency.sum(axis=1)
    alone = sparse.diags_array((links == 0).astype(np.float64))
    mean = sparse.diags_array(1 / np.maximum(links, 1)) @ graph.adjacency
    return sparse.csr_array(mean + alone)


def normalised_links(graph: Graph) -> sparse.csr_array:
    """D^-1/2 A D^-1/2 without self-loops; nodes without links have empty rows."""
    links = graph.adjacency.sum(axis=1)
    root = sparse.diags_array(np.where(links > 0, 1 / np.sqrt(np.maximum(links, 1)), 0))
    return sparse.csr_array(root @ graph.adjacency @ root)


def normalised_rows(features: sparse.csr_array | np.ndarray) -> sparse.csr_array:
    """Features with rows that sum to 1 in absolute value; empty rows stay empty."""
    matrix = sparse.csr_array(features, dtype=np.float64)
    total = abs(matrix).sum(axis=1)
    return sparse.csr_array(matrix.multiply((1 / np.where(total > 0, total, 1))[:, None]))


def unit_rows(features: sparse.csr_array | np.ndarray) -> sparse.csr_array:
    """Features with rows of length 1, so that a product of two is their cosine."""
    matrix = sparse.csr_array(features, dtype=np.float64)
    length = np.sqrt(matrix.multiply(matrix).sum(axis=1))
    return sparse.csr_array(matrix.multiply((1 / np.where(length > 0, length, 1))[:, None]))
