"""The paper's correlation times the likeness of two nodes' words."""

import numpy as np

from bup.graph import Graph
from bup.graph.operators import unit_rows
from bup.propagation.correlations import degrees
from bup.propagation.correlations.base import LinkCorrelation


def between(graph: Graph, i: np.ndarray, j: np.ndarray, lam: float) -> np.ndarray:
    """cos(x_i, x_j) / sqrt(lam d_i d_j); 0 where one of them has no words."""
    nodes, place = np.unique(np.concatenate([i, j]), return_inverse=True)
    words = unit_rows(graph.features[nodes])
    cosine = words[place[: len(i)]].multiply(words[place[len(i) :]]).sum(axis=1)
    return cosine * degrees.between(graph, i, j, lam)


CORRELATION = LinkCorrelation(
    name="words",
    meaning="The degrees' correlation times the cosine of the two nodes' words: neighbours that "
    "speak alike make each other surer, others hardly matter.",
    latex=r"\frac{\cos(x_i,x_j)}{\sqrt{\lambda\,d_i d_j}}",
    between=between,
)
