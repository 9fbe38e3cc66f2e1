"""What a method is, what it gives back, and what all networks among them share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor

from bup.graph import Graph
from bup.settings import setting
from bup.splits import Split
from bup.training import Field, Inputs, Network, OnEpoch, Schedule, Task, Trained, train


@dataclass(frozen=True, eq=False)
class Fitted:
    """A method's outcome for one seed: plain arrays over all nodes, no live module."""

    probs: np.ndarray  # [n, c]
    history: Mapping[str, list[float]]
    best_epoch: int
    mean: np.ndarray | None = None  # [n, c] the message before it becomes a probability
    var: np.ndarray | None = None  # [n, c] for methods whose messages have a variance
    weights: Mapping[str, np.ndarray] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)  # e.g. a fitted temperature

    @classmethod
    def of(
        cls,
        trained: Trained,
        probs: Tensor,
        mean: Tensor | None = None,
        var: Tensor | None = None,
        figures: Mapping[str, float] | None = None,
    ) -> Fitted:
        return cls(
            probs=probs.numpy(),
            history=trained.history,
            best_epoch=trained.best_epoch,
            mean=None if mean is None else mean.numpy(),
            var=None if var is None else var.numpy(),
            weights={name: tensor[0].numpy() for name, tensor in trained.parameters.items()},
            figures=figures or {},
        )


Fit = Callable[[Graph, Sequence[Split], Sequence[int], Any, OnEpoch | None], list[Fitted]]


@dataclass(frozen=True)
class Method:
    """One line in the table of methods."""

    name: str
    title: str
    explanation: str  # two sentences for people
    settings: type
    fit: Fit


@dataclass(frozen=True)
class NetworkSettings:
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
class Held:
    """The nodes that a post-hoc calibration may look at, and their output columns."""

    nodes: Tensor
    labels: Tensor


def fit_network(
    graph: Graph,
    splits: Sequence[Split],
    seeds: Sequence[int],
    schedule: Schedule,
    on_epoch: OnEpoch | None,
    make: Callable[[Task, Sequence[torch.Generator]], Network],
    finish: Callable[[Trained, Field, Held], Fitted],
) -> list[Fitted]:
    """Train a network for every seed; ``finish`` turns what was learned into a result."""
    inputs = Inputs.of(graph)
    task = Task.of(graph, inputs, splits)
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    trained = train(make(task, generators), schedule, generators, on_epoch)
    everything = inputs.everything()
    fitted = []
    for split, outcome in zip(splits, trained, strict=True):
        labels = split.targets(graph.labels[split.validation])
        held = Held(torch.from_numpy(split.validation), torch.from_numpy(labels))
        with torch.no_grad():
            fitted.append(finish(outcome, everything, held))
    return fitted


def fit_scale(nll: Callable[[float], float]) -> float:
    """The positive number that minimises ``nll``, searched on a logarithmic scale."""
    found = minimize_scalar(
        lambda log_scale: nll(float(np.exp(log_scale))), bounds=(-7, 7), method="bounded"
    )
    return float(np.exp(found.x))
