"""The paper's correlation: the fewer links two linked nodes have, the stronger."""

import numpy as np

from bup.graph import Graph
from bup.propagation.correlations.base import LinkCorrelation


def between(graph: Graph, i: np.ndarray, j: np.ndarray, lam: float) -> np.ndarray:
    """1 / sqrt(lam d_i d_j), degrees counting the self-loop."""
    degree = graph.looped_degree.astype(np.float64)
    return 1 / np.sqrt(lam * degree[i] * degree[j])


def sum_of_squares(graph: Graph, lam: float) -> np.ndarray:
    """1/(lam d_i) sum_{j in N(i)} 1/d_j.

    The mean of 1/d_j over the neighbours, times (d_i - 1) / (lam d_i); with d_j >= 2 that is below
    1 / (2 lam), so lam >= 0.5 leaves every node some variance.
    """
    degree = graph.looped_degree.astype(np.float64)
    return (graph.adjacency.astype(np.float64) @ (1 / degree)) / (lam * degree)


CORRELATION = LinkCorrelation(
    name="degrees",
    meaning="As published: the fewer links two linked nodes have, the more they vary together.",
    latex=r"\frac{1}{\sqrt{\lambda\,d_i d_j}}",
    between=between,
    sum_of_squares=sum_of_squares,
)
