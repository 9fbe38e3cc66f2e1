"""What a method is, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from torch import Tensor

from bup.graph import Graph
from bup.splits import Split
from bup.training import OnEpoch, Trained


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


def fit_scale(nll: Callable[[float], float]) -> float:
    """The positive number that minimises ``nll``, searched on a logarithmic scale."""
    found = minimize_scalar(
        lambda log_scale: nll(float(np.exp(log_scale))), bounds=(-7, 7), method="bounded"
    )
    return float(np.exp(found.x))
