"""Belief propagation on a graph whose model is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bup.datasets.synthetic.model import BlockModel
from bup.graph import Graph
from bup.io.lazy import sparse, special

MAX_SWEEPS = 200
TOLERANCE = 1e-6
DAMPING = 0.3


@dataclass(frozen=True, eq=False)
class LinkPosterior:
    """Class probabilities given features and links, and how far to trust them."""

    probs: np.ndarray  # [n, c]
    how: Literal["enumeration", "belief propagation"]
    iterations: int  # sweeps over the links; 0 for enumeration
    residual: float  # largest change of any probability in the last sweep; 0 for enumeration

    @property
    def converged(self) -> bool:
        return self.residual <= TOLERANCE


def propagate(model: BlockModel, graph: Graph, evidence: np.ndarray) -> LinkPosterior:
    """Belief propagation: sweeps over all links at once until the messages converge.

        arriving at i from j:   m(c) = Σ_s out_j(s) P(link | c, s)
        field of unlinked nodes: f_i(c) = -θ_i Σ_{j not linked to i} θ_j Σ_s belief_j(s) rate[c, s]
        belief_i(c) ∝ evidence_i(c) exp(f_i(c)) Π m(c), and out_i leaves out the m from its receiver

    Row p of the messages belongs to entry p of the adjacency matrix: from ``source[p]`` to
    ``target[p]``. As all rates between classes are equal, a sweep costs O((links + nodes) c).
    """
    adjacency, theta = graph.adjacency, model.propensity[:, None]
    source = adjacency.indices
    target = np.repeat(np.arange(graph.num_nodes), np.diff(adjacency.indptr))
    reverse = np.argsort(source, kind="stable")  # the entry from target to source
    arrivals = sparse.csr_array(
        (np.ones(len(source)), np.arange(len(source)), adjacency.indptr),
        shape=(graph.num_nodes, len(source)),
    )
    strength = theta[source] * theta[target]
    across = -np.expm1(-strength * model.across_rate)
    excess = -np.expm1(-strength * model.within_rate) - across

    belief = special.softmax(evidence, axis=1)
    outgoing = belief[source]
    sweep, residual = 0, np.inf
    while sweep < MAX_SWEEPS and residual > TOLERANCE:
        sweep += 1
        log_message = np.log(np.maximum(across + excess * outgoing, np.finfo(float).tiny))
        weight = theta * belief
        unlinked = weight.sum(axis=0) - weight - adjacency @ weight
        total = evidence - theta * (unlinked @ model.link_rate) + arrivals @ log_message
        belief_step = special.softmax(total, axis=1) - belief
        outgoing_step = special.softmax(total[target] - log_message, axis=1)[reverse] - outgoing
        residual = max(float(np.abs(step).max(initial=0)) for step in (belief_step, outgoing_step))
        # Damped, because simultaneous updates of all nodes can oscillate for ever.
        belief += (1 - DAMPING) * belief_step
        outgoing += (1 - DAMPING) * outgoing_step
    return LinkPosterior(belief, "belief propagation", sweep, residual)
