"""GEBM (Fuchsgruber et al. 2024): energies at three scales, kept in check by a density."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bup.graph import Graph
from bup.late import Tensor, torch
from bup.methods import energy, gcn
from bup.methods.base import Fitted, Method
from bup.operators import neighbour_mean
from bup.receptive import ReceptiveField
from bup.scores import Score
from bup.settings import setting
from bup.sparse import Csr
from bup.splits import Split
from bup.training import OnEpoch, Trained

STEPS = 10
SHARE = 0.5  # of a node's neighbours in its diffused value
COVERED = 0.95  # of the nodes lie in the range that puts distances and outputs on one scale


@dataclass(frozen=True)
class Settings(energy.Settings):
    evidence: str = setting(
        "own",
        "What speaks for a class: the node's own features, as published, or its neighbours' too.",
        choices=("own", "links"),
    )


def class_distances(hidden: Tensor, nodes: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Squared Mahalanobis distance [n, c] to each class's training nodes, diagonal covariances."""
    floor = 1e-3 * hidden[nodes].var(0, correction=0).mean() + 1e-12
    distances = []
    for c in range(classes):
        own = hidden[nodes[labels == c]]
        variance = own.var(0, correction=0) + floor
        distances.append(((hidden - own.mean(0)).square() / variance).sum(-1))
    return torch.stack(distances, -1)


def rescaled(distance: Tensor, output: Tensor) -> Tensor:
    """Distances moved, class by class, into the range that most of the outputs lie in."""
    tail = (1 - COVERED) / 2
    ends = torch.tensor([tail, 1 - tail])
    low, high = distance.quantile(ends, 0)
    output_low, output_high = output.quantile(ends, 0)
    scale = (output_high - output_low) / (high - low).clamp_min(1e-12)
    return (distance - low) * scale + output_low


def diffused(values: Tensor, links: Csr) -> Tensor:
    """x <- P x / 2 + x_0 / 2, ten times, with P = D^-1 A: a mean over neighbours."""
    spread = values
    for _ in range(STEPS):
        spread = SHARE * links.matmul(spread) + (1 - SHARE) * values
    return spread


def graph_energy(evidence: Tensor, links: Csr) -> Tensor:
    """The sum of the energies of a node's group, of its surroundings, and of itself [n]."""
    alone = -evidence.logsumexp(-1)
    group = -diffused(evidence, links).logsumexp(-1)
    return group + diffused(alone[:, None], links)[:, 0] + alone


def fit(
    graph: Graph,
    splits: Sequence[Split],
    seeds: Sequence[int],
    s: Settings,
    on_epoch: OnEpoch | None,
) -> list[Fitted]:
    links = Csr.from_scipy(neighbour_mean(graph))

    def finish(trained: Trained, everything: ReceptiveField, split: Split, seed: int) -> Fitted:
        p = trained.parameters
        output = gcn.gcn_output(p, everything)
        if s.evidence == "links":
            evidence, hidden = output, gcn.hidden_layer(p, everything)
        else:  # the same network, asked without any link
            hidden = everything.target_words.matmul(p["mean_1"][0]).relu()
            evidence = hidden @ p["mean_2"][0]
        nodes = torch.from_numpy(split.train)
        labels = torch.from_numpy(split.targets(graph.labels[split.train]))
        distance = class_distances(hidden, nodes, labels, evidence.shape[1])
        scores = {"graph_energy": graph_energy(evidence - rescaled(distance, evidence), links)}
        return Fitted.of(trained, output.softmax(-1), mean=output, scores=scores)

    return gcn.fit_classifier(graph, splits, seeds, s, on_epoch, finish)


METHOD = Method(
    name="gebm",
    title="Graph energy with a density (GEBM)",
    explanation="A plain GCN, whose evidence for a class also falls with the distance from that "
    "class's training nodes. Its energy adds up what a node, its neighbourhood and its group say.",
    settings=Settings,
    fit=fit,
    scores=(
        Score(
            "graph_energy",
            "Graph energy",
            "epistemic",
            "Energy of the node, of its surroundings and of its group, added up; high far from "
            "everything seen in training.",
        ),
    ),
)
