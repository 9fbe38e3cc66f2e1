"""The queue of runs: who asked, who waits, whose turn it is."""

from __future__ import annotations

import atexit
import base64
import dataclasses
import threading
import time
from collections.abc import Callable
from typing import Any

from bup import BupError, Store
from bup.io.server_limits import server_limits
from bup.jobs.processes import Processes
from bup.jobs.task import Message, Task
from bup.run.spec import Run
from dashboard.network.clients import BROWSERS_PER_ADDRESS, Client
from dashboard.training_queue.job import Job, State, TrainingProgress
from dashboard.training_queue.queue import TrainingQueue

WATCH = 2.0  # seconds between two looks at who is still here
AWAY = 20.0  # seconds that a visitor may be away, as on a train, before a run stops waiting
KEEP_SECONDS, KEEP_JOBS = 600, 200  # how long ended jobs stay known, and how many
HALF = 600.0  # seconds after which the training that one had counts for half
WORKERS = 2  # training processes of a server

OnUnstored = Callable[[Run, bytes, str], None]
"""Takes a result that no disk would, and why."""


class LocalQueue(TrainingQueue):
    """The queue, kept by this process.

    ``is_here`` says whether a visitor is still there: a run that nobody waits for any more leaves
    the queue.
    """

    def __init__(
        self,
        store: Store | None = None,
        workers: int = 1,
        is_here: Callable[[str], bool] = lambda visitor: True,
        on_unstored: OnUnstored = lambda run, content, why: None,
    ) -> None:
        super().__init__(store)
        self._is_here, self._on_unstored = is_here, on_unstored
        self._jobs: dict[Run, Job] = {}
        self._queue: list[Run] = []
        self._waiting: dict[Run, dict[str, float]] = {}  # who waits for it, when last seen here
        self._used: dict[str, float] = {}  # seconds of training that browsers and addresses had
        self._closed = threading.Event()
        self._has_lanes = workers > 1
        self._processes = Processes(self._store, workers)
        self._lock = self._processes.lock  # guards all of these
        self._processes.start(self)
        atexit.register(self.close)
        threading.Thread(target=self._watch, daemon=True).start()

    def enter(self, run: Run, seconds: float, held: bool, visitor: str, again: bool) -> Job:
        with self._lock:
            if self._closed.is_set():
                raise BupError("the server is closing and takes no more runs: start it again")
            job = self._jobs.get(run)
            if job is None or job.state == "done" or (again and not job.active):
                if not held:
                    self._check_share(visitor, seconds)
                job = Job(run, "queued", seconds=seconds)
                self._jobs[run] = job
                if held:
                    self._end(run, "done")
                else:
                    self._queue.append(run)
            if self._jobs[run].active:
                self._jobs[run] = dataclasses.replace(job, askers=job.askers | {visitor})
                self._waiting.setdefault(run, {})[visitor] = time.monotonic()
                self._processes.notify()
            return self._seen(run)

    def find(self, run: Run, visitor: str | None = None) -> Job | None:
        with self._lock:
            if run not in self._jobs:
                return None
            if visitor is not None and self._jobs[run].active:
                self._waiting.setdefault(run, {})[visitor] = time.monotonic()
            return self._seen(run)

    def cancel(self, run: Run, visitor: str = "") -> None:
        with self._lock:
            job = self._jobs.get(run)
            if job is None or not job.active or visitor not in job.askers:
                return
            self._jobs[run] = dataclasses.replace(job, askers=job.askers - {visitor})
            self._waiting.get(run, {}).pop(visitor, None)
            if not self._waiting.get(run):
                self._give_up(run)

    def _give_up(self, run: Run) -> None:
        """The job counts as cancelled at once, whenever its process stops."""
        if run in self._queue:
            self._queue.remove(run)
        self._processes.cancel(Task((run,)))
        self._end(run, "cancelled")

    def _watch(self) -> None:
        """A thread: drop what nobody waits for any more."""
        while not self._closed.wait(WATCH):
            with self._lock:
                now = time.monotonic()
                faded = {who: had * 0.5 ** (WATCH / HALF) for who, had in self._used.items()}
                self._used = {who: had for who, had in faded.items() if had > 1}
                for run in [run for run, job in self._jobs.items() if job.active]:
                    waiting = self._waiting.get(run, {})
                    for visitor in list(waiting):
                        if self._is_here(visitor):
                            waiting[visitor] = now
                        elif now - waiting[visitor] > AWAY:
                            del waiting[visitor]
                    if not waiting:
                        self._give_up(run)

    def _check_share(self, visitor: str, seconds: float) -> None:
        """Refuse what goes beyond the share of a browser, or of all browsers at its address."""
        client, most = Client.read(visitor), server_limits().visitor_seconds
        waiting = [
            (job.seconds, [Client.read(asker) for asker in job.askers])
            for job in self._jobs.values()
            if job.active
        ]
        own = [
            time for time, askers in waiting if client.browser_id in {a.browser_id for a in askers}
        ]
        if own and sum(own) + seconds > most:
            raise BupError(
                f"{len(own)} of your runs are waiting already, for about {sum(own) / 60:.0f} "
                f"minutes of training, and this server lets a visitor have {most / 60:.0f}: try "
                "again when some are done"
            )
        around = [
            time for time, askers in waiting if client.address_id in {a.address_id for a in askers}
        ]
        if around and sum(around) + seconds > BROWSERS_PER_ADDRESS * most:
            raise BupError(
                f"{len(around)} runs from your network are waiting already, for about "
                f"{sum(around) / 60:.0f} minutes of training, and this server lets a network have "
                f"{BROWSERS_PER_ADDRESS * most / 60:.0f}: try again when some are done"
            )

    def _order(self, run: Run) -> tuple[float, int]:
        """Whose turn it is: who has had little and asks for little comes first."""
        job = self._jobs[run]
        askers = map(Client.read, job.askers)
        used = self._used
        had = min(
            (used.get(a.browser_id, 0.0) + used.get(a.address_id, 0.0) for a in askers), default=0.0
        )
        return had + job.seconds, self._queue.index(run)

    def close(self) -> None:
        """Cancel everything and end the processes."""
        with self._lock:
            self._closed.set()
        self._processes.close()
        with self._lock:
            for run in [run for run, job in self._jobs.items() if job.active]:
                self._end(run, "cancelled")
            self._queue.clear()
        atexit.unregister(self.close)

    def _seen(self, run: Run) -> Job:
        job = self._jobs[run]
        if not job.active:
            return job
        if job.state == "running":
            return dataclasses.replace(job, ahead=0)
        lane = [other for other in self._jobs.values() if self._lane(other) == self._lane(job)]
        running = sum(other.state == "running" for other in lane)
        waiting = sorted((o.run for o in lane if o.state == "queued"), key=self._order)
        return dataclasses.replace(job, ahead=running + waiting.index(run))

    def _lane(self, job: Job) -> bool:
        """Short runs do not wait for long ones, where there is a process for either.

        In each lane one trains at a time: more would take from the pages what they need.
        """
        return self._has_lanes and job.is_short

    def next_task(self) -> Task | None:
        """The next task of a process that has nothing to do."""
        taken = {self._lane(job) for job in self._jobs.values() if job.state == "running"}
        ready = [run for run in self._queue if self._lane(self._jobs[run]) not in taken]
        if not ready:
            return None
        run = min(ready, key=self._order)
        self._queue.remove(run)
        job = self._jobs[run]
        self._jobs[run] = dataclasses.replace(job, state="running", started=time.time())
        askers = list(map(Client.read, job.askers))
        for who in {a.browser_id for a in askers} | {a.address_id for a in askers}:
            self._used[who] = self._used.get(who, 0.0) + job.seconds
        return Task((run,))

    def on_message(self, task: Task, message: Message) -> None:
        """What a process says of its task."""
        (run,) = task.runs
        if "epochs" in message:
            job = self._jobs[run]
            progress = _continued(job.progress, message["epochs"])
            self._jobs[run] = dataclasses.replace(job, progress=progress)
        elif message["end"] == "died":
            # Not tried again unasked: what brought one process down would bring down the next.
            error = f"{message['error']}: train again, or ask for a smaller run"
            self._end(run, "failed", error)
        else:
            for content in message.get("unstored", ()):
                self._on_unstored(run, base64.b64decode(content), message["why"])
            self._end(run, message["end"], message.get("error"))

    def on_no_workers(self, why: str) -> None:
        """Nobody is left to take the waiting runs."""
        for run in self._queue:
            self._end(run, "failed", f"{why}: see the server's log, then train again")
        self._queue.clear()

    def _end(self, run: Run, state: State, error: str | None = None) -> None:
        job = self._jobs[run]
        self._jobs[run] = dataclasses.replace(job, state=state, error=error, finished=time.time())
        self._waiting.pop(run, None)
        self._forget()

    def _forget(self) -> None:
        ended = [job for job in self._jobs.values() if not job.active]
        ended.sort(key=lambda job: job.finished or 0, reverse=True)
        oldest = time.time() - KEEP_SECONDS
        for rank, job in enumerate(ended):
            # What failed is told to whoever asks for it later, too.
            if rank >= KEEP_JOBS or (job.state != "failed" and (job.finished or 0) < oldest):
                del self._jobs[job.run]


def _continued(progress: TrainingProgress, epochs: list[dict[str, Any]]) -> TrainingProgress:
    return TrainingProgress(
        epoch=epochs[-1]["epoch"],
        epochs=epochs[-1]["epochs"],
        losses=(*progress.losses, *(e["loss"] for e in epochs)),
        validation_nll=(*progress.validation_nll, *(e["validation_nll"] for e in epochs)),
        validation_accuracy=(
            *progress.validation_accuracy,
            *(e["validation_accuracy"] for e in epochs),
        ),
        seconds=epochs[-1]["seconds"],
    )
