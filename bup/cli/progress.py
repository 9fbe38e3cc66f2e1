"""How far a training or a sweep has come."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

import bup


class TrainingBar:
    """A live progress bar on stderr; silent where nobody watches."""

    def __init__(self) -> None:
        self.bar = Progress(
            TextColumn("epoch {task.completed}/{task.total}"),
            BarColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )

    def __enter__(self) -> TrainingBar:
        self.bar.start()
        self.task = self.bar.add_task("starting", total=None)
        return self

    def update(self, progress: bup.Progress) -> None:
        self.bar.update(
            self.task,
            completed=progress.epoch,
            total=progress.epochs,
            description=f"loss {progress.loss:.3f}, validation NLL {progress.validation_nll:.3f}, "
            f"accuracy {progress.validation_accuracy:.1%}",
        )

    def __exit__(self, *_: object) -> None:
        self.bar.stop()


class SweepBar:
    """How many runs are done and how long the rest will take: a bar, or lines for a log."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.start = total, 0, time.monotonic()
        self.bar = Progress(
            TextColumn("run {task.completed}/{task.total}"),
            BarColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            transient=True,
            speed_estimate_period=600,  # tasks take from seconds to minutes
            disable=not sys.stderr.isatty(),
        )

    def __enter__(self) -> SweepBar:
        self.bar.start()
        self.task = self.bar.add_task("starting", total=self.total)
        return self

    def settled(self, specs: Sequence[bup.Spec]) -> None:
        self.done += len(specs)
        words = in_words(specs[0], (spec.seed for spec in specs))
        self.bar.update(self.task, completed=self.done, description=f"last: {words}")
        if self.bar.disable:
            left = (time.monotonic() - self.start) / self.done * (self.total - self.done)
            print(
                f"{self.done} of {self.total} runs, about {left:.0f} s left: {words}",
                file=sys.stderr,
                flush=True,
            )

    def __exit__(self, *_: object) -> None:
        self.bar.stop()


def in_words(cell: bup.Spec, seeds: Iterable[int]) -> str:
    from bup import methods

    left = f", without {','.join(map(str, cell.left_out))}" if cell.left_out else ""
    return (
        f"{cell.graph} {methods.in_words(cell)}, {cell.labels_in_words}{left}, "
        f"seeds {','.join(map(str, sorted(seeds)))}"
    )
