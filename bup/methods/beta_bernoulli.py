"""Learned edge dropout (Hasanzadeh et al. 2020): every layer keeps links with a random rate.

BBDE draws one mask over the links per layer; BBGDC one for each block of features.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bup.engine.loop import Parameters, Trained
from bup.engine.receptive_field import Inputs
from bup.engine.sparse import Csr
from bup.graph import Graph
from bup.graph.operators import walk
from bup.io.lazy import Tensor, functional, sparse, torch
from bup.methods.base import Differentiable, Explains, Fitted, Method, ScheduleSettings
from bup.methods.network import SingleNetwork, validation_metrics
from bup.run.settings import setting
from bup.run.splits import Split
from bup.scores.samples import SAMPLED, sample_scores

if TYPE_CHECKING:
    from bup.results.result import Result

LAYERS = 4
TEMPERATURE = 0.67  # of the relaxed masks
PRIOR = 0.8  # the prior of keep rates is Beta(PRIOR, 1)
KL_RAMP = 20  # epochs until the divergence from the prior counts in full
VALIDATION_DRAWS = 4


@dataclass(frozen=True)
class BetaBernoulliSettings(ScheduleSettings):
    """Its authors train longer: epochs=2000, patience=2000, keep=last."""

    learning_rate: float = setting(0.005, "Step size of Adam.", low=1e-6, high=1)
    hidden: int = setting(128, "Width of the three hidden layers.", low=2, high=1024)
    decay: float = setting(
        5e-3, "Pull of weights to zero, the weaker the more links a layer keeps.", low=0, high=1
    )
    samples: int = setting(20, "Draws that a prediction averages.", low=1, high=1000)


def kumaraswamy(u: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """A draw from Kumaraswamy(a, b) for a uniform ``u``; differentiable in a and b."""
    return (1 - u ** (1 / b)).clamp(1e-6, 1 - 1e-6) ** (1 / a)


def kl_from_prior(a: Tensor, b: Tensor, alpha: float = PRIOR) -> Tensor:
    """KL(Kumaraswamy(a, b) || Beta(alpha, 1))."""
    mean_log = -np.euler_gamma - torch.digamma(b) - 1 / b
    return (1 - alpha / a) * mean_log + (a * b).log() - math.log(alpha) - (b - 1) / b


def masked_product(matrix: Csr, dense: Tensor, logit: Tensor, generator: torch.Generator) -> Tensor:
    """A sparse matrix times ``dense``, each entry kept with probability sigmoid(logit), relaxed.

    All entries share one logit. Its gradient is that of the product in the direction of the masks'
    slope: one more sparse product, instead of a gradient for every entry.
    """
    u = torch.rand(len(matrix.values), generator=generator).clamp_(1e-6, 1 - 1e-6)
    mask = ((u.logit_() + logit.detach()) / TEMPERATURE).sigmoid_()
    weights = matrix.values * mask
    product = matrix.matmul(dense, weights)
    if not logit.requires_grad:
        return product
    slope = weights * (1 - mask) / TEMPERATURE
    with torch.no_grad():
        direction = matrix.matmul(dense, slope)
    return product + (logit - logit.detach()) * direction


@dataclass(frozen=True, eq=False)
class MultiHopField:
    """The rows that some target nodes' outputs depend on: every layer reads one link further."""

    words: Csr  # [nodes within LAYERS links, f]
    steps: list[Csr]  # per layer: [nodes to compute, nodes to read], rows sum to one

    @classmethod
    def of(
        cls, words: sparse.csr_array, kernel: sparse.csr_array, nodes: np.ndarray
    ) -> MultiHopField:
        steps: list[Csr] = []
        for _ in range(LAYERS):
            rows = kernel[nodes]
            nodes = np.unique(rows.indices)
            steps.insert(0, Csr.from_scipy(sparse.csr_array(rows[:, nodes])))
        return cls(Csr.from_scipy(words[nodes]), steps)


