"""Sets of classes that contain the true one with a chosen probability.

Split conformal prediction: how unusual the true class of a calibration node is, measured by a
score, sets the bar for the classes of all others. If calibration and test nodes are exchangeable,
the sets of test nodes contain their class with at least the chosen probability, whatever the model.
"""

from dataclasses import dataclass

import numpy as np

from bup.errors import BupError
from bup.graph import Graph
from bup.graph.operators import neighbour_mean
from bup.run.splits import Split

RULES = {
    "aps": "Classes are added from the most probable on, until enough probability is collected.",
    "daps": "The same, with each node's scores averaged with those of its neighbours.",
    "measured": "Neighbours count as much as links between labelled nodes say that they may.",
}
NEIGHBOURS = 0.5
"""The share of the neighbours' scores under daps, and the largest under measured."""
DOUBTED_LINKS = 100
"""How many links between labelled nodes it takes to be half believed."""


@dataclass(frozen=True, eq=False)
class Sets:
    """For every node, the classes that its set contains."""

    member: np.ndarray  # [n, c] bool; columns as in the probabilities
    threshold: float
    level: float  # the share of sets that shall contain the true class

    @property
    def size(self) -> np.ndarray:
        return self.member.sum(axis=1)

    def coverage(self, nodes: np.ndarray, targets: np.ndarray) -> float:
        """The share of nodes whose set contains their class (a column)."""
        return float(self.member[nodes, targets].mean())


def adaptive_scores(probs: np.ndarray, seed: int = 0) -> np.ndarray:
    """The probability of all classes before this one, and a random share of its own [n, c].

    The random share (Romano et al. 2020), the same for all classes of a node, makes coverage exact
    instead of at least as high; the price is that a set may be empty.
    """
    random = np.random.RandomState(seed)  # NumPy promises that its stream never changes
    order = np.argsort(-probs, axis=1, kind="stable")
    ranked = np.take_along_axis(probs, order, axis=1)
    before = np.cumsum(ranked, axis=1) - ranked + random.uniform(size=(len(probs), 1)) * ranked
    scores = np.empty_like(before)
    np.put_along_axis(scores, order, before, axis=1)
    return scores


def measured_share(graph: Graph, labelled: np.ndarray) -> float:
    """The share of the neighbours' scores that links between labelled nodes speak for.

    NEIGHBOURS h m / (m + 100), with m the number of such links and h how much more often they join
    equal classes than ends paired at random would: (equal - P) / (1 - P), where P sums the squares
    of the classes' shares of all ends.
    """
    is_labelled = np.zeros(graph.num_nodes, dtype=bool)
    is_labelled[labelled] = True
    ends = graph.labels[graph.edges[:, is_labelled[graph.edges].all(axis=0)]]
    count = ends.shape[1]
    if count == 0:
        return 0.0
    by_chance = float(np.square(np.bincount(ends.ravel()) / ends.size).sum())
    alike = (float((ends[0] == ends[1]).mean()) - by_chance) / max(1 - by_chance, 1e-12)
    return NEIGHBOURS * float(np.clip(alike, 0, 1)) * count / (count + DOUBTED_LINKS)


def conformal_threshold(scores: np.ndarray, level: float) -> float:
    """The smallest of n scores that at least ceil((n + 1) level) of them do not exceed."""
    rank = int(np.ceil((len(scores) + 1) * level - 1e-9))
    return float(np.sort(scores)[rank - 1]) if rank <= len(scores) else np.inf


def conformal_sets(
    probs: np.ndarray,
    graph: Graph,
    split: Split,
    level: float = 0.9,
    rule: str = "daps",
    seed: int = 0,
) -> Sets:
    """A set of classes for every node, calibrated on the validation nodes.

    Training looked at the same nodes to choose its best epoch, so the promise holds nearly, not
    strictly; and it is no promise for classes that were left out.
    """
    if not 0 < level < 1:
        raise BupError(f"level must lie between 0 and 1, got {level}: try 0.9")
    if rule not in RULES:
        raise BupError(f"unknown conformal rule {rule!r}: use one of {', '.join(RULES)}")
    scores = adaptive_scores(probs.astype(np.float64), seed)
    if rule != "aps":
        share, neighbour_scores = NEIGHBOURS, scores
        if rule == "measured":
            share, neighbour_scores = measured_share(graph, split.train), scores.copy()
            # A labelled neighbour speaks for its class and no other.
            neighbour_scores[split.train] = 1
            neighbour_scores[split.train, split.targets(graph.labels[split.train])] = 0
        scores = (1 - share) * scores + share * (neighbour_mean(graph) @ neighbour_scores)
    nodes = split.validation
    targets = split.targets(graph.labels[nodes])
    threshold = conformal_threshold(scores[nodes, targets], level)
    return Sets(scores <= threshold, threshold, level)
