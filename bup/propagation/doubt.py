"""Our second rule: a message is sure only where a known class explains the node.

Every node has several doubts, in nats: minus the log of a probability.

    words     -log P(some known class | words around the node): a likelihood ratio of the classes
              of labelled nodes against the graph at large, in coordinates that see no label
    message   -log P(the message is strong): how its largest mean compares with labelled nodes'
    answer    -log P(the answer): the model's own

They are added, the last two times (K - 1) / (K + 2), for messages of K classes span K - 1 of the
K + 2 coordinates in which words are judged, and spread along links. A node may also be doubtful for
lack of links: alone it can but guess, and errs with probability 1 - 1/K. The two doubts S and V
come together as a soft maximum, and multiply the variance, compared with the mean over the graph:

    var'(i) = var(i) (1 + U_i) / (1 + mean U),   e^U - 1 = (e^S - 1) + (e^V - 1)
    S = sum_k s_k P^k u,   V = w (v + P^2 v),   v_i = (1 - 1/K) / d_i

P averages over a node and its neighbours; S does so again and again, coming home with probability
0.2 at every step; P^2 are the two averages of a message. U is monotone in every doubt: an unsure
neighbour makes a node unsure.

Two doubts need the trained model, so training itself goes without propagation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bup.engine.receptive_field import Hop
from bup.graph.operators import walk
from bup.io.lazy import Tensor, sparse, special, torch
from bup.propagation.arithmetic import Operation, ProductTerm
from bup.propagation.base import Breakdown, Formula, Propagation, Rule, Shares
from bup.propagation.none import NoPropagation
from bup.propagation.topics import Scatter, topics, walk_mean
from bup.run.settings import setting
from bup.run.splits import Split

EXTRA_TOPICS = (0, 2, 4)  # beyond one per class; the best number is unknown, so all are used
FLOOR = 0.05  # smallest probability of a view: no doubt exceeds log 20 = 3 nats
STAY, STEPS = 0.2, 10
LEAST_CONFIDENCE = 1e-12
USUAL = "usual_doubt"
CONSTANTS = (USUAL, *(f"{USUAL}_{part}" for part in ("words", "message", "answer", "few links")))


@dataclass(frozen=True)
class DoubtSettings:
    isolation: float = setting(
        1.5, "Under doubt, how much a lack of links counts; 0 leaves it out.", low=0, high=10
    )
    known: str = setting(
        "training",
        "Under doubt, whose labels say what a known class is like: those of the training nodes, or "
        "of the validation nodes too.",
        choices=("training", "validation"),
    )


def floored(probability: np.ndarray) -> np.ndarray:
    """-log(FLOOR + (1 - FLOOR) P), from 0 to log 1/FLOOR."""
    return -np.log(FLOOR + (1 - FLOOR) * probability)


class UntrainedDoubt(NoPropagation):
    """Doubt during training: without the trained model there is no propagation."""

    @cached_property
    def walk(self) -> sparse.csr_array:
        return walk(self.graph)

    @cached_property
    def coordinates(self) -> np.ndarray:
        """Coordinates of the words around every node [n, d], the same for every split."""
        return topics(self.graph, self.walk, self.graph.num_classes + max(EXTRA_TOPICS))

    def after_training(
        self, split: Split, mean: np.ndarray, probs: np.ndarray, constants: Mapping[str, float]
    ) -> Doubt:
        return Doubt(self, split, mean, probs, constants)


class Doubt(Propagation):
    """Doubt, given the outputs of a trained model for every node."""

    factor: np.ndarray

    def __init__(
        self,
        before: UntrainedDoubt,
        split: Split,
        mean: np.ndarray,
        probs: np.ndarray,
        constants: Mapping[str, float],
    ) -> None:
        super().__init__(before.graph, before.settings)
        self.walk, self.split = before.walk, split
        nodes = split.train
        if self.settings.known == "validation":
            nodes = np.concatenate([nodes, split.validation])
        self.evidence = self._evidence(before, nodes)
        classes = mean.shape[1]
        weight = (classes - 1) / (classes + 2)
        own = {
            "words": floored(self.evidence.sum(axis=1)),
            "message": weight * floored(_strength(mean, split.train)),
            "answer": -weight * np.log(probs.max(axis=1).astype(float).clip(LEAST_CONFIDENCE)),
        }
        alone = self.settings.isolation * (1 - 1 / classes) / self.graph.looped_degree
        # Every walk ends with a step to a neighbour or to the node itself: what arrives there.
        last = {name: walk_mean(self.walk, u, STAY, STEPS - 1) for name, u in own.items()}
        self.parts = {
            name: (1 - STAY) * (self.walk @ last[name]) + STAY * u for name, u in own.items()
        } | {"few links": alone + self.walk @ (self.walk @ alone)}
        self._through = (1 - STAY) * sum(last.values()) + self.walk @ alone
        self._own = STAY * sum(own.values()) + alone
        *doubts, few_links = self.parts.values()
        self.total = np.log(np.exp(sum(doubts)) + np.exp(few_links) - 1)
        # The mean is measured once, on the training graph: a changed link then changes no node
        # that it does not reach.
        measured = [self.total, *self.parts.values()]
        self.constants = {k: v for k, v in constants.items() if k in CONSTANTS} or {
            name: float(values.mean()) for name, values in zip(CONSTANTS, measured, strict=True)
        }
        self.factor = (1 + self.total) / (1 + self.constants[USUAL])
        self._factor = torch.from_numpy(self.factor).float()

    def _evidence(self, before: UntrainedDoubt, nodes: np.ndarray) -> np.ndarray:
        """P(c | words around a node) [n, c] of every known class; the rest to 1 is unknown."""
        classes = len(self.split.classes)
        labels = self.split.targets(self.graph.labels[nodes])
        evidence = np.zeros((self.graph.num_nodes, classes))
        for extra in EXTRA_TOPICS:
            z = before.coordinates[:, : classes + extra]
            ratio = Scatter.of(z, nodes, labels, classes).log_ratios(z) - np.log(classes)
            total = special.logsumexp(ratio, axis=1)
            evidence += np.exp(ratio - np.logaddexp(0, total)[:, None]) / len(EXTRA_TOPICS)
        return evidence

    def step(self, var: Tensor, hop: Hop) -> Tensor:
        return hop.at_targets(var) * hop.gather(self._factor)[:, None]

    def shares(self, node: int, var: np.ndarray) -> Shares:
        """The doubt that came through every neighbour, less the mean over the graph.

        S and V are sums over a node's neighbours and itself; what the soft maximum leaves of their
        sum is shared in proportion.
        """
        before = var[node].astype(np.float64)
        near = self.graph.neighbours(node)
        here = np.append(near, node)
        arrived = self._through[here] / self.graph.looped_degree[node]
        arrived[-1] += self._own[node]
        arrived *= self.total[node] / max(arrived.sum(), 1e-12)
        arrived -= self.constants[USUAL] / len(here)
        scale = before / (1 + self.constants[USUAL])
        change = arrived[:-1, None] * scale
        return Shares(near, change, arrived[-1] * scale, before, before * self.factor[node])

    def formula(self, node: int, steps: Sequence[Shares]) -> Formula:
        *doubts, few_links = (float(part[node]) for part in self.parts.values())
        u, mean, factor = self.total[node], self.constants[USUAL], self.factor[node]
        return Formula(
            "The variance is multiplied by one plus this node's doubt, compared with the mean over "
            "the graph:",
            rf"\begin{{aligned}}\frac{{1+U_i}}{{1+\bar U}}&=\frac{{1+{u:.2f}}}{{1+{mean:.2f}}}"
            rf"={factor:.3f}\\[4pt]e^{{U_i}}-1&=(e^{{{sum(doubts):.2f}}}-1)"
            rf"+(e^{{{few_links:.2f}}}-1)\end{{aligned}}",
            "The first exponent is what speaks against any known class here and around, the second "
            "is for few links; the larger one decides. Neighbours' doubts are part of both, so "
            "**an unsure neighbour makes a node unsure**.",
        )

    def breakdowns(self, node: int) -> list[Breakdown]:
        names = [self.graph.class_names[c] for c in self.split.classes]
        evidence = self.evidence[node]
        return [
            Breakdown(
                "What the doubt is made of (nats)",
                list(self.parts),
                [float(part[node]) for part in self.parts.values()],
                [self.constants[f"{USUAL}_{name}"] for name in self.parts],
            ),
            Breakdown(
                "Which known class the words around this node speak for",
                [*names, "none of them"],
                [*evidence.tolist(), float(1 - evidence.sum())],
                [*self.evidence.mean(axis=0).tolist(), float(1 - self.evidence.sum(1).mean())],
            ),
        ]

    def arithmetic(self, node: int) -> list[Operation]:
        *doubts, few_links = (float(part[node]) for part in self.parts.values())
        against = tuple(
            ProductTerm(name, (doubt,)) for name, doubt in zip(self.parts, doubts, strict=False)
        )
        both = (
            ProductTerm("against what is known", (sum(doubts),)),
            ProductTerm("few links", (few_links,)),
        )
        total, usual = float(self.total[node]), self.constants[USUAL]
        compared = (
            ProductTerm("compared with the mean over the graph", (1 + total, 1 / (1 + usual))),
        )
        return [
            Operation("against", "S_i", ("doubt",), against, "views"),
            Operation("doubt", "U_i", ("D",), both, "D∈{S,V}", each="exp − 1", then="ln(1 + ·)"),
            Operation("factor", "F_i", ("1+U_i", "1/(1+Ū)"), compared),
        ]


def _strength(mean: np.ndarray, labelled: np.ndarray) -> np.ndarray:
    """P(a message is strong) [n]: its largest mean against half of what labelled nodes have."""
    largest = mean.max(axis=1).astype(np.float64)
    typical, width = largest[labelled].mean(), max(largest[labelled].std(), 1e-9)
    return special.expit((largest - typical / 2) / width)


RULE = Rule(
    name="doubt",
    title="Doubt",
    meaning="Our rule: a message is sure only where a known class explains the words around the "
    "node, the message is strong, and neighbours are sure too.",
    latex=r"v_i'=v_i\,\frac{1+U_i}{1+\bar U},\qquad e^U-1=(e^S-1)+(e^V-1)",
    propagation=UntrainedDoubt,
    settings=DoubtSettings,
    layers=(2,),
    constants=CONSTANTS,
    unseen="Doubt finds unseen *groups*: it compares every node with all others, also those "
    "without a label, so strangers must be many enough to stand out from what is known. A single "
    "stranger goes unnoticed.",
)
