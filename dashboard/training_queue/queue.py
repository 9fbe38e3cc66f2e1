"""The queue of runs to train as pages see it, in whatever process it is."""

from abc import ABC, abstractmethod

from bup import Graph, Store
from bup.io.limits import server_limits
from bup.run.spec import Run
from bup.run.splits import split_of
from dashboard.training_queue.job import Job


class TrainingQueue(ABC):
    """Thread-safe. A visitor is the text of a ``Client``."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store or Store()

    def submit(self, run: Run, graph: Graph, visitor: str = "", again: bool = False) -> Job:
        """Submit a run, which is done if it is stored; the same run of several visitors is one job.

        A run that failed or was cancelled is trained ``again`` only if that is set. Raises BupError
        for an impossible split, for a run above the server's limits, and for a visitor who has
        enough runs waiting.
        """
        # These import torch, which the process that only has the queue does without.
        from bup.methods import command_line
        from bup.training import fitting
        from bup.training.cost import cost_of

        split_of(graph, run.spec)
        if fitting.load(run.spec, graph, self._store) is not None:
            return Job(run, "done")
        cost = cost_of(run, graph)
        cost.check(server_limits(), command_line(run.spec))
        return self.enter(run, cost.seconds, visitor, again)

    @abstractmethod
    def enter(self, run: Run, seconds: float, visitor: str, again: bool) -> Job:
        """The job of a run that may be trained and is not stored."""

    @abstractmethod
    def find(self, run: Run, visitor: str | None = None) -> Job | None:
        """A run's job; a visitor who looks at it waits for it too, and keeps it in the queue."""

    @abstractmethod
    def cancel(self, run: Run, visitor: str = "") -> None:
        """Cancel a run for a visitor who submitted it; it goes on while other visitors wait."""
