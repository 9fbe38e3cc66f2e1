"""The queue of runs: which visitors wait for a run, and which run is trained next."""

import atexit
import base64
import dataclasses
import threading
import time
from collections.abc import Callable

from bup import BupError, Store
from bup.io.limits import server_limits
from bup.jobs.processes import Processes
from bup.jobs.task import Message, Task
from bup.run.spec import Run
from dashboard.network.clients import BROWSERS_PER_ADDRESS, Client
from dashboard.training_queue.job import Job, State
from dashboard.training_queue.queue import TrainingQueue

WATCH = 2.0  # seconds between two checks of which visitors are still here
AWAY = 20.0  # seconds without a connection after which a visitor's runs leave the queue
KEEP_SECONDS, KEEP_JOBS = 600, 200  # for how long ended jobs are remembered, and how many
HALF = 600.0  # seconds after which a visitor's past training counts for half
WORKERS = 2  # training processes of a server

OnUnstored = Callable[[Run, bytes, str], None]
"""Takes a packed result that could not be written to disk, and why."""


class LocalQueue(TrainingQueue):
    """The queue of this process.

    ``is_here`` says whether a visitor still has a page open: a run that no visitor waits for leaves
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
        self._jobs: dict[Run, Job] = {}  # in the order in which they were submitted
        self._waiting: dict[Run, dict[str, float]] = {}  # visitors, and when each was last here
        self._used: dict[str, float] = {}  # seconds of training that browsers and addresses had
        self._closed = threading.Event()
        self._has_lanes = workers > 1
        self._processes = Processes(self._store, workers)
        self._lock = self._processes.lock  # guards all of these
        self._processes.start(self)
        atexit.register(self.close)
        threading.Thread(target=self._watch, daemon=True).start()

    def enter(self, run: Run, seconds: float, visitor: str, again: bool) -> Job:
        with self._lock:
            if self._closed.is_set():
                raise BupError("the server is closing and takes no more runs: start it again")
            job = self._jobs.get(run)
            if job is None or job.state == "done" or (again and not job.active):
                self._check_share(visitor, seconds)
                self._jobs.pop(run, None)
                job = self._jobs[run] = Job(run, "queued", seconds=seconds)
            if job.active:
                job.askers |= {visitor}
                self._waiting.setdefault(run, {})[visitor] = time.monotonic()
                self._processes.notify()
            return self._snapshot(job)

    def find(self, run: Run, visitor: str | None = None) -> Job | None:
        with self._lock:
            job = self._jobs.get(run)
            if job is None:
                return None
            if visitor is not None and job.active:
                self._waiting.setdefault(run, {})[visitor] = time.monotonic()
            return self._snapshot(job)

    def cancel(self, run: Run, visitor: str = "") -> None:
        with self._lock:
            job = self._jobs.get(run)
            if job is None or not job.active or visitor not in job.askers:
                return
            job.askers -= {visitor}
            self._waiting.get(run, {}).pop(visitor, None)
            if not self._waiting.get(run):
                self._give_up(job)

    def close(self) -> None:
        """Cancel everything and end the processes."""
        with self._lock:
            self._closed.set()
        self._processes.close()
        with self._lock:
            for job in self._active():
                self._end(job, "cancelled")
        atexit.unregister(self.close)

    def next_task(self) -> Task | None:
        """The next task for a process that has nothing to do."""
        taken = {self._lane(job) for job in self._jobs.values() if job.state == "running"}
        ready = [job for job in self._queued() if self._lane(job) not in taken]
        if not ready:
            return None
        job = ready[0]
        job.state, job.started = "running", time.time()
        askers = list(map(Client.read, job.askers))
        for who in {a.browser_id for a in askers} | {a.address_id for a in askers}:
            self._used[who] = self._used.get(who, 0.0) + job.seconds
        return Task((job.run,))

    def on_message(self, task: Task, message: Message) -> None:
        """Take in the progress of a task, or its end."""
        (run,) = task.runs
        job = self._jobs[run]
        if "epochs" in message:
            job.progress = job.progress.extended(message["epochs"])
        elif message["end"] == "died":
            # Not tried again by itself: what ended one process would end the next.
            error = f"{message['error']}: train again, or ask for a smaller run"
            self._end(job, "failed", error)
        else:
            for content in message.get("unstored", ()):
                self._on_unstored(run, base64.b64decode(content), message["why"])
            self._end(job, message["end"], message.get("error"))

    def on_no_workers(self, why: str) -> None:
        """Fail what is queued: no process is left to train it."""
        for job in self._queued():
            self._end(job, "failed", f"{why}: see the server's log, then train again")

    def _active(self) -> list[Job]:
        return [job for job in self._jobs.values() if job.active]

    def _queued(self) -> list[Job]:
        """Jobs in their turn: short ones of visitors who had little training come first."""

        def cost(job: Job) -> float:
            askers, used = map(Client.read, job.askers), self._used
            had = (used.get(a.browser_id, 0.0) + used.get(a.address_id, 0.0) for a in askers)
            return min(had, default=0.0) + job.seconds

        return sorted((job for job in self._jobs.values() if job.state == "queued"), key=cost)

    def _lane(self, job: Job) -> bool:
        """Short runs do not wait for long ones, where there is a process for either.

        In each lane one trains at a time: more would slow down the pages.
        """
        return self._has_lanes and job.is_short

    def _snapshot(self, job: Job) -> Job:
        """A copy that does not change any more, with the number of trainings before it."""
        ahead = None
        if job.state == "running":
            ahead = 0
        elif job.state == "queued":
            lane = self._lane(job)
            running = [o for o in self._active() if o.state == "running" and self._lane(o) == lane]
            queued = [other.run for other in self._queued() if self._lane(other) == lane]
            ahead = len(running) + queued.index(job.run)
        return dataclasses.replace(job, ahead=ahead)

    def _watch(self) -> None:
        """In a thread: drop the runs that no visitor waits for."""
        while not self._closed.wait(WATCH):
            with self._lock:
                now = time.monotonic()
                faded = {who: had * 0.5 ** (WATCH / HALF) for who, had in self._used.items()}
                self._used = {who: had for who, had in faded.items() if had > 1}
                for job in self._active():
                    waiting = self._waiting.get(job.run, {})
                    for visitor in list(waiting):
                        if self._is_here(visitor):
                            waiting[visitor] = now
                        elif now - waiting[visitor] > AWAY:
                            del waiting[visitor]
                    if not waiting:
                        self._give_up(job)

    def _check_share(self, visitor: str, seconds: float) -> None:
        """Refuse what goes beyond the share of a browser, or of all browsers at its address."""
        client, most = Client.read(visitor), server_limits().visitor_seconds
        for share, runs, whose, limit in (
            ("browser_id", "of your runs", "a visitor", most),
            ("address_id", "runs from your network", "a network", BROWSERS_PER_ADDRESS * most),
        ):
            mine = getattr(client, share)
            waiting = [
                job.seconds
                for job in self._active()
                if any(getattr(Client.read(asker), share) == mine for asker in job.askers)
            ]
            if waiting and sum(waiting) + seconds > limit:
                raise BupError(
                    f"{len(waiting)} {runs} are waiting already, for about {sum(waiting) / 60:.0f} "
                    f"minutes of training, and this server lets {whose} have {limit / 60:.0f}: try "
                    "again when some are done"
                )

    def _give_up(self, job: Job) -> None:
        """The job counts as cancelled at once, whenever its process stops."""
        self._processes.cancel(Task((job.run,)))
        self._end(job, "cancelled")

    def _end(self, job: Job, state: State, error: str | None = None) -> None:
        job.state, job.error, job.finished = state, error, time.time()
        self._waiting.pop(job.run, None)
        self._forget()

    def _forget(self) -> None:
        """Drop old jobs that have ended; a failure is remembered longer, for visitors to see."""
        ended = [job for job in self._jobs.values() if not job.active]
        ended.sort(key=lambda job: job.finished or 0, reverse=True)
        oldest = time.time() - KEEP_SECONDS
        for rank, job in enumerate(ended):
            if rank >= KEEP_JOBS or (job.state != "failed" and (job.finished or 0) < oldest):
                del self._jobs[job.run]
