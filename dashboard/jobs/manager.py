"""The queue of runs and the processes that train them, as the server sees them."""

from __future__ import annotations

import atexit
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
from dataclasses import dataclass, field
from typing import Any

from bup import BupError, Graph, Store, make_split
from bup.spec import Run
from dashboard.jobs.job import Job, Progress, State

log = logging.getLogger(__name__)

NICENESS = 10
GRACE = 2.0  # seconds that a cancelled process has to reach the end of its epoch
KEEP_SECONDS, KEEP_JOBS = 600, 100  # how long ended jobs stay known, and how many


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
    """The jobs of one server process; every method may be called from any thread."""

    def __init__(self, store: Store | None = None, workers: int = 1, queue_limit: int = 50) -> None:
        self._store = store or Store()
        self._size = workers
        self._queue_limit = queue_limit
        self._lock = threading.Lock()  # guards all below; methods named _so expect it held
        self._jobs: dict[Run, Job] = {}
        self._queue: list[Run] = []
        self._workers: list[_Worker] = []
        self._closed = False
        atexit.register(self.close)
        with self._lock:
            self._advance()

    def submit(self, run: Run, graph: Graph) -> Job:
        """Ask for a run; the same run asked for again is the same job.

        Raises BupError for an impossible split and for a full queue.
        """
        spec = run.spec
        make_split(graph, spec.per_class, spec.validation, spec.test, spec.left_out, spec.seed)
        if (job := self.find(run)) is not None and job.active:
            return job
        held = _is_stored(run, graph, self._store)
        with self._lock:
            if self._closed:
                raise BupError("the server is closing and takes no more runs: start it again")
            if run not in self._jobs or not self._jobs[run].active:
                if len(self._queue) >= self._queue_limit and not held:
                    raise BupError(
                        f"{len(self._queue)} runs are waiting already, no more fit in the queue: "
                        "try again when some are done"
                    )
                self._jobs[run] = Job(run, "queued")
                if held:
                    self._end(run, "done")
                else:
                    self._queue.append(run)
                    self._advance()
            return self._seen(run)

    def find(self, run: Run) -> Job | None:
        with self._lock:
            return self._seen(run) if run in self._jobs else None

    def cancel(self, run: Run) -> None:
        """Give up a run that waits or trains; nothing happens to one that has ended.

        The job counts as cancelled at once. Its process is asked to stop after the current epoch,
        which keeps it warm for the next run, and killed if it has not done so in a few seconds.
        """
        with self._lock:
            if run not in self._jobs or not self._jobs[run].active:
                return
            if run in self._queue:
                self._queue.remove(run)
            for worker in self._workers:
                if worker.run == run and worker.killer is None:
                    worker.killer = threading.Timer(GRACE, self._kill_late, [worker])
                    worker.killer.daemon = True
                    worker.killer.start()
                    worker.send("cancel")
            self._end(run, "cancelled")

    def close(self) -> None:
        """Cancel everything and end the processes."""
        with self._lock:
            self._closed = True
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
        place = self._queue.index(run) + 1 if job.state == "queued" else 0
        return dataclasses.replace(job, place=place)

    def _advance(self) -> None:
        """Replace what is missing, give waiting runs to processes that have nothing to do."""
        while len(self._workers) < self._size and not self._closed:
            try:
                self._workers.append(self._started())
            except OSError as error:
                self._give_up(f"no training process can be started ({error})")
                break
        for worker in self._workers:
            if self._queue and worker.ready and worker.run is None:
                worker.run = run = self._queue.pop(0)
                self._jobs[run] = Job(run, "running", started=time.time())
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
        if self._closed:
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
        self._forget()

    def _forget(self) -> None:
        ended = [job for job in self._jobs.values() if not job.active]
        ended.sort(key=lambda job: job.finished or 0, reverse=True)
        oldest = time.time() - KEEP_SECONDS
        for rank, job in enumerate(ended):
            if rank >= KEEP_JOBS or (job.finished or 0) < oldest:
                del self._jobs[job.run]


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
