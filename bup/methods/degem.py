"""DeGEM (Chen et al. 2025): an energy learned by itself, on top of messages learned without labels.

Two parts learn in every epoch. An encoder averages messages over five links and learns, without any
label, to tell the graph from one whose words were shuffled among its nodes (DGI). An energy head
learns the classes from the training nodes and, by maximum likelihood, how likely each place in the
encoder's space is: it pushes energy down where training nodes are, and up where Langevin's dynamics
find it too low. Energy is not averaged along links afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bup.graph import Graph
from bup.late import Tensor, functional, torch
from bup.layers import dropout_factors, glorot
from bup.methods.base import Fitted, Method, one_by_one
from bup.methods.network import NetworkSettings
from bup.receptive import Inputs
from bup.scores import Score
from bup.settings import setting
from bup.sparse import Csr
from bup.splits import Split
from bup.training import OnEpoch, Parameters, train

HOPS = 5
LANGEVIN_STEPS, STEP, NOISE = 20, 1.0, 0.1
SMALL_ENERGIES = 0.1  # weight of their squares, without which maximum likelihood runs away


@dataclass(frozen=True)
class Settings(NetworkSettings):
    hidden: int = setting(64, "Width of the encoder and of the energy head.", low=1, high=1024)
    density: float = setting(
        0.1, "Weight of the likelihood beside the classes in the energy head.", low=0, high=100
    )
    learning_rate: float = setting(0.003, "Step size of Adam.", low=1e-6, high=1)
    weight_decay: float = setting(5e-4, "Pull of the energy head's weights to zero.", low=0, high=1)
    patience: int = setting(100, "Epochs without improvement before stopping.", low=1, high=10_000)
    epochs: int = setting(300, "Epochs at most.", low=1, high=20_000)


def initial_parameters(
    words: int, classes: int, s: Settings, generators: Sequence[torch.Generator]
) -> Parameters:
    return {
        "encoder": glorot(generators, words, s.hidden),
        "judge": glorot(generators, s.hidden, s.hidden),
        "head_1": glorot(generators, s.hidden, s.hidden),
        "bias_1": torch.zeros(len(generators), s.hidden),
        "head_2": glorot(generators, s.hidden, classes),
        "bias_2": torch.zeros(len(generators), classes),
    }


def encoded(p: Parameters, words: Csr, kernel: Csr, order: Tensor | None = None) -> Tensor:
    """relu(K^5 X W), scaled node by node [n, hidden]; ``order`` shuffles whose words are whose."""
    message = words.matmul(p["encoder"][0])
    message = message if order is None else message[order]
    for _ in range(HOPS):
        message = kernel.matmul(message)
    return functional.layer_norm(message.relu(), message.shape[-1:])


def outputs(p: Parameters, latent: Tensor) -> Tensor:
    """Minus the energy of a place together with each class [n, c]."""
    hidden = (latent @ p["head_1"][0] + p["bias_1"][0]).relu()
    return hidden @ p["head_2"][0] + p["bias_2"][0]


def energy(p: Parameters, latent: Tensor) -> Tensor:
    """E(z) = -log sum_c exp f_c(z) [n]."""
    return -outputs(p, latent).logsumexp(-1)


def langevin(p: Parameters, start: Tensor, generator: torch.Generator) -> Tensor:
    """Places that the energy holds to be likely: z <- z - grad E / 2 + noise, from ``start``."""
    fixed = {name: tensor.detach() for name, tensor in p.items()}
    place = start.detach()
    for _ in range(LANGEVIN_STEPS):
        place = place.requires_grad_(True)
        (slope,) = torch.autograd.grad(energy(fixed, place).sum(), place)
        noise = NOISE * torch.randn(place.shape, generator=generator)
        place = (place - STEP / 2 * slope + noise).detach()
    return place


class _Network:
    decayed: tuple[str, ...] = ("head_1", "head_2")

    def __init__(self, graph: Graph, split: Split, s: Settings, parameters: Parameters) -> None:
        inputs = Inputs.of(graph)
        self.words, self.kernel = Csr.from_scipy(inputs.words), Csr.from_scipy(inputs.kernel)
        self.s, self.parameters = s, parameters
        self.nodes, self.held = (torch.from_numpy(n) for n in (split.train, split.validation))
        self.labels, self.held_labels = (
            torch.from_numpy(split.targets(graph.labels[n]))
            for n in (split.train, split.validation)
        )

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        (generator,) = generators
        latent = encoded(self.parameters, self.words, self.kernel)
        order = torch.randperm(len(latent), generator=generator)
        shuffled = encoded(self.parameters, self.words, self.kernel, order)
        return (self._told_apart(latent, shuffled) + self._likely(latent.detach(), generator))[None]

    def _told_apart(self, latent: Tensor, shuffled: Tensor) -> Tensor:
        """DGI's loss; nodes of low energy, which are known, have more say in the summary."""
        p = self.parameters
        with torch.no_grad():
            weight = (-energy(p, latent)).softmax(0)
        summary = (p["judge"][0] @ (weight @ latent).sigmoid())[:, None]
        answers = torch.cat([latent @ summary, shuffled @ summary])[:, 0]
        truth = torch.zeros_like(answers)
        truth[: len(latent)] = 1
        return functional.binary_cross_entropy_with_logits(answers, truth)

    def _likely(self, latent: Tensor, generator: torch.Generator) -> Tensor:
        """The classes of the training nodes, and their likelihood among all places."""
        p, own = self.parameters, latent[self.nodes]
        if self.s.dropout:
            factors = dropout_factors(self.s.dropout, [own.numel()], [generator])
            own = own * factors.view_as(own)
        classes = functional.cross_entropy(outputs(p, own), self.labels)
        start = torch.randn(own.shape, generator=generator)
        low, high = energy(p, latent[self.nodes]), energy(p, langevin(p, start, generator))
        size = low.square().mean() + high.square().mean()
        return classes + self.s.density * (low.mean() - high.mean() + SMALL_ENERGIES * size)

    def validation(self) -> tuple[Tensor, Tensor]:
        found = outputs(self.parameters, encoded(self.parameters, self.words, self.kernel))
        found = found[self.held]
        right = (found.argmax(-1) == self.held_labels).float().mean()
        return functional.cross_entropy(found, self.held_labels)[None], right[None]


def fit_one(graph: Graph, split: Split, seed: int, s: Settings, on_epoch: OnEpoch | None) -> Fitted:
    generators = [torch.Generator().manual_seed(seed)]
    p = initial_parameters(graph.num_features, len(split.classes), s, generators)
    network = _Network(graph, split, s, p)
    (trained,) = train(network, s.schedule(), generators, on_epoch)
    with torch.no_grad():
        latent = encoded(trained.parameters, network.words, network.kernel)
        found = outputs(trained.parameters, latent)
        scores = {"learned_energy": -found.logsumexp(-1)}
        return Fitted.of(trained, found.softmax(-1), mean=found, scores=scores)


METHOD = Method(
    name="degem",
    title="Energy learned by itself (DeGEM)",
    explanation="Learns without labels what the graph's nodes are like, then how likely each kind "
    "of node is among those of the known classes. What it holds to be unlikely has a high energy, "
    "which is not averaged along links.",
    settings=Settings,
    effort=12,
    fit=one_by_one(fit_one),
    draws_answers=True,  # which words are shuffled to which node depends on the nodes' order
    scores=(
        Score(
            "learned_energy",
            "Learned energy",
            "epistemic",
            "Minus the log of how likely the node's place is among those of the known classes.",
        ),
    ),
)
