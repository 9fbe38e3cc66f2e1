"""Base classes of the networks among the methods: settings, training data and the fit.

A network derives from ``BatchNetwork`` if several seeds train side by side, else from
``SingleNetwork``. It says what it learns (``parameters``), from which loss, and what it predicts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bup.calibrators import LabelledNodes
from bup.engine.loop import OnEpoch, Parameters, Schedule, Trained, train
from bup.engine.receptive_field import Inputs
from bup.graph import Graph
from bup.io.lazy import Tensor, functional, torch
from bup.methods.base import Fitted, MethodSettings
from bup.run.settings import setting
from bup.run.splits import Split


@dataclass(frozen=True)
class NetworkSettings(MethodSettings):
    """Settings of every network: its width, its regularisation, how long to train it."""

    hidden: int = setting(64, "Width of the hidden layer.", low=1, high=1024)
    dropout: float = setting(0.5, "Share of inputs dropped in training.", low=0, high=0.95)
    learning_rate: float = setting(0.01, "Step size of Adam.", low=1e-6, high=1)
    weight_decay: float = setting(5e-4, "Pull of first-layer weights to zero.", low=0, high=1)
    epochs: int = setting(400, "Epochs at most.", low=1, high=10_000)
    patience: int = setting(40, "Epochs without improvement before stopping.", low=1, high=10_000)

    def schedule(self, keep: str = "best") -> Schedule:
        return Schedule(self.epochs, self.patience, self.learning_rate, self.weight_decay, keep)


class _Network(ABC):
    """A ``bup.engine.loop.Network``."""

    parameters: Parameters
    decayed: tuple[str, ...] = ()
    s: Any

    def schedule(self) -> Schedule:
        return self.s.schedule()

    @abstractmethod
    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor: ...

    @abstractmethod
    def validation(self) -> tuple[Tensor, Tensor]: ...


class BatchNetwork(_Network):
    """A network of which several seeds train side by side, their rows and weights stacked."""

    decayed: tuple[str, ...] = ("mean_1",)

    def __init__(
        self,
        graph: Graph,
        splits: Sequence[Split],
        s: Any,
        generators: Sequence[torch.Generator],
    ) -> None:
        self.graph, self.s, self.classes = graph, s, len(splits[0].classes)
        inputs = Inputs.of(graph)
        train = [split.train for split in splits]
        validation = [split.validation for split in splits]
        self.train_field, self.validation_field = inputs.field(train), inputs.field(validation)
        self.everything = inputs.everything()
        self.train_labels, self.validation_labels = (
            torch.from_numpy(
                np.concatenate(
                    [s.targets(graph.labels[n]) for s, n in zip(splits, part, strict=True)]
                )
            )
            for part in (train, validation)
        )
        self.parameters = self.initial_parameters(generators)

    @abstractmethod
    def initial_parameters(self, generators: Sequence[torch.Generator]) -> Parameters: ...

    @abstractmethod
    def predict(self, trained: Trained, split: Split, seed: int) -> Fitted:
        """The outcome of one seed."""

    def seed_means(self, values: Tensor) -> Tensor:
        """Mean [seeds] of a number per node; every seed has the same number of nodes."""
        return values.view(len(self.train_field.targets), -1).float().mean(dim=1)

    @classmethod
    def fit_batch(
        cls,
        graph: Graph,
        splits: Sequence[Split],
        seeds: Sequence[int],
        s: Any,
        on_epoch: OnEpoch | None,
    ) -> list[Fitted]:
        """Train a network for every seed, side by side."""
        generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        network = cls(graph, splits, s, generators)
        outcomes = train(network, network.schedule(), generators, on_epoch)
        with torch.no_grad():
            return [network.predict(*each) for each in zip(outcomes, splits, seeds, strict=True)]


class SingleNetwork(_Network):
    """A network that trains one seed at a time: it gains nothing from training several."""

    def __init__(
        self, graph: Graph, split: Split, seed: int, s: Any, generator: torch.Generator
    ) -> None:
        self.graph, self.split, self.seed, self.s = graph, split, seed, s
        self.train = LabelledNodes.of(graph, split, split.train)
        self.held_out = LabelledNodes.of(graph, split, split.validation)
        self.epoch = 0

    @abstractmethod
    def predict(self, trained: Trained, generator: torch.Generator) -> Fitted:
        """The outcome; ``generator`` is in the state in which training left it."""

    @classmethod
    def fit_one(
        cls, graph: Graph, split: Split, seed: int, s: Any, on_epoch: OnEpoch | None
    ) -> Fitted:
        generator = torch.Generator().manual_seed(seed)
        network = cls(graph, split, seed, s, generator)
        (trained,) = train(network, network.schedule(), [generator], on_epoch)
        with torch.no_grad():
            return network.predict(trained, generator)


def validation_metrics(
    log_probs: Tensor, labels: Tensor, scores: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """NLL [1] and accuracy [1] of one seed; ``scores`` say the answer if not ``log_probs``."""
    answers = (log_probs if scores is None else scores).argmax(-1)
    hits = (answers == labels).float().mean()
    return functional.nll_loss(log_probs, labels)[None], hits[None]
