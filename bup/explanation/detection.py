"""Detection of nodes that a model should doubt: by which score, and which are missed together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csgraph

from bup.errors import BupError
from bup.graph import Graph
from bup.results.result import Result


@dataclass(frozen=True, eq=False)
class DetectionNodes:
    """Nodes, some of which (the positive ones) a score should detect."""

    nodes: np.ndarray  # [m] indices
    positive: np.ndarray  # [m] mask

    @property
    def possible(self) -> bool:
        """Whether there are both positive nodes and others."""
        return bool(self.positive.any() and not self.positive.all())

    def ranks(self, doubt: np.ndarray) -> np.ndarray:
        """The share [m] of the nodes that are surer than each node; ``doubt`` is over all nodes.

        Ties count half, so that scores of any scale can be drawn on one axis.
        """
        values = doubt[self.nodes]
        ordered = np.sort(values)
        below = np.searchsorted(ordered, values, side="left")
        upto = np.searchsorted(ordered, values, side="right")
        return (below + upto) / (2 * len(values))

    def node_at(self, doubt: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """For each threshold, a node that is just flagged there; above all, the most doubted."""
        order = self.nodes[np.argsort(doubt[self.nodes], kind="stable")]
        place = np.searchsorted(doubt[order], thresholds)
        return order[place.clip(max=len(order) - 1)]

    def flagged(self, doubt: np.ndarray, false_alarms: float) -> np.ndarray:
        """Mask [m] of the most doubted nodes, with at most this share of the others among them.

        The lowest threshold that keeps to it; nodes that tie are flagged together or not at all.
        """
        if not 0 <= false_alarms <= 1:
            raise BupError(f"false alarms are a share between 0 and 1, got {false_alarms}")
        values = doubt[self.nodes]
        others = np.sort(values[~self.positive])[::-1]
        allowed = int(np.floor(false_alarms * len(others) + 1e-9))
        if allowed >= len(others):
            return np.ones(len(values), dtype=bool)
        return values > others[allowed]


def unseen(result: Result, graph: Graph) -> DetectionNodes:
    """Nodes of left-out classes among the test nodes."""
    nodes = result.split.test
    return DetectionNodes(nodes, result.split.is_ood(graph.labels[nodes]))


def mistakes(result: Result, graph: Graph) -> DetectionNodes:
    """Wrong answers among the test nodes of learned classes."""
    nodes = result.judged(graph).nodes
    return DetectionNodes(nodes, result.predicted[nodes] != graph.labels[nodes])


def group_by_detectors(
    search: DetectionNodes, flags: Mapping[str, np.ndarray]
) -> dict[tuple[str, ...], np.ndarray]:
    """The positive nodes, grouped by exactly which of several scores flag them.

    A key holds the names of these scores in their order; ``()`` is the group that none flags.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for place in np.flatnonzero(search.positive):
        names = tuple(name for name, flagged in flags.items() if flagged[place])
        groups.setdefault(names, []).append(int(search.nodes[place]))
    position = {name: i for i, name in enumerate(flags)}
    order = sorted(groups, key=lambda names: (-len(names), [position[name] for name in names]))
    return {names: np.array(groups[names]) for names in order}


def confusion(true: np.ndarray, assigned: np.ndarray, classes: int) -> np.ndarray:
    """Counts [true class, assigned class] of nodes."""
    counts = np.bincount(classes * true + assigned, minlength=classes * classes)
    return counts.reshape(classes, classes)


def linked_groups(graph: Graph, nodes: np.ndarray, least: int = 2) -> list[np.ndarray]:
    """Groups of nodes that are linked to each other, largest first, single nodes left out."""
    among = graph.adjacency[nodes][:, nodes]
    _, member = csgraph.connected_components(among, directed=False)
    groups = [nodes[member == g] for g in range(member.max(initial=-1) + 1)]
    return sorted((g for g in groups if len(g) >= least), key=lambda g: (-len(g), g.min()))


def distinctive_words(graph: Graph, nodes: np.ndarray, most: int = 5) -> list[str]:
    """The words that distinguish some nodes from the whole graph, the most distinctive first.

    p log(p / q) for the share p of these nodes that have a word and the share q of all: what is
    both common here and rarer elsewhere. Empty where a graph's features are not words.
    """
    if graph.words is None or len(nodes) == 0:
        return []
    has = graph.features != 0
    here = np.asarray(has[nodes].sum(axis=0)).ravel() / len(nodes)
    everywhere = np.asarray(has.sum(axis=0)).ravel() / graph.num_nodes
    with np.errstate(divide="ignore", invalid="ignore"):
        telling = np.where(here > everywhere, here * np.log(here / everywhere), 0.0)
    order = np.argsort(-telling, kind="stable")[:most]
    return [graph.words[i] for i in order if telling[i] > 0]


def agreement(values: Sequence[str]) -> str:
    """The most frequent value and its count, as ``Theory (3 of 4)``; no count if all are equal."""
    words, counts = np.unique(np.asarray(values, dtype=str), return_counts=True)
    top = int(counts.argmax())
    if counts[top] == len(values):
        return str(words[top])
    return f"{words[top]} ({counts[top]} of {len(values)})"
