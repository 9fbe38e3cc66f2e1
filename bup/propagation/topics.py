"""The words around a node in a few coordinates, and which class they resemble."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bup.graph import Graph
from bup.graph.operators import unit_rows
from bup.io.lazy import sparse

STAY, STEPS = 0.1, 2  # of the random walk over which words are averaged
SHRINK = 0.5  # shrinkage of the covariance within classes towards that of the whole graph
RIDGE = 1e-9


def walk_mean(p: sparse.csr_array, values: np.ndarray, stay: float, steps: int) -> np.ndarray:
    """sum_k s_k P^k values: a neighbourhood mean, by a random walk with restart."""
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
        counts = (words != 0).sum(axis=0)
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
    # A fixed start, or runs would differ a little; a vector of ones could be mapped to zero.
    start = np.random.RandomState(0).standard_normal(max(words.shape))
    try:
        u, s, _ = linalg.svds(operator, dims, v0=start[: min(words.shape)])
    except linalg.ArpackError:  # it may not converge where many singular values are equal
        u, s, _ = linalg.svds(operator, dims, v0=start[: words.shape[0]], solver="propack")
    largest_first = np.argsort(-s)
    return u[:, largest_first] * s[largest_first]


@dataclass(frozen=True, eq=False)
class Scatter:
    """Normal distributions of the coordinates of all nodes and of every class."""

    centre: np.ndarray  # [d] of all nodes
    total: np.ndarray  # [d, d] their covariance T
    means: np.ndarray  # [c, d] of the labelled nodes of a class
    inner: np.ndarray  # [d, d] the covariance S of every class, halfway from their own to T

    @classmethod
    def of(cls, z: np.ndarray, nodes: np.ndarray, labels: np.ndarray, classes: int) -> Scatter:
        """Fit to coordinates z [n, d], of which ``nodes`` have ``labels``."""
        centre = z.mean(axis=0)
        z = z - centre
        total = z.T @ z / len(z)
        total = total + max(RIDGE * np.trace(total) / len(total), 1e-12) * np.eye(len(total))
        means = np.stack([z[nodes[labels == c]].mean(axis=0) for c in range(classes)])
        rest = z[nodes] - means[labels]
        within = rest.T @ rest / max(len(nodes) - classes, 1)
        return cls(centre, total, centre + means, (1 - SHRINK) * within + SHRINK * total)

    def log_ratios(self, places: np.ndarray) -> np.ndarray:
        """log N(z; mu_c, S) / N(z; m, T) [n, c]: how much better a class explains a place than all
        nodes do."""
        of_classes = [_log_normal(places - mean, self.inner) for mean in self.means]
        at_large = _log_normal(places - self.centre, self.total)
        return np.stack(of_classes, axis=1) - at_large[:, None]


def _log_normal(x: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """log N(x; 0, covariance) of every row, up to a constant."""
    root = np.linalg.cholesky(covariance)
    return -0.5 * np.square(np.linalg.solve(root, x.T)).sum(0) - np.log(np.diag(root)).sum()
