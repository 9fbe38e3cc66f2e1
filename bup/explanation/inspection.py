"""Inspect one node: why the model is sure or unsure of it, and what would change that."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bup.engine.receptive_field import Inputs
from bup.errors import BupError
from bup.graph import Graph, simple_edges
from bup.methods import METHODS, find, why_no_interval
from bup.methods.base import ProbabilityIntervals
from bup.propagation import Breakdown, Formula, Propagation, Shares
from bup.results.result import Result


@dataclass(frozen=True, eq=False)
class Inspection:
    """A node's message, its class probabilities and how the message was propagated.

    A calibration of the probabilities themselves, such as ``temperature``, is not included: then
    ``result.probs`` differ, and there is no interval.
    """

    node: int
    mean: np.ndarray  # [c]
    var: np.ndarray  # [c]
    probs: np.ndarray  # [c]
    low: np.ndarray | None  # [c] credible interval; None where ``why_no_interval`` says why
    high: np.ndarray | None  # [c]
    level: float
    steps: tuple[Shares, ...] = ()  # one per propagation step, over the hidden dimensions
    formula: Formula | None = None
    breakdowns: tuple[Breakdown, ...] = ()


class Inspector:
    """Inspects nodes of one run; what all inspections share is computed once.

    The graph's links may differ from those that the run was trained on.
    """

    def __init__(self, graph: Graph, result: Result, inputs: Inputs | None = None) -> None:
        if graph.num_nodes != len(result.probs):
            raise BupError(
                f"{graph.name} has {graph.num_nodes:,} nodes and the result {len(result.probs):,}: "
                "give the graph that it was trained on, or that with other links"
            )
        self.graph, self.result = graph, result
        self.explains = find(result.spec.method).explains
        self._inputs = inputs

    @cached_property
    def inputs(self) -> Inputs:
        return self._inputs or Inputs.of(self.graph)

    @cached_property
    def propagation(self) -> Propagation | None:
        """The run's rule on this graph; None if its method has none."""
        make = self.explains.propagation
        return None if make is None else make(self.graph, self.result, self.inputs)

    def inspect(self, node: int | str, level: float = 0.9) -> Inspection:
        """Explain one node's message; only its neighbourhood is computed.

        ``node`` is its index, or its id as text. For a method that cannot trace messages, the
        stored message is used.
        """
        node = self.graph.index(node)
        result, explains = self.result, self.explains
        mean, var = self._stored(node)
        steps: tuple[Shares, ...] = ()
        formula = None
        breakdowns: tuple[Breakdown, ...] = ()
        if explains.trace is not None and self.propagation is not None:
            near = np.append(node, self.graph.neighbours(node))
            traced = explains.trace(result, near, self.inputs, self.propagation)
            mean, var = traced.mean[:1], traced.var[:1]
            steps = tuple(
                self.propagation.shares(node, self._everywhere(step.sources, step.before))
                for step in traced.steps
            )
            formula = self.propagation.formula(node, steps)
            breakdowns = tuple(self.propagation.breakdowns(node))
        probs, low, high = self._probabilities(mean, var, level)
        return Inspection(
            node, mean[0], var[0], probs, low, high, level, steps, formula, breakdowns
        )

    def interval(self, node: int, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of a node's credible intervals, from its stored message.

        Raises ``BupError`` where ``why_no_interval`` says why there is none.
        """
        if why := why_no_interval(self.result.spec):
            raise BupError(why)
        _, low, high = self._probabilities(*self._stored(node), level)
        assert low is not None and high is not None
        return low, high

    def _stored(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance [1, c] of a node's message."""
        result = self.result
        if not self.explains.intervals or result.mean is None or result.var is None:
            able = ", ".join(m.name for m in METHODS.values() if m.explains.intervals)
            raise BupError(
                f"{result.spec.method} gives its messages no variance: there is nothing to "
                f"explain; choose one of {able}"
            )
        return result.mean[[node]], result.var[[node]]

    def _probabilities(
        self, mean: np.ndarray, var: np.ndarray, level: float
    ) -> ProbabilityIntervals:
        """Probabilities and interval [c] of a single message [1, c]."""
        assert self.explains.probabilities is not None
        probs, low, high = self.explains.probabilities(self.result, mean, var, level)
        if low is None or high is None or why_no_interval(self.result.spec):
            return ProbabilityIntervals(probs[0], None, None)
        return ProbabilityIntervals(probs[0], low[0], high[0])

    def layer_stds(self) -> list[np.ndarray]:
        """Root mean variance [n] of the hidden message before, between and after the steps."""
        if self.explains.trace is None or self.propagation is None:
            raise BupError(f"{self.result.spec.method} has no propagation steps: choose bup")
        nodes = np.arange(self.graph.num_nodes)
        steps = self.explains.trace(self.result, nodes, self.inputs, self.propagation).steps
        variances = [steps[0].before, *(step.after for step in steps)]
        return [np.sqrt(var.mean(axis=1)) for var in variances]

    def _everywhere(self, nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Spread the values of some nodes to an array [n, k] that is zero for all others."""
        values_of_all = np.zeros((self.graph.num_nodes, values.shape[1]), dtype=values.dtype)
        values_of_all[nodes] = values
        return values_of_all


def inspect(graph: Graph, result: Result, node: int | str, level: float = 0.9) -> Inspection:
    """Everything about one node's message; for several nodes, keep one ``Inspector``.

    Parameters
    ----------
    graph : Graph
        The graph.
    result : Result
        A run on it, of a method whose messages have a variance.
    node : int or str
        The node, by its index or its id.
    level : float, default 0.9
        The probability of the credible intervals.

    Returns
    -------
    Inspection
        Mean and variance of the message, class probabilities with their intervals, and the share of
        every neighbour.

    Raises
    ------
    BupError
        If there is no such node, or the method's messages have no variance.

    Examples
    --------
    >>> import bup
    >>> graph = bup.load_graph("synthetic:nodes=60,classes=2,words=20")
    >>> result = bup.fit(graph, per_class=5, epochs=3)
    >>> bup.inspection.inspect(graph, result, node=35).var.shape
    (2,)
    """
    return Inspector(graph, result).inspect(node, level)


def with_links(
    graph: Graph,
    add: Iterable[tuple[int, int]] = (),
    remove: Iterable[tuple[int, int]] = (),
) -> Graph:
    """The graph with some links added and others removed; a link is a pair of node indices."""
    links = {tuple(pair) for pair in graph.edges.T.tolist()}
    for low, high in map(sorted, remove):
        if (low, high) not in links:
            named = " and ".join(
                graph.node_id(end) if 0 <= end < graph.num_nodes else str(end)
                for end in (low, high)
            )
            raise BupError(f"there is no link between {named} to remove")
        links.discard((low, high))
    for low, high in map(sorted, add):
        if low < 0 or high >= graph.num_nodes:
            most = graph.num_nodes - 1
            raise BupError(f"a link joins nodes from 0 to {most}, got {low} and {high}")
        if low == high:
            raise BupError(
                f"a link joins two different nodes: {graph.node_id(low)} cannot be linked to itself"
            )
        if (low, high) in links:
            raise BupError(f"{graph.node_id(low)} and {graph.node_id(high)} are linked already")
        links.add((low, high))
    ends = np.array(sorted(links), dtype=np.int64).reshape(-1, 2)
    return dataclasses.replace(graph, edges=simple_edges(ends[:, 0], ends[:, 1]))
