"""The queue of runs and the processes that train them, as the server sees them."""

from __future__ import annotations

import atexit
import base64
import contextlib
import dataclasses
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bup import BupError, Graph, Store, make_split
from bup.limits import Limits, limits
from bup.spec import Run
from dashboard.jobs.job import Job, Progress, State

if TYPE_CHECKING:
    from bup.cost import Cost

log = logging.getLogger(__name__)

NICENESS = 10
WATCH = 2.0  # seconds between two looks at who is still here
AWAY = 20.0  # seconds that a visitor may be away, as on a train, before a run stops waiting
GRACE = 2.0  # seconds that a cancelled process has to reach the end of its epoch
KEEP_SECONDS, KEEP_JOBS = 600, 200  # how long ended jobs stay known, and how many


@dataclass(eq=False)
class _Worker:
    """A training process as the manager sees it."""

    process: subprocess.Popen[str]
    ready: bool = False  # torch is imported, runs may come
    run: Run | None = None  # what it trains
    killer: threading.Timer | None = None  # set when what it trains is cancelled
    reader: threading.Thread = field(init=False)

    def send(self, order: Any) -> None:
        # A process that has just died is noticed by its reader.
        with contextlib.suppress(OSError):
            print(json.dumps(order), file=self.process.stdin, flush=True)


