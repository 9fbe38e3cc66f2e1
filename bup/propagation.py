"""How variance travels along links: the paper's conditional Gaussian, and its alternatives.

Notation: ``var`` [n, c] is the variance of each node's message, ``deg`` [n] counts the self-loop,
N(i) are the neighbours of i without i. Every function is pure and differentiable in ``var``.

What the paper's rule does, in one line: because cov(i,j)^2 / var(j) = cor(i,j)^2 var(i), the
neighbours' variances cancel. A node's variance is multiplied by one number that the topology alone
decides. ``evidence`` is our own rule, in which neighbours' variances do count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from bup.errors import BupError
from bup.graph import Graph
from bup.sparse import Csr

RULES: dict[str, str] = {
    "paper": "The paper's rule: condition a Gaussian on the neighbours. Their variances cancel; "
    "the degrees decide.",
    "evidence": "Our rule: every neighbour is a measurement; the surer it is, the more certainty "
    "it adds.",
    "gcn": "What the paper argues against: average variances like messages, with the GCN kernel.",
    "none": "No propagation: a node's variance comes from its own words alone.",
}

SMALLEST_LAM = 0.5

Correlation = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Correlation of two linked nodes from their degrees; must be symmetric in its arguments."""


def paper_correlation(lam: float = 1.0) -> Correlation:
    r"""cor(i,j) = 1 / sqrt(lam d_i d_j), Definition 1.

    The reduction of i's variance is the mean of 1/d_j over its neighbours, times
    (d_i - 1) / (lam d_i); with d_j >= 2 that is below 1 / (2 lam), so lam >= 0.5 keeps every
    variance positive.
    """
    if not lam >= SMALLEST_LAM:
        raise BupError(
            f"lam must be >= {SMALLEST_LAM} so that every variance stays positive, got {lam}"
        )
    return lambda deg_i, deg_j: 1 / np.sqrt(lam * deg_i * deg_j)


def edge_correlations(graph: Graph, correlation: Correlation) -> sparse.csr_array:
    """Matrix [n, n] of cor(i,j) on the links of a graph, zero elsewhere; float64."""
    low, high = graph.edges
    degree = graph.degree.astype(np.float64)
    values = np.asarray(correlation(degree[low], degree[high]), dtype=np.float64)
    mirrored = np.asarray(correlation(degree[high], degree[low]), dtype=np.float64)
    if not np.allclose(values, mirrored, rtol=1e-12, atol=0):
        raise BupError("the correlation must be symmetric: cor(i,j) = cor(j,i)")
    rows, cols = np.concatenate([graph.edges, graph.edges[::-1]], axis=1)
    shape = (graph.num_nodes, graph.num_nodes)
    return sparse.csr_array((np.concatenate([values, values]), (rows, cols)), shape=shape)


def reduction_shares(
    graph: Graph, correlation: Correlation, neighbour_links: bool = False
) -> sparse.csr_array:
    r"""Matrix [n, n] whose entry (i, j) is the share of its variance that i loses to neighbour j.

    Definition 1 leaves the neighbours uncorrelated: the share is cor(i,j)^2. With
    ``neighbour_links`` the covariances of neighbours that are linked to each other are filled in,
    which the paper offers for dense graphs: R is the neighbours' correlation matrix, r the row of
    their correlations with i, and the share is r_j (R^-1 r)_j. Rows sum to r^T R^-1 r either way,
    and no variance appears in it.
    """
    cor = edge_correlations(graph, correlation)
    shares = cor.power(2)
    if neighbour_links:
        cor.sort_indices()
        shares.sort_indices()
        in_triangle = np.flatnonzero((cor @ cor).multiply(cor).sum(axis=1))
        for i in in_triangle.tolist():
            here = slice(cor.indptr[i], cor.indptr[i + 1])
            near = cor.indices[here]
            among = np.eye(len(near)) + cor[near][:, near].toarray()
            _check_definite(graph, i, among)
            shares.data[here] = cor.data[here] * np.linalg.solve(among, cor.data[here])
    total = np.asarray(shares.sum(axis=1)).ravel()
    if (total >= 1).any():
        worst = int(total.argmax())
        raise BupError(
            f"the correlations leave node {graph.node_id(worst)} no variance (its neighbours take "
            f"{total[worst]:.3g} of it, at most 1 is possible): use weaker correlations, such as a "
            "larger lam"
        )
    return shares


