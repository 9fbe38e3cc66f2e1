"""What the nodes around a node speak of, in a few coordinates, and which class that is like."""

from __future__ import annotations

import numpy as np

from bup.graph import Graph
from bup.late import sparse
from bup.operators import unit_rows

STAY, STEPS = 0.1, 2  # of the walk over which words are averaged: a layer's reach, twice
SHRINK = 0.5  # how far the scatter within classes is drawn towards that of the whole graph
RIDGE = 1e-9


def walk_mean(p: sparse.csr_array, values: np.ndarray, stay: float, steps: int) -> np.ndarray:
    """sum_k s_k P^k values: a mean over the nodes around, by a walk that keeps coming home."""
    now = values
    for _ in range(steps):
        now = (1 - stay) * (p @ now) + stay * values
    return now


def topics(graph: Graph, p: sparse.csr_array, dims: int) -> np.ndarray:
    """Principal coordinates [n, dims] of words averaged over neighbourhoods; they see no label.

    Rows of words have length one; binary words are weighted by how rare they are.
    """
    words = sparse.csr_array(graph.features, dtype=np.float64)
    values = words.data[words.data != 0]
    if values.size and np.ptp(values) == 0:
        counts = np.asarray((words != 0).sum(axis=0)).ravel()
        rarity = np.log((graph.num_nodes + 1) / (counts + 1))
        words = sparse.csr_array(words @ sparse.diags_array(rarity))
    words = unit_rows(words)
    if min(words.shape) <= dims + 1:  # too small for an iterative method
        around = walk_mean(p, words.toarray(), STAY, STEPS)
        u, s, _ = np.linalg.svd(around - around.mean(axis=0), full_matrices=False)
        return u[:, :dims] * s[:dims]
    back = sparse.csr_array(p.T)
    centre = walk_mean(back, np.ones(len(words.indptr) - 1), STAY, STEPS) @ words
    centre = centre / graph.num_nodes
    # Products with the averaged, centred words, which are never formed: they would be dense.
    from scipy.sparse import linalg

    operator = linalg.LinearOperator(
        words.shape,
        dtype=np.float64,
        matvec=lambda v: walk_mean(p, words @ v.ravel(), STAY, STEPS) - centre @ v.ravel(),
        rmatvec=lambda v: words.T @ walk_mean(back, v.ravel(), STAY, STEPS) - centre * v.sum(),
    )
    # A start of our own, or every run would differ a little; ones could be mapped to nothing.
    start = np.random.RandomState(0).standard_normal(max(words.shape))
    try:
        u, s, _ = linalg.svds(operator, dims, v0=start[: min(words.shape)])
    except linalg.ArpackError:  # it may not settle, where many directions matter equally
        u, s, _ = linalg.svds(operator, dims, v0=start[: words.shape[0]], solver="propack")
    largest_first = np.argsort(-s)
    return u[:, largest_first] * s[largest_first]


def class_log_ratios(
    z: np.ndarray,
    nodes: np.ndarray,
    labels: np.ndarray,
    classes: int,
    places: np.ndarray | None = None,
) -> np.ndarray:
    """log N(z; mu_c, S) / N(z; m, T) [n, c]: how much better a class explains z than all nodes do.

    m and T are mean and covariance of all nodes, mu_c the mean of the labelled ones of a class, and
    S lies halfway between the scatter within classes and T. ``places`` [k, d] asks the same of
    other places than those of the nodes.
    """
    centre = z.mean(axis=0)
    z = z - centre
    asked = z if places is None else places - centre
    total = z.T @ z / len(z)
    total = total + max(RIDGE * np.trace(total) / len(total), 1e-12) * np.eye(len(total))
    means = np.stack([z[nodes[labels == c]].mean(axis=0) for c in range(classes)])
    rest = z[nodes] - means[labels]
    within = rest.T @ rest / max(len(nodes) - classes, 1)
    inner = (1 - SHRINK) * within + SHRINK * total
    of_classes = np.stack([_log_normal(asked - mean, inner) for mean in means], axis=1)
    return of_classes - _log_normal(asked, total)[:, None]


def _log_normal(x: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """log N(x; 0, covariance) of every row, up to a constant."""
    root = np.linalg.cholesky(covariance)
    return -0.5 * np.square(np.linalg.solve(root, x.T)).sum(0) - np.log(np.diag(root)).sum()
