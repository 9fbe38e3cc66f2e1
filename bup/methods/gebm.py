"""GEBM (Fuchsgruber et al. 2024): energies at three scales, kept in check by a density."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bup.engine.loop import OnEpoch, Trained
from bup.engine.receptive_field import ReceptiveField
from bup.engine.sparse import Csr
from bup.graph import Graph
from bup.graph.operators import walk
from bup.io.lazy import Tensor, torch
from bup.methods import energy, gcn
from bup.methods.base import Fitted, Method
from bup.run.settings import setting
from bup.run.splits import Split
from bup.scores import Score

STEPS = 10
SHARE = 0.5  # of the mean over a node and its neighbours in each step
COVERED = 0.95  # of the nodes lie in the range that puts distances and outputs on one scale
SMALL = 1e-6  # no variance counts as less


@dataclass(frozen=True)
class GebmSettings(energy.EnergySettings):
    evidence: str = setting(
        "own",
        "What is judged by what was learned along links: the node's own features alone, as "
        "published, or its neighbours' too.",
        choices=("own", "links"),
    )


def class_distances(places: Tensor, known: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Squared Mahalanobis distance [n, c] to each class of ``known``, diagonal covariances."""
    distances = []
    for c in range(classes):
        own = known[labels == c]
        variance = own.var(0, correction=0).clamp_min(SMALL)
        distances.append(((places - own.mean(0)).square() / variance).sum(-1))
    return torch.stack(distances, -1)


def rescaled(distance: Tensor, usual: Tensor, output: Tensor) -> Tensor:
    """Distances moved, class by class: the range of usual ones becomes that of the outputs."""
    tail = (1 - COVERED) / 2
    ends = torch.tensor([tail, 1 - tail])
    low, high = usual.quantile(ends, 0)
    output_low, output_high = output.quantile(ends, 0)
    scale = (output_high - output_low) / (high - low).clamp_min(1e-12)
    return (distance - low) * scale + output_low


def diffused(values: Tensor, mean: Csr) -> Tensor:
    """x <- x / 2 + P x / 2, ten times, with P = D^-1 (A + I): a mean over a node's surroundings."""
    for _ in range(STEPS):
        values = (1 - SHARE) * values + SHARE * mean.matmul(values)
    return values


def graph_energy(evidence: Tensor, mean: Csr) -> Tensor:
    """The sum of the energies of a node's group, of its surroundings, and of itself [n]."""
    alone = -evidence.logsumexp(-1)
    group = -diffused(evidence, mean).logsumexp(-1)
    return group + diffused(alone[:, None], mean)[:, 0] + alone


def fit(
    graph: Graph,
    splits: Sequence[Split],
    seeds: Sequence[int],
    s: GebmSettings,
    on_epoch: OnEpoch | None,
) -> list[Fitted]:
    mean = Csr.from_scipy(walk(graph))

    def finish(trained: Trained, everything: ReceptiveField, split: Split, seed: int) -> Fitted:
        p = trained.parameters
        linked, output = gcn.hidden_layer(p, everything), gcn.gcn_output(p, everything)
        known = linked[torch.from_numpy(split.train)]
        labels = torch.from_numpy(split.targets(graph.labels[split.train]))
        place, said = linked, output
        if s.evidence == "own":  # the same network, asked without any link
            place = everything.target_words.matmul(p["mean_1"][0]).relu()
            said = place @ p["mean_2"][0]
        far, usual = (class_distances(x, known, labels, output.shape[1]) for x in (place, linked))
        scores = {"graph_energy": graph_energy(said - rescaled(far, usual, output), mean)}
        return Fitted.of(trained, output.softmax(-1), mean=output, scores=scores)

    return gcn.fit_classifier(graph, splits, seeds, s, on_epoch, finish)


METHOD = Method(
    name="gebm",
    title="Graph energy with a density (GEBM)",
    explanation="A plain GCN, whose evidence for a class also falls with the distance from that "
    "class's training nodes. Its energy adds up what a node, its neighbourhood and its group say.",
    settings=GebmSettings,
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
