"""Graph posterior network (Stadler et al. 2021): densities of a latent space as evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bup.engine.layers import glorot, uniform
from bup.engine.loop import Parameters, Trained
from bup.engine.receptive_field import Inputs
from bup.engine.sparse import Csr
from bup.graph import Graph
from bup.io.lazy import Tensor, distributions, functional, torch
from bup.methods.base import Differentiable, Explains, Fitted, Method
from bup.methods.gcn import apply_dropout
from bup.methods.network import NetworkSettings, SingleNetwork, validation_metrics
from bup.run.settings import setting
from bup.run.splits import Split
from bup.scores import Score

if TYPE_CHECKING:
    from bup.results.result import Result

LAYERS = 10  # of each class's flow
STEPS, TELEPORT = 10, 0.1
WARM_UP = 5  # epochs in which only the flows learn
ENTROPY_WEIGHT = 1e-4
MOST_LOG_EVIDENCE = 30


@dataclass(frozen=True)
class GpnSettings(NetworkSettings):
    latent: int = setting(16, "Dimensions of the space whose density is learned.", low=1, high=256)
    weight_decay: float = setting(1e-3, "Pull of the encoder's weights to zero.", low=0, high=1)
    patience: int = setting(50, "Epochs without improvement before stopping.", low=1, high=10_000)


def initial_parameters(
    words: int, classes: int, s: GpnSettings, generators: Sequence[torch.Generator]
) -> Parameters:
    limit = s.latent**-0.5
    return {
        "mean_1": glorot(generators, words, s.hidden),
        "bias_1": torch.zeros(len(generators), s.hidden),
        "mean_2": glorot(generators, s.hidden, s.latent),
        "bias_2": torch.zeros(len(generators), s.latent),
        "centre": uniform(generators, limit, LAYERS, classes, s.latent),
        "radius": uniform(generators, limit, LAYERS, classes),
        "push": uniform(generators, limit, LAYERS, classes),
    }


def log_density(p: Parameters, latent: Tensor) -> Tensor:
    r"""log q(z | c) [n, c]: a standard normal seen through each class's radial flow.

    One layer is z + b (z - z_0) / (a + r) with r = |z - z_0| and b > -a, so that it never folds;
    its log determinant is (D - 1) log(1 + b h) + log(1 + b h - b h^2 r), h = 1 / (a + r).
    """
    z = latent[:, None]  # [n, c, D] from the first layer on
    log_det = latent.new_zeros(())
    radius, push = (functional.softplus(p[name][0]) for name in ("radius", "push"))
    layers = zip(p["centre"][0], radius, push, strict=True)
    for centre, a, reach in layers:
        b = reach - a
        away = z - centre
        # not a plain norm: its gradient at the centre does not exist
        r = (away.square().sum(-1) + 1e-12).sqrt()
        h = 1 / (a + r)
        z = torch.addcmul(z, (b * h)[..., None], away)
        log_det = log_det + (away.shape[-1] - 1) * torch.log1p(b * h)
        log_det = log_det + torch.log1p(b * h - b * h * h * r)
    size = latent.shape[-1]
    return log_det - 0.5 * z.square().sum(-1) - 0.5 * size * math.log(2 * math.pi)


def concentration(
    p: Parameters,
    projected: Tensor,
    kernel: Csr,
    dropout: float = 0.0,
    generators: Sequence[torch.Generator] | None = None,
) -> Tensor:
    """alpha [n, c]: one plus the evidence of a node and, by personalised PageRank, of others.

    ``projected`` is X W_1.
    """
    hidden = (projected + p["bias_1"][0]).relu()
    hidden = apply_dropout(hidden, [len(hidden)], dropout, generators)
    latent = hidden @ p["mean_2"][0] + p["bias_2"][0]
    classes, size = p["centre"].shape[2:]
    # The prior over classes is that of the training nodes, as many of each. The budget grows with
    # the dimension as the density of a normal falls.
    budget = 0.5 * size * math.log(4 * math.pi) - math.log(classes)
    own = (log_density(p, latent) + budget).clamp(-MOST_LOG_EVIDENCE, MOST_LOG_EVIDENCE).exp()
    evidence = own
    for _ in range(STEPS):
        evidence = (1 - TELEPORT) * kernel.matmul(evidence) + TELEPORT * own
    return 1 + evidence


class GpnNetwork(SingleNetwork):
    decayed = ("mean_1", "bias_1", "mean_2", "bias_2")

    def __init__(
        self, graph: Graph, split: Split, seed: int, s: GpnSettings, generator: torch.Generator
    ) -> None:
        super().__init__(graph, split, seed, s, generator)
        inputs = Inputs.of(graph)
        self.words, self.kernel = Csr.from_scipy(inputs.words), Csr.from_scipy(inputs.kernel)
        self.parameters = initial_parameters(graph.num_features, len(split.classes), s, [generator])

    def _concentration(
        self,
        p: Parameters,
        dropout: float = 0.0,
        generators: Sequence[torch.Generator] | None = None,
    ) -> Tensor:
        projected = self.words.matmul(p["mean_1"][0])
        return concentration(p, projected, self.kernel, dropout, generators)

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        self.epoch += 1
        p = self.parameters
        if self.epoch <= WARM_UP:
            p = {name: t.detach() if name in self.decayed else t for name, t in p.items()}
        alpha = self._concentration(p, self.s.dropout, generators)
        alpha = alpha[self.train.nodes]
        own = alpha.gather(-1, self.train.labels[:, None])[:, 0]
        # The expected log-likelihood under the Dirichlet distribution, in closed form.
        surprise = (torch.digamma(alpha.sum(-1)) - torch.digamma(own)).sum()
        entropy = distributions.Dirichlet(alpha).entropy().sum()
        return (surprise - ENTROPY_WEIGHT * entropy)[None]

    def validation(self) -> tuple[Tensor, Tensor]:
        alpha = self._concentration(self.parameters)[self.held_out.nodes]
        log_probs = (alpha / alpha.sum(-1, keepdim=True)).log()
        return validation_metrics(log_probs, self.held_out.labels, alpha)

    def predict(self, trained: Trained, generator: torch.Generator) -> Fitted:
        alpha = self._concentration(trained.parameters)
        total = alpha.sum(-1)
        scores = {"lack_of_evidence": -total.log()}
        return Fitted.of(trained, alpha / total[:, None], scores=scores)


def network(result: Result, graph: Graph, inputs: Inputs) -> Differentiable:
    """The network of a run on a graph; its outputs are log alpha."""
    p = {name: torch.from_numpy(array)[None] for name, array in result.weights.items()}
    kernel = Csr.from_scipy(inputs.kernel)
    return Differentiable(lambda x: concentration(p, x, kernel).log(), result.weights["mean_1"])


METHOD = Method(
    name="gpn",
    title="Graph posterior network (GPN)",
    explanation="Learns how densely each class fills a small space and counts the density at a "
    "node as evidence, which then spreads along links. A node unlike everything seen gets no "
    "evidence, so its answer stays near 'any class'.",
    settings=GpnSettings,
    effort=5,
    fit_one=GpnNetwork.fit_one,
    explains=Explains(network=network, remainder="densities and biases"),
    scores=(
        Score(
            "lack_of_evidence",
            "Lack of evidence",
            "epistemic",
            "Minus the log of the evidence for all classes together.",
        ),
    ),
)
