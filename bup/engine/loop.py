"""One full-batch loop for every network, training several seeds side by side.

Every parameter has a leading dimension: one slice per seed. Seeds share nothing but the time spent
on calling kernels, so a seed's result does not depend on its company.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bup.engine.adam import Adam
from bup.errors import BupError
from bup.io.lazy import Tensor, torch
from bup.io.memory import keep_freed_memory


class Cancelled(Exception):
    """Raised by a progress callback to stop training between two epochs.

    Examples
    --------
    >>> import bup
    >>> def stop(progress):
    ...     raise bup.Cancelled
    >>> try:
    ...     bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, on_epoch=stop)
    ... except bup.Cancelled:
    ...     print("stopped")
    stopped
    """


@dataclass(frozen=True)
class Progress:
    """Where training stands after an epoch; numbers are means over the seeds still training.

    Parameters
    ----------
    epoch : int
        The epoch, counting from 1.
    epochs : int
        Epochs at most.
    loss, validation_nll, validation_accuracy : float
        The training loss, and the two measures on the validation nodes.
    seconds : float
        Time since the start.

    Examples
    --------
    >>> import bup
    >>> epochs = []
    >>> options = {"per_class": 5, "epochs": 3, "on_epoch": lambda p: epochs.append(p.epoch)}
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", "gcn", **options)
    >>> epochs
    [1, 2, 3]
    """

    epoch: int
    epochs: int
    loss: float
    validation_nll: float
    validation_accuracy: float
    seconds: float


OnEpoch = Callable[[Progress], None]
Parameters = dict[str, Tensor]  # each [seeds, ...]
CURVES = ("loss", "validation_nll", "validation_accuracy")
"""What is measured in every epoch."""


class Network(Protocol):
    """A model as the training loop uses it, for one or several seeds at once."""

    parameters: Parameters
    decayed: tuple[str, ...]  # the parameters that weight decay pulls to zero

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        """Loss [seeds], dropout included; differentiable in the parameters."""

    def validation(self) -> tuple[Tensor, Tensor]:
        """Mean negative log-likelihood [seeds] and accuracy [seeds] on the validation nodes."""


@dataclass(frozen=True)
class Schedule:
    """How long to train and which epoch to keep."""

    epochs: int
    patience: int
    learning_rate: float
    weight_decay: float
    keep: str = "best"  # "best" validation NLL, or "last" with the original GCN's stopping rule


@dataclass(frozen=True)
class Trained:
    """What training gives for one seed."""

    parameters: Parameters  # with a leading dimension of 1; those of the kept epoch, and buffers
    history: dict[str, list[float]]  # loss, validation_nll, validation_accuracy per epoch
    kept_epoch: int  # counting from 1


def train(
    network: Network,
    schedule: Schedule,
    generators: Sequence[torch.Generator],
    on_epoch: OnEpoch | None = None,
    buffers: Callable[[], Parameters] = dict,
) -> list[Trained]:
    """Train every seed until it stops improving; see ``Schedule.keep``.

    A seed whose loss is no longer a finite number ends there, with the epochs before. ``buffers``
    are tensors that the network changes otherwise: they are stored with the parameters.
    """
    keep_freed_memory()
    start = time.perf_counter()
    seeds = len(generators)
    parameters = network.parameters
    for tensor in parameters.values():
        tensor.requires_grad_(True)
    decayed = [parameters[name] for name in network.decayed]
    others = [tensor for name, tensor in parameters.items() if name not in network.decayed]
    optimisers = [
        Adam(group, schedule.learning_rate, decay, fused=True)
        for group, decay in ((decayed, schedule.weight_decay), (others, 0.0))
    ]
    best_parameters = {
        name: tensor.detach().clone() for name, tensor in (parameters | buffers()).items()
    }
    histories: list[list[tuple[float, float, float]]] = [[] for _ in range(seeds)]
    best = [(np.inf, 0)] * seeds
    training = set(range(seeds))

    for epoch in range(1, schedule.epochs + 1):
        for optimiser in optimisers:
            optimiser.zero_grad()
        losses = network.training_loss(generators)
        losses.sum().backward()
        for optimiser in optimisers:
            optimiser.step()
        with torch.no_grad():
            columns = losses, *network.validation()
        numbers = list(zip(*(column.tolist() for column in columns), strict=True))
        for s in sorted(training):
            if not np.isfinite(numbers[s]).all():  # diverged: later epochs would be no better
                training.discard(s)
                continue
            histories[s].append(numbers[s])
            if schedule.keep == "last" or numbers[s][1] < best[s][0]:
                best[s] = (numbers[s][1], epoch)
            if _should_stop(schedule, [h[1] for h in histories[s]], best[s][1]):
                training.discard(s)
        improved = [s for s in range(seeds) if best[s][1] == epoch]
        _copy_seeds(parameters | buffers(), best_parameters, improved)
        if not all(histories):
            raise BupError(
                "training diverged in its first epoch: try a smaller learning rate than "
                f"{schedule.learning_rate:g}"
            )
        if on_epoch is not None:
            loss, nll, accuracy = np.mean([h[-1] for h in histories], axis=0).tolist()
            seconds = time.perf_counter() - start
            on_epoch(Progress(epoch, schedule.epochs, loss, nll, accuracy, seconds))
        if not training:
            break
    return [
        Trained(
            parameters={name: best_parameters[name][s : s + 1] for name in best_parameters},
            history=dict(zip(CURVES, map(list, zip(*h, strict=True)), strict=True)),
            kept_epoch=best[s][1],
        )
        for s, h in enumerate(histories)
    ]


def _copy_seeds(source: Parameters, target: Parameters, which: list[int]) -> None:
    for name, tensor in source.items():
        if len(which) == len(tensor):
            target[name].copy_(tensor.detach())
        else:
            for s in which:
                target[name][s] = tensor.detach()[s]


def _should_stop(schedule: Schedule, validation_nll: list[float], kept_epoch: int) -> bool:
    epoch = len(validation_nll)
    if schedule.keep == "last":
        window = validation_nll[-(schedule.patience + 1) : -1]
        return epoch > schedule.patience and validation_nll[-1] > float(np.mean(window))
    return epoch - kept_epoch >= schedule.patience
