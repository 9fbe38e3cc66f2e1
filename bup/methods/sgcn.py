"""Subjective-logic GCN (Zhao et al. 2020): evidence for each class, drawn to a kernel estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bup.engine.loop import Parameters, Trained
from bup.engine.receptive_field import Inputs, ReceptiveField
from bup.graph import Graph
from bup.io.lazy import Tensor, distributions, functional, torch
from bup.methods import gcn
from bup.methods.base import Explains, Fitted, Method, TwoLayers
from bup.methods.network import NetworkSettings, SingleNetwork, validation_metrics
from bup.run.settings import setting
from bup.run.splits import Split
from bup.scores import Score

if TYPE_CHECKING:
    from bup.results.result import Result

MOST_EVIDENCE = 1e4
TEACHER_RAMP = 200  # epochs until the teacher counts in full


@dataclass(frozen=True)
class SgcnSettings(NetworkSettings):
    hidden: int = setting(16, "Width of the hidden layer.", low=1, high=1024)
    prior_weight: float = setting(
        0.001,
        "Pull towards the evidence that the training nodes nearby suggest; the authors take 0.1 to "
        "find unseen classes.",
        low=0,
        high=100,
    )


def kernel_evidence(graph: Graph, split: Split) -> Tensor:
    """1 + sum over training nodes of a class of exp(-d^2 / 2), d links away [n, c]."""
    hops = graph.hops(split.train)
    near = np.where(np.ma.getmaskarray(hops), 0, np.exp(-0.5 * hops.data.astype(float) ** 2))
    labels = split.targets(graph.labels[split.train])
    evidence = [near[labels == c].sum(axis=0) for c in range(len(split.classes))]
    return torch.from_numpy(1 + np.stack(evidence, axis=1)).float()


def dissonance(alpha: Tensor) -> Tensor:
    """Conflict [n] between classes that have evidence: 0 if all of it is for one class.

    sum_k b_k sum_{j != k} b_j Bal(b_j, b_k) / sum_{j != k} b_j, where b = (alpha - 1) / sum(alpha)
    and Bal(a, b) = 1 - |a - b| / (a + b).
    """
    belief = (alpha - 1) / alpha.sum(-1, keepdim=True)
    own, other = belief[:, :, None], belief[:, None, :]
    balance = 1 - (own - other).abs() / (own + other).clamp_min(1e-12)
    different = 1 - torch.eye(alpha.shape[1])
    weight = (other * different).sum(-1)
    return (belief * (other * balance * different).sum(-1) / weight.clamp_min(1e-12)).sum(-1)


def concentration(
    p: Parameters,
    field: ReceptiveField,
    dropout: float = 0.0,
    generators: Sequence[torch.Generator] | None = None,
) -> Tensor:
    """alpha = 1 + exp(output) of the Dirichlet distribution over a node's class probabilities."""
    output = gcn.gcn_output(p, field, dropout, generators)
    return 1 + output.clamp(max=np.log(MOST_EVIDENCE)).exp()


class SgcnNetwork(SingleNetwork):
    decayed = ("mean_1",)

    def __init__(
        self, graph: Graph, split: Split, seed: int, s: SgcnSettings, generator: torch.Generator
    ) -> None:
        super().__init__(graph, split, seed, s, generator)
        inputs, classes = Inputs.of(graph), len(split.classes)
        self.everything = inputs.everything()
        self.validation_field = inputs.field([split.validation])
        self.targets = functional.one_hot(self.train.labels, classes).float()
        self.prior = distributions.Dirichlet(kernel_evidence(graph, split))
        (teacher,) = gcn.GcnNetwork.fit_batch(graph, [split], [seed], gcn.GcnSettings(), None)
        self.teacher = torch.from_numpy(teacher.probs).clamp_min(1e-12)
        self.parameters = gcn.initial_parameters(graph.num_features, s.hidden, classes, [generator])

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        self.epoch += 1
        alpha = concentration(self.parameters, self.everything, self.s.dropout, generators)
        total = alpha.sum(-1, keepdim=True)
        probs = alpha / total
        train = probs[self.train.nodes]
        variance = train * (1 - train) / (total[self.train.nodes] + 1)
        square = ((self.targets - train).square() + variance).sum(-1).mean()
        prior = distributions.kl_divergence(distributions.Dirichlet(alpha), self.prior).mean()
        student = (self.teacher * (self.teacher.log() - probs.log())).sum(-1).mean()
        ramp = min(1, self.epoch / TEACHER_RAMP)
        return (square + self.s.prior_weight * prior + ramp * student)[None]

    def validation(self) -> tuple[Tensor, Tensor]:
        alpha = concentration(self.parameters, self.validation_field)
        log_probs = (alpha / alpha.sum(-1, keepdim=True)).log()
        return validation_metrics(log_probs, self.held_out.labels, alpha)

    def predict(self, trained: Trained, generator: torch.Generator) -> Fitted:
        alpha = concentration(trained.parameters, self.everything)
        total = alpha.sum(-1)
        scores = {"vacuity": alpha.shape[1] / total, "dissonance": dissonance(alpha)}
        return Fitted.of(trained, alpha / total[:, None], scores=scores)


def evidence_shares(outputs: np.ndarray) -> np.ndarray:
    """Class probabilities [..., c] of outputs: alpha over its sum."""
    alpha = 1 + np.exp(outputs.clip(max=np.log(MOST_EVIDENCE)))
    return alpha / alpha.sum(axis=-1, keepdims=True)


def layers(result: Result) -> TwoLayers:
    """The network of a run, whose outputs are the logarithms of evidence."""
    return gcn.layers(result)._replace(probabilities=evidence_shares)


METHOD = Method(
    name="sgcn",
    title="Subjective GCN (S-GCN, GKDE)",
    explanation="A GCN that gives each class an amount of evidence instead of a probability, "
    "taught by a plain GCN and by how near the training nodes are. Little evidence at all is "
    "called vacuity, conflicting evidence dissonance.",
    settings=SgcnSettings,
    effort=7,
    fit_one=SgcnNetwork.fit_one,
    explains=Explains(layers=layers),
    scores=(
        Score(
            "vacuity", "Vacuity", "epistemic", "Lack of evidence for any class: 1 if there is none."
        ),
        Score(
            "dissonance",
            "Dissonance",
            "aleatoric",
            "Conflict between classes that have much evidence each.",
        ),
    ),
)
