"""How losses depend on a message's uncertainty: one class is ahead, the others are equal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bup import likelihood

LOSSES = {
    "cross-entropy": "Cross-entropy",
    "erf": "Erf product (the paper's shortcut)",
    "exact": "Exact likelihood",
}


@dataclass(frozen=True)
class LossPoint:
    """A loss and its slopes."""

    loss: float
    by_margin: float
    by_std: float

    @property
    def probability(self) -> float:
        """The probability of the true class that corresponds to the loss."""
        return float(np.exp(-self.loss))


def loss(margin: Tensor, std: Tensor, classes: int, rule: str) -> Tensor:
    """Loss [n] of messages whose true class is ``margin`` [n] above all others, all of one ``std``.

    Cross-entropy treats the means as logits and ignores ``std``.
    """
    mean = torch.cat([margin[:, None], margin.new_zeros(len(margin), classes - 1)], 1)
    labels = torch.zeros(len(margin), dtype=torch.long)
    if rule == "cross-entropy":
        return cross_entropy(mean, labels, reduction="none")
    var = (std**2)[:, None].expand_as(mean)
    return -likelihood.log_likelihood(mean, var, labels, rule=rule, check=False)


def point(margin: float, std: float, classes: int, rule: str) -> LossPoint:
    at = torch.tensor([margin, std], dtype=torch.float64, requires_grad=True)
    value = loss(at[:1], at[1:], classes, rule).sum()
    value.backward()
    assert at.grad is not None
    return LossPoint(value.item(), *at.grad.tolist())


def surface(margins: np.ndarray, stds: np.ndarray, classes: int, rule: str) -> np.ndarray:
    """Loss [stds, margins]."""
    x, y = np.meshgrid(margins, stds)
    rows = torch.from_numpy(x.ravel()), torch.from_numpy(y.ravel())
    with torch.no_grad():
        return loss(*rows, classes, rule).numpy().reshape(x.shape)
