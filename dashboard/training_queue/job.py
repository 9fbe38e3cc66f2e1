"""A run that visitors submitted, and how far its training is."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bup.run.spec import Run, Spec

SHORT = 45.0
"""Seconds, by estimate: shorter runs do not wait for longer ones."""

State = Literal["queued", "running", "done", "failed", "cancelled"]
CURVES = ("loss", "validation_nll", "validation_accuracy")


@dataclass(frozen=True)
class TrainingProgress:
    """How far a training is; the curves have one value per finished epoch."""

    epoch: int = 0  # finished ones
    epochs: int = 0  # at most; 0 until the first is finished
    loss: Sequence[float] = ()
    validation_nll: Sequence[float] = ()
    validation_accuracy: Sequence[float] = ()
    seconds: float = 0.0

    @property
    def share(self) -> float:
        """Share of the epochs that are finished, from 0 to 1."""
        return min(1.0, self.epoch / self.epochs) if self.epochs else 0.0

    @property
    def seconds_left(self) -> float | None:
        """An upper estimate, because training may stop early. None before the first epoch."""
        return self.seconds / self.epoch * (self.epochs - self.epoch) if self.epoch else None

    def extended(self, epochs: list[dict[str, Any]]) -> TrainingProgress:
        """With the reports of further epochs."""
        last = epochs[-1]
        curves = {c: (*getattr(self, c), *(epoch[c] for epoch in epochs)) for c in CURVES}
        return TrainingProgress(last["epoch"], last["epochs"], seconds=last["seconds"], **curves)


@dataclass
class Job:
    """A run that visitors submitted; pages get copies, which do not change."""

    run: Run
    state: State
    ahead: int | None = None  # trainings before this one; None once it has ended
    progress: TrainingProgress = field(default_factory=TrainingProgress)
    error: str | None = None  # one sentence
    seconds: float = 0.0  # that it may take, by estimate
    askers: frozenset[str] = frozenset()  # the visitors who submitted it: they may cancel it
    started: float | None = None  # as time.time()
    finished: float | None = None

    @property
    def spec(self) -> Spec:
        return self.run.spec

    @property
    def active(self) -> bool:
        return self.state in ("queued", "running")

    @property
    def is_short(self) -> bool:
        return self.seconds <= SHORT

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self) | {"run": self.run.as_dict(), "askers": sorted(self.askers)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Job:
        parts: dict[str, Any] = {
            "run": Run.from_dict(values["run"]),
            "progress": TrainingProgress(**values["progress"]),
            "askers": frozenset(values["askers"]),
        }
        return cls(**values | parts)