class Manager:
    """The jobs of one server process; every method may be called from any thread.

    A visitor is any text that tells one from another. ``is_here`` says whether one is still there:
    a run that nobody waits for any more leaves the queue. ``on_unstored`` is given the results that
    no disk would take.
    """

    def __init__(
        self,
        store: Store | None = None,
        workers: int = 1,
        is_here: Callable[[str], bool] = lambda visitor: True,
        on_unstored: Callable[[Run, bytes, str], None] = lambda run, content, why: None,
    ) -> None:
        self._store = store or Store()
        self._size = workers
        self._is_here, self._on_unstored = is_here, on_unstored
        self._lock = threading.Lock()  # guards all below; methods named _so expect it held
        self._jobs: dict[Run, Job] = {}
        self._queue: list[Run] = []
        self._waiting: dict[Run, dict[str, float]] = {}  # who waits for it, when last seen here
        self._used: dict[str, float] = {}  # seconds of training that each visitor had
        self._workers: list[_Worker] = []
        self._closed = threading.Event()
        atexit.register(self.close)
        threading.Thread(target=self._watch, daemon=True).start()
        with self._lock:
            self._advance()

    def submit(self, run: Run, graph: Graph, visitor: str = "", again: bool = False) -> Job:
        """Ask for a run; the same run asked for again is the same job.

        One that failed or was cancelled stays so until a person asks ``again``. Raises BupError for
        an impossible split, for a run above the server's limits, and for a visitor who has enough
        of them waiting.
        """
        spec = run.spec
        make_split(graph, spec.per_class, spec.validation, spec.test, spec.left_out, spec.seed)
        held = _is_stored(run, graph, self._store)
        cost, command = _cost_and_command(run, graph)
        most = limits()
        with self._lock:
            if self._closed.is_set():
                raise BupError("the server is closing and takes no more runs: start it again")
            job = self._jobs.get(run)
            if job is None or job.state == "done" or (again and not job.active):
                if not held:
                    cost.check(most, command)
                    self._check_share(visitor, cost, most)
                job = Job(run, "queued", seconds=cost.seconds)
                self._jobs[run] = job
                if held:
                    self._end(run, "done")
                else:
                    self._queue.append(run)
            if self._jobs[run].active:
                self._jobs[run] = dataclasses.replace(job, askers=job.askers | {visitor})
                self._waiting.setdefault(run, {})[visitor] = time.monotonic()
                self._advance()
            return self._seen(run)

    def find(self, run: Run, visitor: str | None = None) -> Job | None:
        """A run's job; a visitor who looks waits for it too, and keeps it in the queue."""
        with self._lock:
            if run not in self._jobs:
                return None
            if visitor is not None and self._jobs[run].active:
                self._waiting.setdefault(run, {})[visitor] = time.monotonic()
            return self._seen(run)

    def cancel(self, run: Run, visitor: str = "") -> None:
        """Give up a run that one has asked for; while others wait for it, it goes on for them."""
        with self._lock:
            job = self._jobs.get(run)
            if job is None or not job.active or visitor not in job.askers:
                return
            self._jobs[run] = dataclasses.replace(job, askers=job.askers - {visitor})
            self._waiting.get(run, {}).pop(visitor, None)
            if not self._waiting.get(run):
                self._give_up_run(run)

    def _give_up_run(self, run: Run) -> None:
        """The job counts as cancelled at once.

        Its process is asked to stop after the current epoch, which keeps it warm for the next run,
        and killed if it has not done so in a few seconds.
        """
        if run in self._queue:
            self._queue.remove(run)
        for worker in self._workers:
            if worker.run == run and worker.killer is None:
                worker.killer = threading.Timer(GRACE, self._kill_late, [worker])
                worker.killer.daemon = True
                worker.killer.start()
                worker.send("cancel")
        self._end(run, "cancelled")

    def _watch(self) -> None:
        """A thread: drop what nobody waits for any more."""
        while not self._closed.wait(WATCH):
            with self._lock:
                now = time.monotonic()
                for run in [run for run, job in self._jobs.items() if job.active]:
                    waiting = self._waiting.get(run, {})
                    for visitor in list(waiting):
                        if self._is_here(visitor):
                            waiting[visitor] = now
                        elif now - waiting[visitor] > AWAY:
                            del waiting[visitor]
                    if not waiting:
                        self._give_up_run(run)

    def _check_share(self, visitor: str, cost: Cost, most: Limits) -> None:
        own = [job.seconds for job in self._jobs.values() if job.active and visitor in job.askers]
        if own and sum(own) + cost.seconds > most.visitor_seconds:
            raise BupError(
                f"{len(own)} of your runs are waiting already, for about {sum(own) / 60:.0f} "
                f"minutes of training, and this server lets a visitor have "
                f"{most.visitor_seconds / 60:.0f}: try again when some are done"
            )

    def _order(self, run: Run) -> tuple[float, int]:
        """Whose turn it is: who has had little and asks for little comes first."""
        job = self._jobs[run]
        used = min((self._used.get(visitor, 0.0) for visitor in job.askers), default=0.0)
        return used + job.seconds, self._queue.index(run)

    def close(self) -> None:
        """Cancel everything and end the processes."""
        with self._lock:
            self._closed.set()
            for run in [run for run, job in self._jobs.items() if job.active]:
                self._end(run, "cancelled")
            self._queue.clear()
            workers = list(self._workers)
            for worker in workers:
                worker.run = None
                worker.process.kill()
        for worker in workers:
            worker.reader.join(timeout=5)
        atexit.unregister(self.close)

    def _seen(self, run: Run) -> Job:
        job = self._jobs[run]
        if not job.active:
            return job
        ahead = sorted(self._queue, key=self._order)
        place = ahead.index(run) + 1 if job.state == "queued" else 0
        return dataclasses.replace(job, place=place)

    def _advance(self) -> None:
        """Replace what is missing, give waiting runs to processes that have nothing to do."""
        while len(self._workers) < self._size and not self._closed.is_set():
            try:
                self._workers.append(self._started())
            except OSError as error:
                self._give_up(f"no training process can be started ({error})")
                break
        for worker in self._workers:
            if self._queue and worker.ready and worker.run is None:
                worker.run = run = min(self._queue, key=self._order)
                self._queue.remove(run)
                job = self._jobs[run]
                self._jobs[run] = dataclasses.replace(job, state="running", started=time.time())
                for visitor in job.askers:
                    self._used[visitor] = self._used.get(visitor, 0.0) + job.seconds
                worker.send(run.as_dict())

    def _started(self) -> _Worker:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dashboard.jobs", str(self._store.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            start_new_session=True,  # the terminal's Ctrl-C is for the server
        )
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, min(19, os.nice(0) + NICENESS))
        worker = _Worker(process)
        worker.reader = threading.Thread(target=self._read, args=[worker], daemon=True)
        worker.reader.start()
        return worker

    def _read(self, worker: _Worker) -> None:
        """A thread per process: takes in what it says until it ends."""
        assert worker.process.stdout is not None
        for line in worker.process.stdout:
            if line.endswith("\n"):  # not the last words of one that was killed
                with self._lock:
                    self._take_in(worker, json.loads(line))
        code = worker.process.wait()
        for pipe in (worker.process.stdin, worker.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        with self._lock:
            self._lose(worker, _end_in_words(code))

    def _take_in(self, worker: _Worker, message: dict[str, Any]) -> None:
        if "ready" in message:
            worker.ready = True
        elif "epochs" in message:
            if worker.run is not None and worker.killer is None:
                job = self._jobs[worker.run]
                progress = _continued(job.progress, message["epochs"])
                self._jobs[worker.run] = dataclasses.replace(job, progress=progress)
        else:
            if "unstored" in message and worker.run is not None and worker.killer is None:
                content = base64.b64decode(message["unstored"])
                self._on_unstored(worker.run, content, message["why"])
            self._free(worker, message["end"], message.get("error"))
        self._advance()

    def _lose(self, worker: _Worker, how: str) -> None:
        self._workers.remove(worker)
        self._free(worker, "failed", f"{how}: train again, or ask for a smaller run")
        if worker.ready:
            self._advance()
        else:
            # Another would hardly fare better; the next submit tries again.
            self._give_up(f"{how} before it was ready")

    def _give_up(self, why: str) -> None:
        """Nobody is left to take the waiting runs, or fewer than there should be."""
        if self._closed.is_set():
            return
        log.error(why)
        if not self._workers:
            for run in self._queue:
                self._end(run, "failed", f"{why}: see the server's log, then train again")
            self._queue.clear()

    def _free(self, worker: _Worker, state: State, error: str | None) -> None:
        run, worker.run = worker.run, None
        killer, worker.killer = worker.killer, None
        if killer is not None:  # cancelled: the job has ended already, and may be a new one by now
            killer.cancel()
        elif run is not None:
            self._end(run, state, error)

    def _kill_late(self, worker: _Worker) -> None:
        with self._lock:
            if worker.killer is threading.current_thread():
                worker.process.kill()

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


def _cost_and_command(run: Run, graph: Graph) -> tuple[Cost, str]:
    from bup.cost import cost_of
    from bup.methods import command_line

    return cost_of(run, graph), command_line(run.spec)


def _is_stored(run: Run, graph: Graph, store: Store) -> bool:
    from bup import runs

    return store.path(run).exists() and runs.load(run.spec, graph, store) is not None


def _continued(progress: Progress, epochs: list[dict[str, Any]]) -> Progress:
    return Progress(
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


def _end_in_words(code: int) -> str:
    if code >= 0:
        return f"the training process stopped with exit code {code}"
    memory = ", perhaps for want of memory" if -code == signal.SIGKILL else ""
    return f"the training process was ended by signal {-code}{memory}"
