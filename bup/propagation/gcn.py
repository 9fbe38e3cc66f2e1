"""What the paper argues against: variances averaged like messages."""

from collections.abc import Sequence

import numpy as np

from bup.engine.receptive_field import Hop
from bup.io.lazy import Tensor
from bup.propagation.base import Formula, Propagation, Rule, Shares


class Averaging(Propagation):
    """var' = K var with the GCN's kernel."""

    def step(self, var: Tensor, hop: Hop) -> Tensor:
        return hop.kernel.matmul(var)

    def shares(self, node: int, var: np.ndarray) -> Shares:
        near = self.graph.neighbours(node)
        var = var.astype(np.float64)
        before = var[node]
        degree = self.graph.looped_degree.astype(np.float64)
        change = var[near] / np.sqrt(degree[node] * degree[near])[:, None]
        own = before / degree[node] - before
        return Shares(near, change, own, before, before + own + change.sum(axis=0))

    def formula(self, node: int, steps: Sequence[Shares]) -> Formula:
        return Formula(
            "Variances are averaged like messages, with the weights of a graph convolution:",
            RULE.latex,
            "A neighbour can only add, and nothing makes a well-linked node surer.",
        )


RULE = Rule(
    name="gcn",
    title="Averaging",
    meaning="What BUP's authors argue against: variances averaged like messages, with the GCN "
    "kernel.",
    latex=r"v_i'=\frac{v_i}{d_i}+\sum_{j\in N(i)}\frac{v_j}{\sqrt{d_i d_j}}",
    propagation=Averaging,
    reads_neighbours=True,
    lesson="Variances are treated like messages: a share of the node's own is kept, a share of "
    "every neighbour's is added, and these shares need not sum to one.",
)
