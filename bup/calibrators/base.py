"""What a calibrator is: outputs are adjusted on the validation nodes, weights stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bup.graph import Graph
from bup.io.lazy import Tensor, optimize, torch
from bup.run.splits import Split

SMALLEST = 1e-30


@dataclass(frozen=True, eq=False)
class LabelledNodes:
    """Nodes whose classes may be read, as training or validation nodes."""

    nodes: Tensor
    labels: Tensor  # columns of the model's outputs

    @classmethod
    def of(cls, graph: Graph, split: Split, nodes: np.ndarray) -> LabelledNodes:
        labels = split.targets(graph.labels[nodes])
        return cls(torch.from_numpy(nodes), torch.from_numpy(labels))


@dataclass(frozen=True, eq=False)
class Outputs:
    """What a method says of every node, and what it would say were it more or less sure.

    A method whose messages have a variance gives ``mean``, ``var`` and the ``link`` that makes
    class probabilities of them; any other only has ``logits``, whose softmax they are.
    """

    logits: Tensor  # [n, c]
    mean: Tensor | None = None  # [n, c]
    var: Tensor | None = None  # [n, c]
    link: Callable[[Tensor, Tensor], Tensor] | None = None

    def scaled_probs(self, nodes: Tensor | slice, factors: float | Sequence[float]) -> Tensor:
        """Class probabilities of some nodes, were all variances multiplied by a factor [nodes, c].

        Several factors at once give [factors, nodes, c]. Of plain outputs, whose scale is a
        standard deviation, the square root is taken.
        """
        if isinstance(factors, float):
            return self._scaled_probs(nodes, factors)
        each = self.logits.new_tensor(factors)[:, None, None]
        return self._scaled_probs(nodes, each)

    def _scaled_probs(self, nodes: Tensor | slice, factor: float | Tensor) -> Tensor:
        if self.link is None or self.mean is None or self.var is None:
            return (self.logits[nodes] / factor**0.5).softmax(-1)
        var = factor * self.var[nodes]
        return self.link(self.mean[nodes].expand_as(var), var)


class Calibrated(NamedTuple):
    """Adjusted class probabilities, and the numbers that were fitted for them."""

    probs: Tensor  # [n, c]
    constants: dict[str, float]
    var_factor: float = 1.0  # what the variances of messages were multiplied by


Fit = Callable[[Outputs, LabelledNodes, Graph, Split, int], Calibrated]
"""From outputs, the nodes to fit on, the graph, the split and a seed."""


@dataclass(frozen=True)
class Calibrator:
    """One line in the table of calibrators."""

    name: str
    title: str
    explanation: str
    fit: Fit
    acts_on_messages: bool = False
    """It adjusts the messages where they have a variance, and all that follows from them."""
    needs_variance: bool = False
    acts_on_probabilities: bool = False  # it comes last, after another one or alone


def label_nll(probs: Tensor, labels: Tensor) -> Tensor:
    """-log p of every label [n]."""
    return -probs.gather(-1, labels[..., None]).squeeze(-1).clamp_min(SMALLEST).log()


def fit_scale(nll: Callable[[float], float]) -> float:
    """The positive number that minimises ``nll``, searched on a logarithmic scale."""
    found = optimize.minimize_scalar(
        lambda log_scale: nll(float(np.exp(log_scale))), bounds=(-7, 7), method="bounded"
    )
    return float(np.exp(found.x))
