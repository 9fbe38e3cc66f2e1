"""Shared code of the calibrators that are small networks with a factor for every node."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from bup.calibrators.base import Calibrated, CalibrationData, LabelledNodes
from bup.engine.adam import Adam
from bup.io.lazy import Generator, Tensor, torch

MOST_STEPS, PATIENCE = 2000, 100

Factors = Callable[[Sequence[Tensor], Generator | None], Tensor]


def fit_factors(
    data: CalibrationData,
    weights: list[Tensor],
    factors: Factors,
    loss: Callable[[Tensor, Tensor], Tensor],
    generator: torch.Generator | None = None,
) -> list[Tensor]:
    """The best weights: learned on the validation nodes, stopped by the training nodes."""
    logits, validation = data.outputs.logits, data.validation
    train = LabelledNodes.of(data.graph, data.split, data.split.train)
    for tensor in weights:
        tensor.requires_grad_(True)
    optimiser = Adam(weights, learning_rate=0.01, weight_decay=5e-3)
    best, best_loss, waited = weights, math.inf, 0
    for _ in range(MOST_STEPS):
        optimiser.zero_grad()
        stretched = logits * factors(weights, generator)
        loss(stretched[validation.nodes], validation.labels).backward()
        optimiser.step()
        with torch.no_grad():
            value = loss((logits * factors(weights, None))[train.nodes], train.labels).item()
        waited += 1
        if value < best_loss:
            best, best_loss, waited = [w.detach().clone() for w in weights], value, 0
        if waited >= PATIENCE:
            break
    return best


def scale_logits(logits: Tensor, factors: Tensor) -> Calibrated:
    """Outputs times a factor per node."""
    constants = {"mean_temperature": (1 / factors).mean().item()}
    return Calibrated((logits * factors).softmax(-1), constants)
