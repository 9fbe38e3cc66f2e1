"""One node under the lens: why it is (un)certain, and what would change that."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bup.errors import BupError
from bup.graph import Graph, simple_edges
from bup.methods import METHODS, find
from bup.propagation import Formula, Shares
from bup.receptive import Inputs
from bup.results import Result


@dataclass(frozen=True, eq=False)
class Inspection:
    """A node's message and where it comes from, before any calibration of its probabilities."""

    node: int
    mean: np.ndarray  # [c]
    var: np.ndarray  # [c]
    probs: np.ndarray  # [c]
    low: np.ndarray  # [c] credible interval of each probability
    high: np.ndarray  # [c]
    level: float
    steps: tuple[Shares, ...] = ()  # one per propagation step, over the hidden dimensions
    formula: Formula | None = None


def inspect(
    graph: Graph, result: Result, node: int, level: float = 0.9, inputs: Inputs | None = None
) -> Inspection:
    """Everything about one node's message; the graph's links may differ from those trained on.

    Only the node's neighbourhood is computed; who asks often keeps ``inputs`` of the graph. Methods
    that cannot trace a message back say what they have stored of it.
    """
    explains = find(result.spec.method).explains
    if explains.chances is None or result.mean is None or result.var is None:
        able = ", ".join(m.name for m in METHODS.values() if m.explains.intervals)
        raise BupError(
            f"{result.spec.method} gives its messages no variance: there is nothing to explain; "
            f"choose one of {able}"
        )
    mean, var = result.mean[[node]], result.var[[node]]
    steps: tuple[Shares, ...] = ()
    formula = None
    if explains.trace is not None:
        near = np.append(node, graph.neighbours(node))
        traced = explains.trace(graph, result, near, inputs or Inputs.of(graph))
        mean, var = traced.mean[:1], traced.var[:1]
        steps = tuple(
            traced.propagation.shares(node, _everywhere(graph, step.start, step.before))
            for step in traced.steps
        )
        formula = traced.propagation.formula(node, steps)
    probs, low, high = (part[0] for part in explains.chances(result, mean, var, level))
    return Inspection(node, mean[0], var[0], probs, low, high, level, steps, formula)


def _everywhere(graph: Graph, nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values [n, k] that are zero where nothing is known of a node."""
    spread = np.zeros((graph.num_nodes, values.shape[1]), dtype=values.dtype)
    spread[nodes] = values
    return spread


def layer_stds(graph: Graph, result: Result, inputs: Inputs) -> list[np.ndarray]:
    """Root mean variance [n] of the hidden message before, between and after propagation steps."""
    trace = find(result.spec.method).explains.trace
    if trace is None:
        raise BupError(f"{result.spec.method} has no layers of variance: choose bup")
    steps = trace(graph, result, np.arange(graph.num_nodes), inputs).steps
    variances = [steps[0].before, *(step.after for step in steps)]
    return [np.sqrt(var.mean(axis=1)) for var in variances]


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
