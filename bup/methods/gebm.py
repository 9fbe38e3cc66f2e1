"""GEBM (Fuchsgruber et al. 2024): energies at three scales, bounded by a density."""

from collections.abc import Mapping
from dataclasses import dataclass

from bup.calibrators import LabelledNodes
from bup.engine.loop import Trained
from bup.engine.sparse import Csr
from bup.graph.operators import walk
from bup.io.lazy import Tensor, torch
from bup.methods import gcn
from bup.methods.base import Explains, Method
from bup.run.settings import setting
from bup.run.splits import Split
from bup.scores import Score

STEPS = 10
SHARE = 0.5  # weight of the mean over a node and its neighbours in each step
COVERED = 0.95  # share of the nodes in the range that puts distances and outputs on one scale
SMALL = 1e-6  # the smallest variance


@dataclass(frozen=True)
class GebmSettings(gcn.WideGcnSettings):
    evidence: str = setting(
        "own",
        "What is judged by what was learned along links: the node's own features alone, as "
        "published, or its neighbours' too.",
        choices=("own", "links"),
    )


def class_distances(latent: Tensor, train: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Squared Mahalanobis distance [n, c] to each class of ``train``, diagonal covariances."""
    distances = []
    for c in range(classes):
        members = train[labels == c]
        variance = members.var(0, correction=0).clamp_min(SMALL)
        distances.append(((latent - members.mean(0)).square() / variance).sum(-1))
    return torch.stack(distances, -1)


def rescale(distance: Tensor, usual: Tensor, output: Tensor) -> Tensor:
    """Map distances, class by class, so that the range of ``usual`` becomes that of the outputs."""
    tail = (1 - COVERED) / 2
    ends = torch.tensor([tail, 1 - tail])
    low, high = usual.quantile(ends, 0)
    output_low, output_high = output.quantile(ends, 0)
    scale = (output_high - output_low) / (high - low).clamp_min(1e-12)
    return (distance - low) * scale + output_low


def diffuse(values: Tensor, mean: Csr) -> Tensor:
    """x <- x / 2 + P x / 2, ten times, with P = D^-1 (A + I): a neighbourhood mean."""
    for _ in range(STEPS):
        values = (1 - SHARE) * values + SHARE * mean.matmul(values)
    return values


def graph_energy(evidence: Tensor, mean: Csr) -> Tensor:
    """The sum of the energies of a node's group, of its neighbourhood and of itself [n]."""
    alone = -evidence.logsumexp(-1)
    group = -diffuse(evidence, mean).logsumexp(-1)
    return group + diffuse(alone[:, None], mean)[:, 0] + alone


class GebmNetwork(gcn.GcnNetwork):
    def scores(self, trained: Trained, logits: Tensor, split: Split) -> Mapping[str, Tensor]:
        p, train = trained.parameters, LabelledNodes.of(self.graph, split, split.train)
        hidden = gcn.hidden_layer(p, self.everything)
        latent, evidence = hidden, logits
        if self.s.evidence == "own":  # the same network without any link
            latent = self.everything.target_words.matmul(p["mean_1"][0]).relu()
            evidence = latent @ p["mean_2"][0]
        distances, usual = (
            class_distances(x, hidden[train.nodes], train.labels, self.classes)
            for x in (latent, hidden)
        )
        mean = Csr.from_scipy(walk(self.graph))
        return {"graph_energy": graph_energy(evidence - rescale(distances, usual, logits), mean)}


METHOD = Method(
    name="gebm",
    title="Graph energy with a density (GEBM)",
    explanation="A plain GCN, whose evidence for a class also falls with the distance from that "
    "class's training nodes. Its energy adds up what a node, its neighbourhood and its group say.",
    settings=GebmSettings,
    fit_batch=GebmNetwork.fit_batch,
    explains=Explains(layers=gcn.layers),
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
