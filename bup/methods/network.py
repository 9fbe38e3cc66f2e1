"""What all networks among the methods share: their settings, their data, their training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bup.engine.loop import Network, OnEpoch, Schedule, Trained, train
from bup.engine.receptive_field import Inputs, ReceptiveField
from bup.graph import Graph
from bup.io.lazy import Tensor, torch
from bup.methods.base import Fitted, MethodSettings
from bup.run.settings import setting
from bup.run.splits import Split


@dataclass(frozen=True)
class NetworkSettings(MethodSettings):
    """What every network is asked: its width, its regularisation, how long to train it."""

    hidden: int = setting(64, "Width of the hidden layer.", low=1, high=1024)
    dropout: float = setting(0.5, "Share of inputs dropped in training.", low=0, high=0.95)
    learning_rate: float = setting(0.01, "Step size of Adam.", low=1e-6, high=1)
    weight_decay: float = setting(5e-4, "Pull of first-layer weights to zero.", low=0, high=1)
    epochs: int = setting(400, "Epochs at most.", low=1, high=10_000)
    patience: int = setting(40, "Epochs without improvement before stopping.", low=1, high=10_000)

    def schedule(self, keep: str = "best") -> Schedule:
        return Schedule(self.epochs, self.patience, self.learning_rate, self.weight_decay, keep)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What several seeds train and validate on, stacked."""

    train: ReceptiveField
    train_labels: Tensor  # [seeds * train] output columns
    validation: ReceptiveField
    validation_labels: Tensor
    seeds: int
    classes: int

    @classmethod
    def of(cls, graph: Graph, inputs: Inputs, splits: Sequence[Split]) -> TrainingData:
        def labels(parts: list[np.ndarray]) -> Tensor:
            pairs = zip(splits, parts, strict=True)
            return torch.from_numpy(np.concatenate([s.targets(graph.labels[n]) for s, n in pairs]))

        train = [split.train for split in splits]
        validation = [split.validation for split in splits]
        return cls(
            train=inputs.field(train),
            train_labels=labels(train),
            validation=inputs.field(validation),
            validation_labels=labels(validation),
            seeds=len(splits),
            classes=len(splits[0].classes),
        )

    def seed_means(self, values: Tensor) -> Tensor:
        """Mean [seeds] of a number per node; every seed has the same number of nodes."""
        return values.view(self.seeds, -1).float().mean(dim=1)


Finish = Callable[[Trained, ReceptiveField, Split, int], Fitted]
"""Turns what was learned into a result, given the field of all nodes, the split and the seed."""


def fit_network(
    graph: Graph,
    splits: Sequence[Split],
    seeds: Sequence[int],
    schedule: Schedule,
    on_epoch: OnEpoch | None,
    make: Callable[[TrainingData, Sequence[torch.Generator]], Network],
    finish: Finish,
) -> list[Fitted]:
    """Train a network for every seed, side by side."""
    inputs = Inputs.of(graph)
    data = TrainingData.of(graph, inputs, splits)
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    trained = train(make(data, generators), schedule, generators, on_epoch)
    everything = inputs.everything()
    with torch.no_grad():
        return [
            finish(outcome, everything, split, seed)
            for outcome, split, seed in zip(trained, splits, seeds, strict=True)
        ]