def _check_definite(graph: Graph, node: int, matrix: np.ndarray) -> None:
    if np.linalg.eigvalsh(matrix)[0] <= 0:
        raise BupError(
            f"the correlations among the neighbours of node {graph.node_id(node)} do not form a "
            "covariance matrix: use weaker correlations, such as a larger lam"
        )


def paper_factor(graph: Graph, lam: float = 1.0) -> np.ndarray:
    r"""The closed form [n] that training uses, float64.

    var(i | N(i)) = var(i) * (1 - 1/(lam d_i) * sum_{j in N(i)} 1/d_j)
    """
    paper_correlation(lam)
    degree = graph.degree.astype(np.float64)
    return 1 - (graph.adjacency.astype(np.float64) @ (1 / degree)) / (lam * degree)


def conditional_variance(var: Tensor, cor: Tensor, edge_index: Tensor) -> Tensor:
    r"""var(i | N(i)) = var(i) - C B^-1 C^T, summed link by link without using that it cancels.

    ``edge_index`` [2, e] holds every link in both directions, from neighbour j (row 1) to node i
    (row 0); ``cor`` [e] is cor(i, j). C_j = cor(i,j) sqrt(var_i var_j) and B = diag(var_j).
    """
    i, j = edge_index
    covariance = cor[:, None] * (var[i] * var[j]).sqrt()
    return var - torch.zeros_like(var).index_add(0, i, covariance**2 / var[j])


def conditional_variance_dense(var: Tensor, cor: Tensor, neighbour_links: bool = False) -> Tensor:
    r"""The obvious reference: build Definition 1's matrix for each node, take a Schur complement.

    ``cor`` [n, n] is dense, zero where there is no link. Slow; for small graphs and for tests.
    """
    std = var.sqrt()
    result = torch.empty_like(var)
    for i in range(var.shape[0]):
        near = torch.nonzero(cor[i]).ravel()
        eye = torch.eye(len(near), dtype=var.dtype)
        among = eye + cor[near][:, near] if neighbour_links else eye
        for c in range(var.shape[1]):
            b = std[near, c, None] * among * std[None, near, c]
            row = cor[i, near] * std[i, c] * std[near, c]
            result[i, c] = var[i, c] - row @ torch.linalg.solve(b, row) if len(near) else var[i, c]
    return result


def evidence_variance(
    own: Tensor, near: Tensor, links: Csr, weight: float = 1.0, noise: float = 1.0
) -> Tensor:
    r"""1/var(i | N(i)) = 1/var(i) + sum_{j in N(i)} weight / (var(j) + noise).

    Reads a link as "the two messages are equal up to noise", so that each neighbour measures its
    neighbour. More neighbours or surer ones always mean less variance. ``own`` [r, c] are the
    variances of the rows of ``links`` [r, m], ``near`` [m, c] those of its columns.
    """
    return own / (1 + own * links.matmul(weight / (near + noise)))


@dataclass(frozen=True)
class Shares:
    """Who changed a node's variance in one propagation step, exactly: before + sum = after."""

    neighbours: np.ndarray  # [k] node indices
    change: np.ndarray  # [k, c] what each neighbour added to the variance (negative: took off)
    own: np.ndarray  # [c] what the node itself added (zero, except under ``gcn``)
    before: np.ndarray  # [c]
    after: np.ndarray  # [c]


def explain(
    graph: Graph,
    node: int,
    var: np.ndarray,
    rule: str,
    lam: float = 1.0,
    weight: float = 1.0,
    noise: float = 1.0,
) -> Shares:
    """What each neighbour did to a node's variance; ``var`` [n, c] is the step's input."""
    near = graph.neighbours(node)
    var = var.astype(np.float64)
    before = var[node]
    degree = graph.degree.astype(np.float64)
    own = np.zeros_like(before)
    if rule == "paper":
        share = paper_correlation(lam)(degree[node], degree[near]) ** 2
        change = -share[:, None] * before
    elif rule == "evidence":
        # Precisions add up, variances do not: the loss is divided in proportion to precision.
        precision = weight / (var[near] + noise)
        total = precision.sum(axis=0)
        after = before / (1 + before * total)
        change = (after - before) * precision / np.where(total > 0, total, 1)
    elif rule == "gcn":
        change = var[near] / np.sqrt(degree[node] * degree[near])[:, None]
        own = before / degree[node] - before
    elif rule == "none":
        change = np.zeros((len(near), len(before)))
    else:
        raise unknown_rule(rule)
    return Shares(near, change, own, before, before + own + change.sum(axis=0))


def unknown_rule(rule: str) -> BupError:
    return BupError(f"there is no propagation {rule!r}: choose one of {', '.join(RULES)}")
