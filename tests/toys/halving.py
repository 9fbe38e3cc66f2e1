"""A propagation rule as docs/extending.md has it: every neighbour takes half of what is left."""

from __future__ import annotations

import numpy as np

from bup.propagation import Formula, Propagation, Rule, Shares


class Halving(Propagation):
    """var'(i) = var(i) / 2^k with k neighbours."""

    def __init__(self, graph, settings):
        super().__init__(graph, settings)
        self.factor = 0.5**graph.degree

    def step(self, var, hop):
        links = hop.links.matmul(var.new_ones(hop.links.shape[1], 1))
        return hop.at_targets(var) * 0.5**links

    def shares(self, node, var):
        near = self.graph.neighbours(node)
        before = var[node].astype(np.float64)
        change = -before * 0.5 ** np.arange(1, len(near) + 1)[:, None]
        return Shares(near, change, np.zeros_like(before), before, before + change.sum(axis=0))

    def formula(self, node, steps):
        return Formula("Every link halves it:", rf"v'=v/2^{{{self.graph.degree[node]}}}", "So.")


RULE = Rule(
    name="halving",
    title="Halving",
    meaning="Every neighbour takes half of what is left.",
    latex="v'=v/2^k",
    propagation=Halving,
    reads_neighbours=True,
    lesson="Every neighbour takes half of what the others left.",
)
