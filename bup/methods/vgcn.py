"""Variational graph convolutional network (Elinas et al. 2020): the links themselves are uncertain.

Every pair of nodes has a logit phi of being linked, which training moves away from its prior value
lambda (high for links of the graph, low for all others). A drawn graph has weights
a = sigmoid((phi + log u - log(1 - u)) / temperature), nearly zero or one, with u uniform.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bup.engine.layers import glorot
from bup.engine.loop import Parameters, Schedule, Trained
from bup.engine.receptive_field import Inputs
from bup.engine.sparse import Csr
from bup.graph import Graph
from bup.graph.operators import normalised_rows
from bup.io.lazy import Tensor, torch
from bup.methods.base import Differentiable, Explains, Fitted, Method, ScheduleSettings
from bup.methods.gcn import apply_dropout, words_product
from bup.methods.network import SingleNetwork, validation_metrics
from bup.run.settings import setting
from bup.run.splits import Split
from bup.scores.samples import SAMPLED, sample_scores

if TYPE_CHECKING:
    from bup.results.result import Result

TEMPERATURE = 0.1  # of both the prior and the posterior
TRAINING_DRAWS = 3
LINK_STEP = 1e-3  # step size of phi, always: a larger one adds noise to millions of numbers
WEIGHT_DECAY = 5e-4
SMALLEST_WEIGHT = 1e-7  # lighter links vanish in single precision beside a node's own weight 1


@dataclass(frozen=True)
class VgcnSettings(ScheduleSettings):
    """Its authors train longer: epochs=5000, patience=5000, learning_rate=0.001, keep=last."""

    patience: int = setting(20, "Epochs without improvement before stopping.", low=1, high=20_000)
    learning_rate: float = setting(0.05, "Step size of Adam.", low=1e-6, high=1)
    hidden: int = setting(16, "Width of the hidden layer.", low=1, high=1024)
    dropout: float = setting(0.5, "Share of inputs dropped in training.", low=0, high=0.95)
    link_trust: float = setting(
        0.99,
        "Probability, before training, that a link of the graph is real.",
        low=1e-6,
        high=0.999999,
    )
    missing_links: float = setting(
        1e-5, "Probability, before training, that two other nodes are linked.", low=1e-9, high=0.5
    )
    samples: int = setting(16, "Drawn graphs that a prediction averages.", low=1, high=1000)


@dataclass(frozen=True)
class Pairs:
    """All pairs i < j of ``nodes`` nodes in one row: (0, 1), (0, 2), ..., (1, 2), ..."""

    nodes: int

    def __len__(self) -> int:
        return self.nodes * (self.nodes - 1) // 2

    @property
    def starts(self) -> Tensor:
        """Where the pairs of each first node begin."""
        i = torch.arange(self.nodes)
        return i * (2 * self.nodes - i - 1) // 2

    def place(self, i: Tensor, j: Tensor) -> Tensor:
        return self.starts[i] + j - i - 1

    def ends(self, place: Tensor) -> tuple[Tensor, Tensor]:
        starts = self.starts
        i = torch.searchsorted(starts[:-1], place, right=True) - 1
        return i, place - starts[i] + i + 1


def prior_logits(graph: Graph, s: VgcnSettings) -> Tensor:
    """The prior logits lambda [pairs]."""
    pairs = Pairs(graph.num_nodes)
    logits = torch.full((len(pairs),), math.log(s.missing_links / (1 - s.missing_links)))
    i, j = torch.from_numpy(np.array(graph.edges))
    logits[pairs.place(i, j)] = math.log(s.link_trust / (1 - s.link_trust))
    return logits


class DrawnLinks(NamedTuple):
    """The links of a drawn graph; pairs of negligible weight are left out."""

    place: Tensor  # among all pairs
    i: Tensor
    j: Tensor
    noise: Tensor  # log u - log(1 - u)

    def weights(self, phi: Tensor) -> Tensor:
        """The links' weights from the logits of their pairs."""
        return ((phi + self.noise) / TEMPERATURE).sigmoid()


def draw_links(phi: Tensor, pairs: Pairs, uniforms: Sequence[Tensor]) -> list[DrawnLinks]:
    """One graph for each draw of uniforms [pairs]."""
    cutoff = (TEMPERATURE * math.log(SMALLEST_WEIGHT) - phi.detach()).sigmoid_()
    graphs = []
    for u in uniforms:
        place = (u > cutoff).nonzero()[:, 0]
        noise = u[place].double().logit(eps=1e-9).float()
        graphs.append(DrawnLinks(place, *pairs.ends(place), noise))
    return graphs


