"""Our first rule: every neighbour is a measurement, and precisions add up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bup.engine.receptive_field import Hop
from bup.graph import Graph
from bup.io.lazy import Tensor
from bup.propagation.base import Formula, Propagation, Rule, Shares
from bup.run.settings import setting


@dataclass(frozen=True)
class EvidenceSettings:
    evidence_weight: float = setting(
        1.0, "How much a neighbour counts under evidence propagation.", low=0, high=1000
    )
    evidence_noise: float = setting(
        1.0, "How far linked messages may differ under evidence propagation.", low=1e-6, high=1e6
    )


class Evidence(Propagation):
    r"""1/var(i | N(i)) = 1/var(i) + sum_{j in N(i)} weight / (var(j) + noise).

    Reads a link as "the two messages are equal up to noise", so that each neighbour measures its
    neighbour. More neighbours or surer ones always mean less variance.
    """

    def __init__(self, graph: Graph, s: Any) -> None:
        super().__init__(graph, s)
        self.weight, self.noise = s.evidence_weight, s.evidence_noise

    def step(self, var: Tensor, hop: Hop) -> Tensor:
        own = hop.at_targets(var)
        return own / (1 + own * hop.links.matmul(self.weight / (var + self.noise)))

    def shares(self, node: int, var: np.ndarray) -> Shares:
        near = self.graph.neighbours(node)
        var = var.astype(np.float64)
        before = var[node]
        # Precisions add up, variances do not: the loss is divided in proportion to precision.
        precision = self.weight / (var[near] + self.noise)
        total = precision.sum(axis=0)
        after = before / (1 + before * total)
        change = (after - before) * precision / np.where(total > 0, total, 1)
        return Shares(near, change, np.zeros_like(before), before, before + change.sum(axis=0))

    def formula(self, node: int, steps: Sequence[Shares]) -> Formula:
        before, after = steps[-1].before.mean(), steps[-1].after.mean()
        return Formula(
            "Evidence propagation reads each linked node as a measurement and adds precisions:",
            rf"{RULE.latex},\qquad w={self.weight:g},\ q={self.noise:g}",
            f"In the last step the variance goes from {before:.3f} to {after:.3f}. More linked "
            "nodes, or surer ones, always mean less of it.",
        )


RULE = Rule(
    name="evidence",
    title="Evidence",
    meaning="Our rule: every neighbour is a measurement; the surer it is, the more certainty "
    "it adds.",
    latex=r"\frac{1}{v_i'}=\frac{1}{v_i}+\sum_{j\in N(i)}\frac{w}{v_j+q}",
    propagation=Evidence,
    settings=EvidenceSettings,
    reads_neighbours=True,
    lesson="Every neighbour takes off the more, the surer it is itself.",
)
