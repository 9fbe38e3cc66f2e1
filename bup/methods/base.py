"""What a method is, what it gives back, and what all networks among them share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bup.calibration import CALIBRATORS
from bup.errors import BupError
from bup.graph import Graph
from bup.scores import COMMON, Score
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
    scores: Mapping[str, np.ndarray] = field(default_factory=dict)  # [n] each, see Method.scores

    @classmethod
    def of(
        cls,
        trained: Trained,
        probs: Tensor,
        mean: Tensor | None = None,
        var: Tensor | None = None,
        figures: Mapping[str, float] | None = None,
        scores: Mapping[str, Tensor] | None = None,
    ) -> Fitted:
        return cls(
            probs=probs.numpy(),
            history=trained.history,
            best_epoch=trained.best_epoch,
            mean=None if mean is None else mean.numpy(),
            var=None if var is None else var.numpy(),
            weights={name: tensor[0].numpy() for name, tensor in trained.parameters.items()},
            figures=figures or {},
            scores={name: score.numpy() for name, score in (scores or {}).items()},
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
    scores: tuple[Score, ...] = ()  # its own, beside those of its class probabilities
    most_nodes: int | None = None  # it refuses larger graphs ...
    limit_reason: str = ""  # ... because of this
    draws_answers: bool = False  # predictions are averages over random draws, not a function

    @property
    def short(self) -> str:
        """The abbreviation that its title ends with, or the title."""
        return self.title.partition("(")[2].rstrip(")").partition(",")[0] or self.title

    @property
    def side_by_side(self) -> bool:
        """Several seeds train together in less time than one after the other."""
        return not isinstance(self.fit, _OneByOne)

    @property
    def every_score(self) -> tuple[Score, ...]:
        return (*COMMON, *self.scores)

    def check(self, graph: Graph) -> None:
        """Refuse a graph that the method cannot take."""
        if self.most_nodes is not None and graph.num_nodes > self.most_nodes:
            raise BupError(
                f"{self.name} takes graphs of at most {self.most_nodes:,} nodes "
                f"({self.limit_reason}), got {graph.name} with {graph.num_nodes:,}: "
                "choose another method or a smaller graph"
            )


@dataclass(frozen=True)
class MethodSettings:
    """What every method is asked."""

    calibrate: str = setting(
        "none",
        "Adjust the class probabilities afterwards, on the validation nodes.",
        choices=("none", *CALIBRATORS),
    )


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


NEVER = 10**6
"""The patience of a schedule that does not stop early."""


@dataclass(frozen=True)
class PacedSettings(MethodSettings):
    """What a method is asked whose authors train it for thousands of epochs."""

    pace: str = setting(
        "fast",
        "Train as long as the authors do, or to the same quality in about a tenth of the epochs.",
        choices=("fast", "authors"),
    )
    epochs: int = setting(0, "Epochs at most; 0 leaves it to the pace.", low=0, high=20_000)
    learning_rate: float = setting(
        0.0, "Step size of Adam; 0 leaves it to the pace.", low=0, high=1
    )

    def schedule(self, paces: Mapping[str, Schedule]) -> Schedule:
        pace = paces[self.pace]
        return replace(
            pace,
            epochs=self.epochs or pace.epochs,
            learning_rate=self.learning_rate or pace.learning_rate,
        )


Finish = Callable[[Trained, Field, Split, int], Fitted]
"""Turns what was learned into a result, given the field of all nodes, the split and the seed."""


def fit_network(
    graph: Graph,
    splits: Sequence[Split],
    seeds: Sequence[int],
    schedule: Schedule,
    on_epoch: OnEpoch | None,
    make: Callable[[Task, Sequence[torch.Generator]], Network],
    finish: Finish,
) -> list[Fitted]:
    """Train a network for every seed, side by side."""
    inputs = Inputs.of(graph)
    task = Task.of(graph, inputs, splits)
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    trained = train(make(task, generators), schedule, generators, on_epoch)
    everything = inputs.everything()
    with torch.no_grad():
        return [
            finish(outcome, everything, split, seed)
            for outcome, split, seed in zip(trained, splits, seeds, strict=True)
        ]


FitOne = Callable[[Graph, Split, int, Any, OnEpoch | None], Fitted]


@dataclass(frozen=True)
class _OneByOne:
    fit_one: FitOne

    def __call__(
        self,
        graph: Graph,
        splits: Sequence[Split],
        seeds: Sequence[int],
        settings: Any,
        on_epoch: OnEpoch | None,
    ) -> list[Fitted]:
        pairs = zip(splits, seeds, strict=True)
        return [self.fit_one(graph, split, seed, settings, on_epoch) for split, seed in pairs]


def one_by_one(fit_one: FitOne) -> Fit:
    """A fit for several seeds from a fit for one, for methods that gain nothing from company."""
    return _OneByOne(fit_one)
