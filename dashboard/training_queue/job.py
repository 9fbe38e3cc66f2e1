"""A run that somebody asked for, and where its training stands."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from bup.run.spec import Run, Spec

SHORT = 45.0
"""Seconds, by estimate: shorter runs do not wait for longer ones."""

State = Literal["queued", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True)
class TrainingProgress:
    """Where training stands; the curves have one figure per finished epoch."""

    epoch: int = 0  # finished ones
    epochs: int = 0  # at most; 0 until the first is finished
    losses: tuple[float, ...] = ()
    validation_nll: tuple[float, ...] = ()
    validation_accuracy: tuple[float, ...] = ()
    seconds: float = 0.0

    @property
    def share(self) -> float:
        """Of the way, from 0 to 1."""
        return min(1.0, self.epoch / self.epochs) if self.epochs else 0.0

    @property
    def seconds_left(self) -> float | None:
        """An upper estimate: a run that improves no more ends earlier. None before an epoch."""
        return self.seconds / self.epoch * (self.epochs - self.epoch) if self.epoch else None


@dataclass(frozen=True)
class Job:
    """A run that somebody asked for, as it was at the moment of looking."""

    run: Run
    state: State
    ahead: int | None = None  # trainings before this one; None once it has ended
    progress: TrainingProgress = TrainingProgress()
    error: str | None = None  # one sentence
    seconds: float = 0.0  # that it may take, by estimate
    askers: frozenset[str] = frozenset()  # the visitors who asked for it: they may cancel it
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
        plain = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return plain | {
            "run": self.run.as_dict(),
            "progress": dataclasses.asdict(self.progress),
            "askers": sorted(self.askers),
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Job:
        progress: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in plain["progress"].items()
        }
        told = {
            "run": Run.from_dict(plain["run"]),
            "progress": TrainingProgress(**progress),
            "askers": frozenset(plain["askers"]),
        }
        return cls(**(plain | told))
