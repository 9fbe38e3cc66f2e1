"""Looking for what a model should doubt: who finds which nodes, and what is missed together."""

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
    """What is looked for, and among which nodes."""

    nodes: np.ndarray  # [m] indices
    positive: np.ndarray  # [m] mask

    @property
    def possible(self) -> bool:
        """Whether there are both nodes to find and others to tell them from."""
        return bool(self.positive.any() and not self.positive.all())

    def ranks(self, doubt: np.ndarray) -> np.ndarray:
        """The share [m] of the nodes that are surer than each one; ``doubt`` is over all nodes.

        What equals counts half, so that scores of any scale can be drawn on one axis.
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
    """Who finds what: the sought nodes by exactly which of several scores flag them.

    A key is the names that do, in their order; ``()`` is found by none. Only what occurs.
    """
    found: dict[tuple[str, ...], list[int]] = {}
    for place in np.flatnonzero(search.positive):
        who = tuple(name for name, flagged in flags.items() if flagged[place])
        found.setdefault(who, []).append(int(search.nodes[place]))
    order = sorted(found, key=lambda who: (-len(who), [list(flags).index(name) for name in who]))
    return {who: np.array(found[who]) for who in order}


def confusion(true: np.ndarray, assigned: np.ndarray, classes: int) -> np.ndarray:
    """How many nodes of each class [true] got each answer [assigned]: counts [classes, classes]."""
    counts = np.bincount(classes * true + assigned, minlength=classes * classes)
    return counts.reshape(classes, classes)


def linked_groups(graph: Graph, nodes: np.ndarray, least: int = 2) -> list[np.ndarray]:
    """The nodes in groups that are linked to each other, largest first; loners are left out."""
    among = graph.adjacency[nodes][:, nodes]
    _, member = csgraph.connected_components(among, directed=False)
    groups = [nodes[member == g] for g in range(member.max(initial=-1) + 1)]
    return sorted((g for g in groups if len(g) >= least), key=lambda g: (-len(g), g.min()))


def distinctive_words(graph: Graph, nodes: np.ndarray, most: int = 5) -> list[str]:
    """The words that tell some nodes from the whole graph, the most telling first.

    p log(p / q) for the share p of these nodes that have a word and the share q of all: what is
    both common here and rarer elsewhere. Nothing where a graph's features are not words.
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
    """The commonest of some words and how common it is: ``Theory (3 of 4)``; alone if all are."""
    words, counts = np.unique(np.asarray(values, dtype=str), return_counts=True)
    top = int(counts.argmax())
    if counts[top] == len(values):
        return str(words[top])
    return f"{words[top]} ({counts[top]} of {len(values)})"
