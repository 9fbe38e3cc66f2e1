"""DeGEM (Chen et al. 2025): a learned energy, on top of messages learned without labels.

Three parts learn in every epoch. An encoder joins what arrives over none to five links and learns,
without any label, to tell the graph from one whose words were shuffled among its nodes (DGI). An
energy head learns how likely each place in the encoder's space is: it pushes energy down where
training nodes are, and up where Langevin's dynamics find it too low. A linear classifier learns the
classes. Encoder and head share a summary of the graph, in which nodes of low energy have more say.
Energy is not averaged along links afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bup.engine.layers import uniform
from bup.engine.loop import Parameters, Schedule, Trained
from bup.engine.receptive_field import Inputs
from bup.engine.sparse import Csr
from bup.graph import Graph
from bup.graph.operators import normalised_links
from bup.io.lazy import Tensor, functional, torch
from bup.methods.base import Differentiable, Explains, Fitted, Method
from bup.methods.gcn import apply_dropout
from bup.methods.network import NetworkSettings, SingleNetwork, validation_metrics
from bup.run.settings import setting
from bup.run.splits import Split
from bup.scores import Score

if TYPE_CHECKING:
    from bup.results.result import Result

HOPS = 5
STAYS = 0.5  # share of a node's own message that it retains in every hop
HEAD = 64  # width of the energy head
CLASSES = 0.1  # weight of the classification loss
STEPS, NOISE = 20, 0.005  # of Langevin's dynamics
REMEMBERED = 2  # epochs whose samples are stored
REUSED = 0.95  # share of an epoch's samples that continue stored ones


@dataclass(frozen=True)
class DegemSettings(NetworkSettings):
    hidden: int = setting(
        512, "Width of the encoder; 64 is ten times as fast, and worse.", low=1, high=1024
    )
    learning_rate: float = setting(0.001, "Step size of Adam.", low=1e-6, high=1)
    weight_decay: float = setting(5e-4, "Pull of all weights to zero.", low=0, high=1)
    epochs: int = setting(200, "Epochs, of which the last is kept.", low=1, high=10_000)
    patience: int = setting(
        200,
        "Epochs over which classes must have got better for training to go on.",
        low=1,
        high=10_000,
    )


def initial_parameters(
    graph: Graph, classes: int, s: DegemSettings, generators: Sequence[torch.Generator]
) -> Parameters:
    words, hidden, joined = graph.num_features, s.hidden, (HOPS + 1) * s.hidden
    # Messages are scaled to length 1, so small weights learn fast; the authors' are as small.
    small = (6 / (hidden * (words + HOPS + 1))) ** 0.5
    return {
        "hops": uniform(generators, small, words, joined),  # weights for every hop, side by side
        "join": uniform(generators, joined**-0.5, joined, hidden),
        "join_bias": uniform(generators, joined**-0.5, hidden),
        "judge": uniform(generators, hidden**-0.5, hidden, hidden),
        "classes": uniform(generators, hidden**-0.5, hidden, classes),
        "classes_bias": uniform(generators, hidden**-0.5, classes),
        "head_own": uniform(generators, (2 * hidden) ** -0.5, hidden, HEAD),
        "head_all": uniform(generators, (2 * hidden) ** -0.5, hidden, HEAD),
        "head_bias": uniform(generators, (2 * hidden) ** -0.5, HEAD),
        "scale": torch.ones(len(generators), HEAD),
        "shift": torch.zeros(len(generators), HEAD),
        "head_out": uniform(generators, HEAD**-0.5, HEAD, 1),
        "say": torch.full((len(generators), graph.num_nodes), 1 / graph.num_nodes),  # not learned
    }


def encode(
    p: Parameters,
    message: Tensor,
    links: Csr,
    order: Tensor | None = None,
    rate: float = 0.0,
    generators: Sequence[torch.Generator] | None = None,
) -> Tensor:
    """Latent vectors [n, hidden] of all nodes; ``order`` shuffles the words among the nodes.

    ``message`` is X [W_0, ..., W_5].

    (I / 2 + D^-1/2 A D^-1/2)^k X W_k for k = 0, ..., 5, each of length 1, and a layer over all.
    """
    width = p["judge"].shape[-1]
    message = message if order is None else message[order]
    messages = []
    for hop in range(HOPS + 1):
        if hop:
            message = STAYS * message + links.matmul(message)
        messages.append(functional.normalize(message[:, :width], dim=-1).relu())
        message = message[:, width:].contiguous()
    joined = apply_dropout(torch.cat(messages, -1), [len(message)], rate, generators)
    return (joined @ p["join"][0] + p["join_bias"][0]).relu()


def head_hidden(p: Parameters, places: Tensor, summary: Tensor) -> Tensor:
    return (places @ p["head_own"][0] + summary @ p["head_all"][0] + p["head_bias"][0]).relu()


def energy(
    p: Parameters,
    hidden: Tensor,
    usual: Tensor | None = None,
    rate: float = 0.0,
    generators: Sequence[torch.Generator] | None = None,
) -> Tensor:
    """Energy [n] from what ``head_hidden`` gives, each unit scaled as among ``usual``.

    Without ``usual`` it is scaled as among the given ones, as batch normalisation does.
    """
    usual = hidden if usual is None else usual
    variance, mean = torch.var_mean(usual, 0, correction=0)
    scaled = (hidden - mean) / (variance + 1e-5).sqrt() * p["scale"][0] + p["shift"][0]
    return (apply_dropout(scaled, [len(scaled)], rate, generators) @ p["head_out"][0])[:, 0]


def langevin(
    p: Parameters, places: Tensor, summary: Tensor, usual: Tensor, generator: torch.Generator
) -> Tensor:
    """Sample latent vectors of low energy: z <- z - grad E + noise."""
    fixed = {name: tensor.detach() for name, tensor in p.items()}
    for _ in range(STEPS):
        places = places.requires_grad_(True)
        (slope,) = torch.autograd.grad(
            energy(fixed, head_hidden(fixed, places, summary), usual).sum(), places
        )
        places = (places - slope + NOISE * torch.randn(places.shape, generator=generator)).detach()
    return places


def class_logits(p: Parameters, latent: Tensor) -> Tensor:
    return latent @ p["classes"][0] + p["classes_bias"][0]


class DegemNetwork(SingleNetwork):
    def __init__(
        self, graph: Graph, split: Split, seed: int, s: DegemSettings, generator: torch.Generator
    ) -> None:
        super().__init__(graph, split, seed, s, generator)
        self.words = Csr.from_scipy(Inputs.of(graph).words)
        self.links = Csr.from_scipy(normalised_links(graph))
        self.samples = torch.empty(0, s.hidden)
        self.parameters = initial_parameters(graph, len(split.classes), s, [generator])
        self.decayed = tuple(name for name in self.parameters if name != "say")

    def _message(self, p: Parameters) -> Tensor:
        return self.words.matmul(p["hops"][0])

    def schedule(self) -> Schedule:
        return self.s.schedule("last")

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        (generator,) = generators
        p, dropout = self.parameters, (self.s.dropout, generators)
        order = torch.randperm(self.words.shape[0], generator=generator)
        latent = encode(p, self._message(p), self.links, None, *dropout)
        shuffled = encode(p, self._message(p), self.links, order, *dropout)
        fixed = latent.detach()
        summary = p["say"][0].detach() @ fixed
        hidden = head_hidden(p, fixed, summary)
        energies = energy(p, hidden, None, *dropout)
        samples = self._draw_samples(summary, hidden.detach(), generator)
        low = energies[self.train.nodes]
        high = energy(p, head_hidden(p, samples, summary), None, *dropout)
        likelihood = low.mean() - high.mean() + low.square().mean() + high.square().mean()
        weights = (-energies).softmax(0)
        contrast = self._contrastive_loss(weights @ latent, latent, shuffled)
        with torch.no_grad():
            p["say"][0] = weights
        logits = class_logits(p, latent[self.train.nodes])
        classes = functional.cross_entropy(logits, self.train.labels)
        return (likelihood + contrast + CLASSES * classes)[None]

    def _draw_samples(self, summary: Tensor, usual: Tensor, generator: torch.Generator) -> Tensor:
        """As many latent vectors as there are training nodes; most continue earlier samples."""
        count = len(self.train.nodes)
        old = torch.randperm(len(self.samples), generator=generator)[: int(REUSED * count)]
        fresh = 2 * torch.rand(count - len(old), self.s.hidden, generator=generator) - 1
        start = torch.cat([self.samples[old], fresh])
        samples = langevin(self.parameters, start, summary, usual, generator)
        self.samples = torch.cat([samples, self.samples])[: REMEMBERED * count]
        return samples

    def _contrastive_loss(self, summary: Tensor, latent: Tensor, shuffled: Tensor) -> Tensor:
        """DGI's loss: does a latent vector belong to the summary of the graph?"""
        logits = torch.cat([latent, shuffled]) @ (self.parameters["judge"][0] @ summary)
        truth = torch.zeros_like(logits)
        truth[: len(latent)] = 1
        return functional.binary_cross_entropy_with_logits(logits, truth)

    def validation(self) -> tuple[Tensor, Tensor]:
        latent = encode(self.parameters, self._message(self.parameters), self.links)
        logits = class_logits(self.parameters, latent[self.held_out.nodes])
        return validation_metrics(logits.log_softmax(-1), self.held_out.labels, logits)

    def predict(self, trained: Trained, generator: torch.Generator) -> Fitted:
        p = trained.parameters
        latent = encode(p, self._message(p), self.links)
        logits = class_logits(p, latent)
        scores = {"learned_energy": energy(p, head_hidden(p, latent, p["say"][0] @ latent))}
        return Fitted.of(trained, logits.softmax(-1), mean=logits, scores=scores)


def network(result: Result, graph: Graph, inputs: Inputs) -> Differentiable:
    """The encoder and the classifier of a run on a graph."""
    p = {name: torch.from_numpy(array)[None] for name, array in result.weights.items()}
    links = Csr.from_scipy(normalised_links(graph))
    return Differentiable(lambda x: class_logits(p, encode(p, x, links)), result.weights["hops"])


METHOD = Method(
    name="degem",
    title="Energy learned by itself (DeGEM)",
    explanation="Learns without labels what the graph's nodes are like, then how likely each kind "
    "of node is among those of the known classes. What it holds to be unlikely has a high energy, "
    "which is not averaged along links.",
    settings=DegemSettings,
    app_defaults={"hidden": 64},  # seconds, not minutes
    effort=12,
    memory=11,
    reads_whole_graph=True,
    fit_one=DegemNetwork.fit_one,
    explains=Explains(network=network, remainder="biases and lengths of messages"),
    is_stochastic=True,  # which words are shuffled to which node depends on the nodes' order
    scores=(
        Score(
            "learned_energy",
            "Learned energy",
            "epistemic",
            "Minus the log of how likely the node's place is among those of the known classes.",
        ),
    ),
)