class Uniforms:
    """Uniform draws for all pairs, from random bits: in half the time that torch.rand takes."""

    def __init__(self, count: int) -> None:
        self.values = torch.empty(count)
        self.bits = torch.empty((count + 1) // 2, dtype=torch.int64)

    def draw(self, generator: torch.Generator) -> Tensor:
        """The values [count], valid until the next draw."""
        self.bits.random_(-(2**63), None, generator=generator)
        whole = self.bits.view(torch.int32)[: len(self.values)]
        return self.values.copy_(whole).mul_(2.0**-32).add_(0.5)


def propagate(values: Tensor, links: DrawnLinks, weights: Tensor) -> Tensor:
    """D^-1/2 (A + I) D^-1/2 times ``values`` [n, k] for a drawn A."""
    i, j = links.i, links.j
    degree = torch.ones(len(values)).index_add(0, i, weights).index_add(0, j, weights)
    root = degree.rsqrt()[:, None]
    scaled, weights = values * root, weights[:, None]
    total = scaled.index_add(0, i, weights * scaled[j]).index_add(0, j, weights * scaled[i])
    return total * root


def log_probabilities(
    p: Parameters,
    words: Csr,
    graphs: Sequence[DrawnLinks],
    entries: Sequence[Tensor],
    dropout: float = 0.0,
    generators: Sequence[torch.Generator] | None = None,
) -> Tensor:
    """Log class probabilities [draws, n, c] under drawn graphs; ``generators`` switch dropout on.

    ``entries`` are the entries of phi at each graph's links.
    """
    projected = words_product(words, p["weight_1"], dropout, generators)
    outputs = []
    for links, phi in zip(graphs, entries, strict=True):
        weights = links.weights(phi)
        hidden = (propagate(projected, links, weights) + p["bias_1"][0]).relu()
        hidden = apply_dropout(hidden, [len(hidden)], dropout, generators)
        outputs.append(propagate(hidden @ p["weight_2"][0], links, weights) + p["bias_2"][0])
    return torch.stack(outputs).log_softmax(-1)


class VgcnNetwork(SingleNetwork):
    decayed = ("weight_1", "bias_1")

    def __init__(
        self, graph: Graph, split: Split, seed: int, s: VgcnSettings, generator: torch.Generator
    ) -> None:
        super().__init__(graph, split, seed, s, generator)
        self.prior, self.scale = prior_logits(graph, s), LINK_STEP / s.learning_rate
        self.parameters = {
            "shift": torch.zeros(1, len(self.prior)),
            "weight_1": glorot([generator], graph.num_features, s.hidden),
            "bias_1": torch.zeros(1, s.hidden),
            "weight_2": glorot([generator], s.hidden, len(split.classes)),
            "bias_2": torch.zeros(1, len(split.classes)),
        }
        self.words = Csr.from_scipy(normalised_rows(graph.features))
        self.pairs = Pairs(graph.num_nodes)
        self.draws = [Uniforms(len(self.pairs)) for _ in range(TRAINING_DRAWS)]
        self.graphs: list[DrawnLinks] = []

    def schedule(self) -> Schedule:
        return self.s.schedule(WEIGHT_DECAY)

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        from bup.engine.gradients import LogRatios

        shift = self.scale * self.parameters["shift"].squeeze(0)
        uniforms = [draw.draw(generators[0]) for draw in self.draws]
        self.graphs = draw_links(self.prior + shift.detach(), self.pairs, uniforms)
        place = torch.cat([links.place for links in self.graphs])
        shifts, log_ratios = LogRatios.apply(shift, place, uniforms)
        entries = (self.prior[place] + shifts).split([len(links.place) for links in self.graphs])
        dropout = self.s.dropout, generators
        log_probs = log_probabilities(self.parameters, self.words, self.graphs, entries, *dropout)
        return objective(log_probs[:, self.train.nodes], self.train.labels, log_ratios)[None]

    def validation(self) -> tuple[Tensor, Tensor]:
        # Uses the graphs of the training step, since drawing new ones costs as much as the step.
        shift = self.parameters["shift"][0]
        entries = [self.prior[g.place] + self.scale * shift[g.place] for g in self.graphs]
        log_probs = log_probabilities(self.parameters, self.words, self.graphs, entries)
        log_mean = log_probs[:, self.held_out.nodes].logsumexp(0) - math.log(len(log_probs))
        return validation_metrics(log_mean, self.held_out.labels)

    def predict(self, trained: Trained, generator: torch.Generator) -> Fitted:
        # The shifts are millions of numbers, so the result stores only the other weights.
        weights = {name: tensor for name, tensor in trained.parameters.items() if name != "shift"}
        phi = self.prior + self.scale * trained.parameters["shift"][0]
        graphs = [
            draw_links(phi, self.pairs, [self.draws[0].draw(generator)])[0]
            for _ in range(self.s.samples)
        ]
        entries = [phi[links.place] for links in graphs]
        probs, scores = sample_scores(log_probabilities(weights, self.words, graphs, entries).exp())
        constants = {"expected_links": phi.sigmoid().sum().item()}
        trained = replace(trained, parameters=weights)
        return Fitted.of(trained, probs, constants=constants, scores=scores)


def objective(log_probs: Tensor, labels: Tensor, log_ratios: Tensor) -> Tensor:
    """Importance-weighted negative bound per node of log probabilities [draws, nodes, c]."""
    draws, nodes, _ = log_probs.shape
    log_lik = log_probs.gather(-1, labels.expand(draws, -1)[..., None])[..., 0]
    terms = log_lik - log_ratios[:, None] / nodes
    return (math.log(draws) - terms.logsumexp(0)).mean()


def network(result: Result, graph: Graph, inputs: Inputs) -> Differentiable:
    """The network of a run on the graph as it is: the learned links are not stored."""
    w = {name: torch.from_numpy(array) for name, array in result.weights.items()}
    kernel = Csr.from_scipy(inputs.kernel)

    def outputs(projected: Tensor) -> Tensor:
        hidden = (kernel.matmul(projected) + w["bias_1"]).relu()
        return kernel.matmul(hidden @ w["weight_2"]) + w["bias_2"]

    return Differentiable(outputs, result.weights["weight_1"])


METHOD = Method(
    name="vgcn",
    title="Variational graph convolutional network (VGCN)",
    explanation="A graph convolutional network that does not take the graph for granted: it learns "
    "for every pair of nodes how likely they are to be linked. The answer is the mean over many "
    "graphs drawn from these probabilities, and where the graphs disagree the network does not "
    "know.",
    settings=VgcnSettings,
    effort=4,
    stores_node_pairs=True,
    reads_whole_graph=True,
    fit_one=VgcnNetwork.fit_one,
    explains=Explains(network=network, remainder="drawn graphs and biases"),
    scores=SAMPLED,
    max_nodes=6000,
    limit_reason="it learns one number for every pair of nodes",
    is_stochastic=True,
)
