"""Calibration after training: outputs are adjusted on the validation nodes, weights stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor
from torch.nn.functional import cross_entropy

from bup.graph import Graph
from bup.splits import Split


@dataclass(frozen=True, eq=False)
class Held:
    """The nodes that a calibration may look at, and their output columns."""

    nodes: Tensor
    labels: Tensor

    @classmethod
    def of(cls, graph: Graph, split: Split) -> Held:
        labels = split.targets(graph.labels[split.validation])
        return cls(torch.from_numpy(split.validation), torch.from_numpy(labels))


@dataclass(frozen=True)
class Calibrator:
    """One line in the table of calibrators.

    ``fit`` takes the graph, the outputs [n, c] whose softmax are the probabilities, the nodes to
    fit on and a seed, and returns the new outputs and the figures that it fitted.
    """

    name: str
    title: str
    explanation: str
    fit: Callable[[Graph, Tensor, Held, int], tuple[Tensor, dict[str, float]]]


def fit_scale(nll: Callable[[float], float]) -> float:
    """The positive number that minimises ``nll``, searched on a logarithmic scale."""
    found = minimize_scalar(
        lambda log_scale: nll(float(np.exp(log_scale))), bounds=(-7, 7), method="bounded"
    )
    return float(np.exp(found.x))


def temperature(
    graph: Graph, logits: Tensor, held: Held, seed: int
) -> tuple[Tensor, dict[str, float]]:
    """Outputs divided by one number T, the same for all nodes."""
    t = fit_scale(lambda t: cross_entropy(logits[held.nodes] / t, held.labels).item())
    return logits / t, {"temperature": t}


CALIBRATORS = {
    c.name: c
    for c in (
        Calibrator(
            "temperature",
            "Temperature scaling",
            "Divides all outputs by one number, fitted to the validation nodes. Answers stay the "
            "same; only how sure they are changes.",
            temperature,
        ),
    )
}
