"""What is trained together, who hands it out, and where it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from bup.run.spec import Run

Message = dict[str, Any]
"""What a place says of a task, see ``worker``: ``epochs``, or how it ended."""


@dataclass(frozen=True)
class Task:
    """Runs of one graph that differ in their seed only."""

    runs: tuple[Run, ...]
    deaths: int = 0  # processes that died while it was in their hands


class Owner(Protocol):
    """Who has runs to train. A place calls these from threads of its own, one at a time."""

    def take(self) -> Task | None:
        """What is to be trained next."""

    def hear(self, task: Task, message: Message) -> None:
        """A task's progress, or its end: ``done``, ``failed`` (it said why) or ``died``."""

    def stranded(self, why: str) -> None:
        """No process is left to train anything, and none can be started."""


class Place(Protocol):
    """Where tasks are trained."""

    def work_for(self, owner: Owner) -> None:
        """Take tasks from this owner from now on."""

    def wake(self) -> None:
        """There may be something to take."""
