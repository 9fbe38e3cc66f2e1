"""No propagation, for comparison."""

from collections.abc import Sequence

import numpy as np

from bup.engine.receptive_field import Hop
from bup.io.lazy import Tensor
from bup.propagation.base import Formula, Propagation, Rule, Shares


class NoPropagation(Propagation):
    """Every variance stays as the node's own words gave it."""

    def step(self, var: Tensor, hop: Hop) -> Tensor:
        return hop.at_targets(var)

    def shares(self, node: int, var: np.ndarray) -> Shares:
        near, before = self.graph.neighbours(node), var[node].astype(np.float64)
        nothing = np.zeros((len(near), len(before)))
        return Shares(near, nothing, np.zeros_like(before), before, before)

    def formula(self, node: int, steps: Sequence[Shares]) -> Formula:
        return Formula(
            "There is no propagation: the variance comes from this node's own words alone."
        )


RULE = Rule(
    name="none",
    title="None",
    meaning="No propagation: a node's variance comes from its own words alone.",
    latex="v_i'=v_i",
    propagation=NoPropagation,
)
