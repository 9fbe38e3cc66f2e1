"""One node under the lens: why it is (un)certain, and what would change that."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch

from bup import likelihood, propagation
from bup.errors import BupError
from bup.graph import Graph, simple_edges
from bup.methods import bup as bup_method
from bup.methods import settings_of
from bup.propagation import Shares, paper_factor
from bup.results import Result
from bup.training import Inputs


@dataclass(frozen=True, eq=False)
class Inspection:
    """A node's message and where it comes from; the variances include a fitted scale."""

    node: int
    mean: np.ndarray  # [c]
    var: np.ndarray  # [c]
    probs: np.ndarray  # [c]
    low: np.ndarray  # [c] credible interval of each probability
    high: np.ndarray  # [c]
    level: float
    steps: tuple[Shares, ...]  # one per propagation step, over the hidden dimensions
    factor: float | None  # the paper's topological factor of this node; None under other rules


def inspect(
    graph: Graph, result: Result, node: int, level: float = 0.9, inputs: Inputs | None = None
) -> Inspection:
    """Everything about one node's message; the graph may differ from the one trained on.

    Only the node's neighbourhood is computed; who asks often keeps ``inputs`` of the graph.
    """
    if result.var is None:
        raise BupError(
            f"{result.spec.method} gives its messages no variance: there is nothing to explain; "
            "choose bup"
        )
    s = settings_of(result.spec)
    parameters = {name: torch.from_numpy(array)[None] for name, array in result.weights.items()}
    factor = paper_factor(graph, s.lam)
    near = np.concatenate([[node], graph.neighbours(node)])
    field = (inputs or Inputs.of(graph)).field([near])
    scale = result.figures.get("variance_scale", 1.0)
    with torch.no_grad():
        m = bup_method.messages(parameters, field, s, torch.from_numpy(factor).float())
        mean, var = m.mean[:1], scale * m.var[:1]
        probs = likelihood.class_probabilities(mean, var, rule=s.prediction)
        spread = likelihood.probability_distribution(mean, var, level=level)
    steps = []
    for nodes, layer in zip(_rows_of_layers(field, s.propagation), m.layers, strict=True):
        before = np.zeros((graph.num_nodes, layer.before.shape[1]), dtype=np.float32)
        before[nodes] = layer.before.numpy()
        strength = (s.lam, s.evidence_weight, s.evidence_noise)
        steps.append(propagation.explain(graph, node, before, s.propagation, *strength))
    return Inspection(
        node=node,
        mean=mean[0].numpy(),
        var=var[0].numpy(),
        probs=probs[0].numpy(),
        low=spread.low[0].numpy(),
        high=spread.high[0].numpy(),
        level=level,
        steps=tuple(steps),
        factor=float(factor[node]) if s.propagation == "paper" else None,
    )


def _rows_of_layers(field: bup_method.Field, rule: str) -> tuple[np.ndarray, np.ndarray]:
    """The nodes whose variances the two propagation steps start from."""
    local = rule in ("paper", "none")
    return (field.targets[0], field.targets[0]) if local else (field.outer[0], field.inner[0])


def with_links(
    graph: Graph,
    add: Iterable[tuple[int, int]] = (),
    remove: Iterable[tuple[int, int]] = (),
) -> Graph:
    """The graph with some links added and others removed; a link is a pair of node indices."""
    links = {tuple(pair) for pair in graph.edges.T.tolist()}
    for low, high in map(sorted, remove):
        if (low, high) not in links:
            raise BupError(f"there is no link between {low} and {high} to remove")
        links.discard((low, high))
    for low, high in map(sorted, add):
        if low == high or low < 0 or high >= graph.num_nodes:
            raise BupError(f"a link joins two different nodes of the graph, got {low} and {high}")
        if (low, high) in links:
            raise BupError(f"{low} and {high} are linked already")
        links.add((low, high))
    ends = np.array(sorted(links), dtype=np.int64).reshape(-1, 2)
    return dataclasses.replace(graph, edges=simple_edges(ends[:, 0], ends[:, 1]))
