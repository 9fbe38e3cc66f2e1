"""The queue as pages see it, whoever keeps it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from bup import Graph, Store
from bup.io.server_limits import server_limits
from bup.run.spec import Run
from bup.run.splits import split_of
from dashboard.training_queue.job import Job


class TrainingQueue(ABC):
    """May be asked from any thread. A visitor is the text of a ``Client``."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store or Store()

    def submit(self, run: Run, graph: Graph, visitor: str = "", again: bool = False) -> Job:
        """Ask for a run; the same run asked for again is the same job.

        One that failed or was cancelled stays so until a person asks ``again``. Raises BupError for
        an impossible split, for a run above the server's limits, and for a visitor who has enough
        of them waiting.
        """
        # Needs torch, which whoever keeps the queue can do without.
        from bup.methods import command_line
        from bup.training import fitting
        from bup.training.cost import cost_of

        spec = run.spec
        split_of(graph, spec)
        stored = self._store.path(run).exists()
        held = stored and fitting.load(spec, graph, self._store) is not None
        cost = cost_of(run, graph)
        if not held:
            cost.check(server_limits(), command_line(spec))
        return self.enter(run, cost.seconds, held, visitor, again)

    @abstractmethod
    def enter(self, run: Run, seconds: float, held: bool, visitor: str, again: bool) -> Job:
        """The job of a run that may be trained; ``held`` says that the store has it."""

    @abstractmethod
    def find(self, run: Run, visitor: str | None = None) -> Job | None:
        """A run's job; a visitor who looks waits for it too, and keeps it in the queue."""

    @abstractmethod
    def cancel(self, run: Run, visitor: str = "") -> None:
        """Give up a run that one has asked for; while others wait for it, it goes on for them."""
