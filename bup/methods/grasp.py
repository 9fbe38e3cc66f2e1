"""GRASP (Ma et al. 2024): confidence spread along links, with labelled nodes as its sources."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bup.engine.loop import Trained
from bup.graph import Graph
from bup.io.lazy import Tensor, torch
from bup.methods import gcn
from bup.methods.base import Explains, Method
from bup.run.settings import setting
from bup.run.splits import Split
from bup.scores import Score

STEPS = 8
TAIL = 0.05  # share of the unlabelled nodes that count as certain, and as uncertain
CHOSEN = 0.5  # share of the training nodes that are linked to each other
WEIGHT = 1.001  # of such a link
SOURCE = 1.0  # no training node's certainty falls below it


@dataclass(frozen=True)
class GraspSettings(gcn.WideGcnSettings):
    known: str = setting(
        "training",
        "Which labelled nodes are sources of certainty: those that train, or also those that "
        "validate, as its authors have it.",
        choices=("training", "validation"),
    )


def linked_sources(graph: Graph, certainty: np.ndarray, train: np.ndarray) -> np.ndarray:
    """The half of the training nodes that have the most certain neighbours.

    Links between them lead a random walk back to labelled nodes. A node is ranked by
    |N(i), certain| / (|N(i), uncertain| + 1), where the two sets are the most and the least certain
    unlabelled nodes.
    """
    others = np.setdiff1d(np.arange(graph.num_nodes), train)
    count = max(int(TAIL * len(others)), 1)
    order = others[np.argsort(certainty[others], kind="stable")]
    certain, uncertain = np.zeros((2, graph.num_nodes))
    certain[order[-count:]], uncertain[order[:count]] = 1, 1
    ratio = (graph.adjacency @ certain) / (graph.adjacency @ uncertain + 1)
    best = train[np.argsort(-ratio[train], kind="stable")]
    return np.sort(best[: max(int(CHOSEN * len(train)), 1)])


def spread(graph: Graph, certainty: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Certainty averaged over links, the added ones included, eight times [n].

    s <- D^-1 (A s + 1.001 1_G sum_G s), and training nodes stay at 1 or above. A node without
    links keeps its certainty.
    """
    joined = linked_sources(graph, certainty, train)
    links = graph.adjacency.sum(axis=1).astype(np.float64)
    links[joined] += WEIGHT * len(joined)
    alone = links == 0
    now = certainty.astype(np.float64)
    for _ in range(STEPS):
        received = graph.adjacency @ now
        received[joined] += WEIGHT * now[joined].sum()
        now = np.where(alone, now, received / np.maximum(links, 1))
        now[train] = np.maximum(now[train], SOURCE)
    return now


class GraspNetwork(gcn.GcnNetwork):
    def scores(self, trained: Trained, logits: Tensor, split: Split) -> Mapping[str, Tensor]:
        sources = split.train
        if self.s.known == "validation":
            sources = np.concatenate([sources, split.validation])
        certainty = spread(self.graph, logits.softmax(-1).amax(-1).numpy(), sources)
        return {"lack_of_support": torch.from_numpy(-certainty).float()}


METHOD = Method(
    name="grasp",
    title="Confidence spread from labelled nodes (GRASP)",
    explanation="A plain GCN, whose confidence is averaged along links again and again, while "
    "labelled nodes stay certain: a node is supported by the labelled nodes that a walk from it "
    "meets.",
    settings=GraspSettings,
    fit_batch=GraspNetwork.fit_batch,
    explains=Explains(layers=gcn.layers),
    scores=(
        Score(
            "lack_of_support",
            "Lack of support",
            "epistemic",
            "Minus the confidence that arrives along links, of which labelled nodes are sources.",
        ),
    ),
)
