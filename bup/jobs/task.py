"""A task, the owner that hands it out, and the executor that trains it."""

from dataclasses import dataclass
from typing import Any, Protocol

from bup.run.spec import Run

Message = dict[str, Any]
"""Progress or outcome of a task, see ``bup.jobs.worker``."""


@dataclass(frozen=True)
class Task:
    """Runs of one graph that differ in their seed only; one process trains them side by side."""

    runs: tuple[Run, ...]
    deaths: int = 0  # processes that died while they trained it


class TaskOwner(Protocol):
    """Has runs to train. An executor calls it from threads of its own, one call at a time."""

    def next_task(self) -> Task | None:
        """The task to train next; None if there is none."""

    def on_message(self, task: Task, message: Message) -> None:
        """A task's progress, or its end: ``done``, ``failed`` (with a reason) or ``died``."""

    def on_no_workers(self, why: str) -> None:
        """No process is left to train anything, and none can be started."""


class Executor(Protocol):
    def start(self, owner: TaskOwner) -> None:
        """Take tasks from this owner from now on."""

    def notify(self) -> None:
        """The owner may have a new task."""