def initial_parameters(
    words: int, hidden: int, classes: int, blocks: int, generator: torch.Generator
) -> Parameters:
    """Layer k's weights are [1, blocks, in / blocks, out]; the first layer has one block."""

    def uniform(low: float, high: float, *shape: int) -> Tensor:
        return low + (high - low) * torch.rand(1, *shape, generator=generator)

    widths = [words, *[hidden] * (LAYERS - 1), classes]
    p = {"keep_a": uniform(1, 1.5, LAYERS), "keep_b": uniform(0.49, 0.51, LAYERS)}
    for k in range(LAYERS):
        parts, out = (blocks if k else 1), widths[k + 1]
        scale = out**-0.5
        weight = torch.randn(1, parts, widths[k] // parts, out, generator=generator) * scale
        p |= {f"weight_{k + 1}": weight, f"bias_{k + 1}": uniform(-scale, scale, parts, out)}
    return p


def keep_rates(p: Parameters, generator: torch.Generator) -> Tensor:
    """A random share of links to keep for each layer [LAYERS]."""
    u = torch.rand(LAYERS, generator=generator).clamp_(1e-6, 1 - 1e-6)
    return kumaraswamy(u, functional.softplus(p["keep_a"][0]), functional.softplus(p["keep_b"][0]))


def log_probabilities(
    p: Parameters, field: MultiHopField, draws: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Log class probabilities [draws, targets, c] and keep rates [draws, LAYERS] of random draws.

    Each draw has its own keep rates and masks; all of them share the product with the words.
    """
    first = field.words.matmul(p["weight_1"][0, 0])
    rates = torch.stack([keep_rates(p, generator) for _ in range(draws)])
    outputs = []
    for logits in rates.logit():
        hidden = masked_product(field.steps[0], first, logits[0], generator) + p["bias_1"][0, 0]
        for k in range(1, LAYERS):
            weights, biases = p[f"weight_{k + 1}"][0], p[f"bias_{k + 1}"][0]
            parts = hidden.relu().chunk(len(weights), dim=1)
            hidden = biases.sum(0)
            for part, weight in zip(parts, weights, strict=True):
                product = masked_product(field.steps[k], part @ weight, logits[k], generator)
                hidden = hidden + product
        outputs.append(hidden)
    return torch.stack(outputs).log_softmax(-1), rates


class BbdeNetwork(SingleNetwork):
    decayed = ()  # the pull to zero is part of the loss: it depends on the draw
    blocks = 1

    def __init__(
        self,
        graph: Graph,
        split: Split,
        seed: int,
        s: BetaBernoulliSettings,
        generator: torch.Generator,
    ) -> None:
        super().__init__(graph, split, seed, s, generator)
        self.words, self.kernel = scaled_words(graph), walk(graph)
        self.train_field = self._field(split.train)
        self.validation_field = self._field(split.validation)
        hidden = s.hidden // self.blocks * self.blocks
        self.parameters = initial_parameters(
            graph.num_features, hidden, len(split.classes), self.blocks, generator
        )

    def _field(self, nodes: np.ndarray) -> MultiHopField:
        return MultiHopField.of(self.words, self.kernel, nodes)

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        p = self.parameters
        self.epoch += 1
        log_probs, rates = log_probabilities(p, self.train_field, 1, generators[0])
        kl = kl_from_prior(functional.softplus(p["keep_a"]), functional.softplus(p["keep_b"])).sum()
        squares = [
            p[f"weight_{k}"].square().sum() + p[f"bias_{k}"].square().sum()
            for k in range(1, LAYERS + 1)
        ]
        pull = self.s.decay * ((1 - rates[0]) * torch.stack(squares)).sum()
        fit = functional.nll_loss(log_probs[0], self.train.labels)
        return (fit + pull + min(1, self.epoch / KL_RAMP) * kl)[None]

    def validation(self) -> tuple[Tensor, Tensor]:
        # The same draws at every epoch, so that epochs differ by their weights and not by luck.
        generator = torch.Generator().manual_seed(self.seed)
        log_probs, _ = log_probabilities(
            self.parameters, self.validation_field, VALIDATION_DRAWS, generator
        )
        log_mean = log_probs.logsumexp(0) - math.log(VALIDATION_DRAWS)
        return validation_metrics(log_mean, self.held_out.labels)

    def predict(self, trained: Trained, generator: torch.Generator) -> Fitted:
        everything = self._field(np.arange(self.graph.num_nodes))
        log_probs, rates = log_probabilities(
            trained.parameters, everything, self.s.samples, generator
        )
        probs, scores = sample_scores(log_probs.exp())
        constants = {"kept_links": rates.mean().item()}
        return Fitted.of(trained, probs, constants=constants, scores=scores)


class BbgdcNetwork(BbdeNetwork):
    blocks = 2


def scaled_words(graph: Graph) -> sparse.csr_array:
    """Words as they are where they are zeros and ones, else with entries of that size."""
    words = sparse.csr_array(graph.features)
    size = np.sqrt(np.mean(words.data**2)) if words.nnz else 1.0
    return words / size


def network(result: Result, graph: Graph, inputs: Inputs) -> Differentiable:
    """The network of a run in which every link counts as much as it does on average."""
    w = {name: torch.from_numpy(array) for name, array in result.weights.items()}
    kernel = Csr.from_scipy(walk(graph))
    share = result.constants["kept_links"]

    def outputs(projected: Tensor) -> Tensor:
        hidden = share * kernel.matmul(projected) + w["bias_1"][0]
        for k in range(2, LAYERS + 1):
            weights, biases = w[f"weight_{k}"], w[f"bias_{k}"]
            parts = hidden.relu().chunk(len(weights), dim=1)
            products = [part @ weight for part, weight in zip(parts, weights, strict=True)]
            hidden = share * kernel.matmul(torch.stack(products).sum(0)) + biases.sum(0)
        return hidden

    return Differentiable(outputs, result.weights["weight_1"][0], scaled_words(graph))


BBDE = Method(
    name="bbde",
    title="Learned link dropout (BBDE)",
    explanation="Four layers of a graph network, each of which drops links at random, with a rate "
    "that is learned and itself uncertain. The answer is the mean over many random droppings, and "
    "where these disagree the network does not know.",
    settings=BetaBernoulliSettings,
    effort=3,
    reads_whole_graph=True,
    fit_one=BbdeNetwork.fit_one,
    explains=Explains(network=network, remainder="random dropping of links and biases"),
    scores=SAMPLED,
    is_stochastic=True,
)

BBGDC = replace(
    BBDE,
    name="bbgdc",
    title="Learned link dropout per feature (BBGDC)",
    explanation="As in BBDE, every layer drops links at random with a learned rate, but a link can "
    "be dropped for one half of the features and stay for the other. The answer is the mean over "
    "many random droppings, and where these disagree the network does not know.",
    fit_one=BbgdcNetwork.fit_one,
)
