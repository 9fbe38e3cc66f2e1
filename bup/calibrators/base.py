"""What a calibrator is: it adjusts a model's outputs on the validation nodes, not its weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

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
    def of(cls, graph: Graph, split: Split, nodes: np.ndarray) -> Self:
        labels = split.targets(graph.labels[nodes])
        return cls(torch.from_numpy(nodes), torch.from_numpy(labels))


@dataclass(frozen=True, eq=False)
class Outputs:
    """A method's outputs for every node, and their probabilities at other scales of variance.

    A method whose messages have a variance gives ``mean``, ``var`` and the ``link`` that turns them
    into class probabilities; any other method gives ``logits``, whose softmax these are.
    """

    logits: Tensor  # [n, c]
    mean: Tensor | None = None  # [n, c]
    var: Tensor | None = None  # [n, c]
    link: Callable[[Tensor, Tensor], Tensor] | None = None

    def scaled_probs(self, nodes: Tensor | slice, factors: float | Sequence[float]) -> Tensor:
        """Class probabilities [nodes, c] of some nodes with all variances multiplied by a factor.

        Several factors give [factors, nodes, c]. Logits are divided by the factor's square root,
        because their scale is a standard deviation.
        """
        factor: Any = factors
        if not isinstance(factors, float):
            factor = self.logits.new_tensor(factors)[:, None, None]
        if self.link is None or self.mean is None or self.var is None:
            return (self.logits[nodes] / factor**0.5).softmax(-1)
        var = factor * self.var[nodes]
        return self.link(self.mean[nodes].expand_as(var), var)


@dataclass(frozen=True, eq=False)
class CalibrationData:
    """What a calibrator fits on: outputs, labelled validation nodes, their graph and split."""

    outputs: Outputs
    validation: LabelledNodes
    graph: Graph
    split: Split
    seed: int


class Calibrated(NamedTuple):
    """Adjusted class probabilities, and the numbers that were fitted for them."""

    probs: Tensor  # [n, c]
    constants: dict[str, float]
    var_factor: float = 1.0  # what the variances of messages were multiplied by


@dataclass(frozen=True)
class Calibrator:
    """One line in the table of calibrators."""

    name: str
    title: str
    explanation: str
    fit: Callable[[CalibrationData], Calibrated]
    acts_on_messages: bool = False
    """It adjusts the messages, where they have a variance, and what is computed from them."""
    needs_variance: bool = False
    acts_on_probabilities: bool = False  # it is the last of several, or the only one


def label_nll(probs: Tensor, labels: Tensor) -> Tensor:
    """-log p of every label [n]."""
    return -probs.gather(-1, labels[..., None]).squeeze(-1).clamp_min(SMALLEST).log()


def fit_scale(nll: Callable[[float], float]) -> float:
    """The positive number that minimises ``nll``, searched on a logarithmic scale."""
    optimum = optimize.minimize_scalar(
        lambda log_scale: nll(float(np.exp(log_scale))), bounds=(-7, 7), method="bounded"
    )
    return float(np.exp(optimum.x))
