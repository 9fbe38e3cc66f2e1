"""Our second rule: a message is sure only where something known explains the node.

Every node has doubts of its own, in nats: minus the log of a probability.

    words     -log P(some known class | words around the node): a likelihood ratio of the classes
              of labelled nodes against the graph at large, in coordinates that see no label
    message   -log P(the message is strong): how its largest mean compares with labelled nodes'
    answer    -log P(the answer): the model's own

They are added, the last two times (K - 1) / (K + 2), for messages of K classes span K - 1 of the
K + 2 coordinates in which words are judged. Doubts u spread along links, with v for lack of them,
and multiply the variance, compared with the mean over the graph:

    var'(i) = var(i) (1 + U_i) / (1 + mean U),   U = S u + v + P^2 v

P averages over a node and its neighbours; S does so again and again, coming home with probability
0.2 at every step; v_i = (1 - 1/K) / d_i is what a node alone would get wrong, guessing, and P^2
are the two averages of a message. U is monotone in every doubt: an unsure neighbour makes a node
unsure.

Two doubts need the trained model, so training itself goes without propagation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import sparse
from scipy.special import expit, logsumexp
from torch import Tensor

from bup.graph import Graph
from bup.operators import walk
from bup.propagation.base import Breakdown, Formula, Propagation, Rule, Shares
from bup.propagation.none import Standing
from bup.propagation.topics import class_log_ratios, topics, walk_mean
from bup.receptive import Hop
from bup.settings import setting
from bup.splits import Split

EXTRA_TOPICS = (0, 2, 4)  # beyond one per class; how many are right is not known, so all are asked
FLOOR = 0.05  # no view claims certainty: no doubt of words or message exceeds log 20 = 3 nats
STAY, STEPS = 0.2, 10
LEAST_CONFIDENCE = 1e-12


@dataclass(frozen=True)
class Settings:
    isolation: float = setting(
        1.0, "Under doubt, how much a lack of links counts; 0 leaves it out.", low=0, high=10
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


class Untold(Standing):
    """Doubt in training: nothing is known yet of what the model will say."""

    def __init__(self, graph: Graph, s: Any) -> None:
        super().__init__(graph)
        self.s = s

    @cached_property
    def walk(self) -> sparse.csr_array:
        return walk(self.graph)

    def coordinates(self, dims: int) -> np.ndarray:
        """The first ``dims`` topics [n, dims], the same for every split."""
        return self._topics[:, :dims]

    @cached_property
    def _topics(self) -> np.ndarray:
        return topics(self.graph, self.walk, self.graph.num_classes + max(EXTRA_TOPICS))

    def settled(
        self, split: Split, mean: np.ndarray, probs: np.ndarray, constants: Mapping[str, float]
    ) -> Doubt:
        return Doubt(self, split, mean, probs, constants)


class Doubt(Propagation):
    """Doubt at work, given what a trained model says of every node."""

    factor: np.ndarray

    def __init__(
        self,
        before: Untold,
        split: Split,
        mean: np.ndarray,
        probs: np.ndarray,
        constants: Mapping[str, float],
    ) -> None:
        self.graph, self.walk, self.split = before.graph, before.walk, split
        nodes = split.train
        if before.s.known == "validation":
            nodes = np.concatenate([nodes, split.validation])
        self.evidence = self._evidence(before, nodes)
        classes = mean.shape[1]
        weight = (classes - 1) / (classes + 2)
        own = {
            "words": floored(self.evidence.sum(axis=1)),
            "message": weight * floored(_strength(mean, split.train)),
            "answer": -weight * np.log(probs.max(axis=1).astype(float).clip(LEAST_CONFIDENCE)),
        }
        self.alone = before.s.isolation * (1 - 1 / classes) / self.graph.degree
        self._arriving = {name: walk_mean(self.walk, u, STAY, STEPS - 1) for name, u in own.items()}
        self.own = own
        self._near = self.walk @ self.alone
        self.parts = {
            name: (1 - STAY) * (self.walk @ self._arriving[name]) + STAY * u
            for name, u in own.items()
        } | {"few links": self.alone + self.walk @ self._near}
        self.total = np.sum(list(self.parts.values()), axis=0)
        # What is usual is measured once, on the graph trained on: a changed link changes no other
        # node's share of it.
        self.constants = dict(constants) or self._usual()
        self._mean = sum(self.constants[f"usual_{name}"] for name in self.parts)
        self.factor = (1 + self.total) / (1 + self._mean)
        self._factor = torch.from_numpy(self.factor).float()

    def _usual(self) -> dict[str, float]:
        means = {f"usual_{name}": float(part.mean()) for name, part in self.parts.items()}
        return means | {"usual_alone": float(self.alone.mean())}

    def _evidence(self, before: Untold, nodes: np.ndarray) -> np.ndarray:
        """P(c | words around a node) [n, c] of every known class; the rest to 1 is unknown."""
        classes = len(self.split.classes)
        labels = self.split.targets(self.graph.labels[nodes])
        found = np.zeros((self.graph.num_nodes, classes))
        for extra in EXTRA_TOPICS:
            z = before.coordinates(classes + extra)
            ratio = class_log_ratios(z, nodes, labels, classes) - np.log(classes)
            known = logsumexp(ratio, axis=1)
            found += np.exp(ratio - np.logaddexp(0, known)[:, None]) / len(EXTRA_TOPICS)
        return found

    def step(self, var: Tensor, hop: Hop) -> Tensor:
        return hop.own(var) * hop.pick(self._factor)[:, None]

    def shares(self, node: int, var: np.ndarray) -> Shares:
        """What came through every neighbour, less what is usual: doubt, or certainty if negative.

        The last step of every walk from a node goes to a neighbour or stays; what arrives there is
        compared with the mean over the graph.
        """
        before = var[node].astype(np.float64)
        near = self.graph.neighbours(node)
        here = np.append(near, node)
        arriving = np.sum([part[here] for part in self._arriving.values()], axis=0)
        usual = sum(self.constants[f"usual_{name}"] for name in self.own)
        usual_near = self.constants["usual_few links"] - self.constants["usual_alone"]
        through = (1 - STAY) * (arriving - usual) + self._near[here] - usual_near
        through = through / self.graph.degree[node]
        own = np.sum([u[node] for u in self.own.values()]) - usual
        own = STAY * own + self.alone[node] - self.constants["usual_alone"] + through[-1]
        scale = before / (1 + self._mean)
        change = through[:-1, None] * scale
        return Shares(near, change, own * scale, before, before * self.factor[node])

    def formula(self, node: int, steps: Sequence[Shares]) -> Formula:
        parts = "+".join(f"{part[node]:.2f}" for part in self.parts.values())
        names = " + ".join(self.parts)
        u, mean, factor = self.total[node], self._mean, self.factor[node]
        return Formula(
            "The variance is multiplied by one plus this node's doubt, compared with the mean over "
            "the graph:",
            rf"\frac{{1+U_i}}{{1+\bar U}}=\frac{{1+{u:.2f}}}{{1+{mean:.2f}}}={factor:.3f},\qquad "
            rf"U_i={parts}={u:.2f}",
            f"The parts, in nats: {names}. Each is doubt of the node and of those around it, near "
            "ones first, so **an unsure neighbour makes a node unsure**.",
        )

    def breakdowns(self, node: int) -> list[Breakdown]:
        names = [self.graph.class_names[c] for c in self.split.classes]
        evidence = self.evidence[node]
        return [
            Breakdown(
                "What the doubt is made of (nats)",
                list(self.parts),
                [float(part[node]) for part in self.parts.values()],
                [self.constants[f"usual_{name}"] for name in self.parts],
            ),
            Breakdown(
                "Which known class the words around this node speak for",
                [*names, "none of them"],
                [*evidence.tolist(), float(1 - evidence.sum())],
                [*self.evidence.mean(axis=0).tolist(), float(1 - self.evidence.sum(1).mean())],
            ),
        ]


def _strength(mean: np.ndarray, labelled: np.ndarray) -> np.ndarray:
    """P(a message is strong) [n]: its largest mean against half of what labelled nodes have."""
    largest = mean.max(axis=1).astype(np.float64)
    typical, width = largest[labelled].mean(), max(largest[labelled].std(), 1e-9)
    return expit((largest - typical / 2) / width)


def on(graph: Graph, s: Any, splits: Sequence[Split]) -> Untold:
    return Untold(graph, s)


RULE = Rule(
    name="doubt",
    title="Doubt",
    meaning="Our rule: a message is sure only where a known class explains the words around the "
    "node, the message is strong, and neighbours are sure too.",
    latex=r"v_i'=v_i\,\frac{1+U_i}{1+\bar U},\qquad U=\sum_k s_kP^k u+v+P^2v",
    on=on,
    settings=Settings,
    layers=(2,),
)
