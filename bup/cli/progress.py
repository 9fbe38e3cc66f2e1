"""Progress of a training or a sweep."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TimeRemainingColumn

import bup


class _Bar(Progress):
    """A live progress bar on stderr; silent if stderr is no terminal."""

    def __init__(self, *columns: str | ProgressColumn, total: int | None = None) -> None:
        quiet = not sys.stderr.isatty()
        super().__init__(*columns, console=Console(stderr=True), transient=True, disable=quiet)
        self.task = self.add_task("starting", total=total)


class TrainingBar(_Bar):
    """The epochs of one training."""

    def __init__(self) -> None:
        columns = "epoch {task.completed}/{task.total}", BarColumn(), TimeRemainingColumn()
        super().__init__(*columns, "{task.description}")

    def show(self, progress: bup.Progress) -> None:
        self.update(
            self.task,
            completed=progress.epoch,
            total=progress.epochs,
            description=f"loss {progress.loss:.3f}, validation NLL {progress.validation_nll:.3f}, "
            f"accuracy {progress.validation_accuracy:.1%}",
        )


class SweepBar(_Bar):
    """How many runs are done and how long the rest will take: a bar, or lines for a log.

    ``costs`` are the seconds that each run is expected to take; runs that have ended correct them.
    """

    def __init__(self, costs: Mapping[bup.Spec, float]) -> None:
        self.costs, self.left, self.started = costs, sum(costs.values()), time.monotonic()
        self.total, self.done, self.whole = len(costs), 0, self.left
        columns = "run {task.completed}/{task.total}", BarColumn(), "{task.description}"
        super().__init__(*columns, total=self.total)

    def show(self, specs: Sequence[bup.Spec]) -> None:
        self.done += len(specs)
        self.left = max(self.left - sum(self.costs[spec] for spec in specs), 0.0)
        spent = time.monotonic() - self.started
        left = duration(spent / (self.whole - self.left) * self.left)
        words = in_words(specs[0], (spec.seed for spec in specs))
        self.update(self.task, completed=self.done, description=f"{left} left, last: {words}")
        if self.disable:
            text = f"{self.done} of {self.total} runs, about {left} left: {words}"
            print(text, file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """A time in words: 42 s, 25 min, 3 h 5 min."""
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{max(1, round(seconds))} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def in_words(cell: bup.Spec, seeds: Iterable[int]) -> str:
    from bup import methods

    left = f", without {','.join(map(str, cell.left_out))}" if cell.left_out else ""
    return (
        f"{cell.graph} {methods.describe_run(cell)}, {cell.labels_in_words}{left}, "
        f"seeds {','.join(map(str, sorted(seeds)))}"
    )
