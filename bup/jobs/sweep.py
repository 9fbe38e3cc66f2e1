"""Many runs trained side by side, here or on a cluster; each result is stored as it arrives."""

import base64
import dataclasses
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue

from bup import methods
from bup.errors import BupError
from bup.graph import Graph
from bup.io import files
from bup.jobs.processes import Processes
from bup.jobs.task import Executor, Message, Task
from bup.results.store import Store
from bup.run.spec import Run, Spec
from bup.training import fitting

BATCH = 5
"""Seeds in one task: more gain little, and cost more when the process dies."""
DEATHS = 3
"""Processes that may die over one run before it is given up."""


@dataclass(frozen=True)
class Failure:
    spec: Spec
    reason: str


OnDone = Callable[[Sequence[Spec]], None]
"""Called with the runs of each task that has ended, well or not."""


@contextmanager
def local_processes(workers: int, store: Store) -> Iterator[Processes]:
    """Processes on this machine, one thread each."""
    if workers < 1:
        raise BupError(f"there must be at least 1 worker, got {workers}")
    processes = Processes(store, workers)
    try:
        yield processes
    finally:
        processes.close()


def missing(specs: Iterable[Spec], graphs: Mapping[str, Graph], store: Store) -> list[Spec]:
    """The runs, each once, for which the store has no valid result."""
    unique = dict.fromkeys(map(methods.complete, specs))
    return [s for s in unique if fitting.load(s, graphs[s.graph], store) is None]


def tasks_of(specs: Iterable[Spec], graphs: Mapping[str, Graph]) -> list[Task]:
    """Runs grouped into tasks; a method that gains nothing from side by side trains run by run."""
    cells: dict[Spec, list[Run]] = {}
    for spec in specs:
        cell = dataclasses.replace(spec, seed=0)
        cells.setdefault(cell, []).append(Run(spec, graphs[spec.graph].digest))
    tasks = []
    for cell, runs in cells.items():
        size = BATCH if methods.find(cell.method).batches_seeds else 1
        tasks += [Task(tuple(runs[i : i + size])) for i in range(0, len(runs), size)]
    return tasks


class _Sweep:
    """The owner of a sweep's tasks."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.waiting = deque(tasks)
        self.ended: SimpleQueue[tuple[Task, Message] | BupError] = SimpleQueue()

    def next_task(self) -> Task | None:
        return self.waiting.popleft() if self.waiting else None

    def on_message(self, task: Task, message: Message) -> None:
        if "end" in message:
            self.ended.put((task, message))

    def on_no_workers(self, why: str) -> None:
        self.ended.put(BupError(f"{why}: see what it said above"))


def train_all(
    specs: Iterable[Spec],
    graphs: Mapping[str, Graph],
    executor: Executor,
    store: Store,
    on_done: OnDone = lambda specs: None,
) -> list[Failure]:
    """Train runs and store each result as soon as it is there; returns those that failed.

    A task that fails, or whose process dies, is tried again run by run.
    """
    sweep = _Sweep(tasks_of(specs, graphs))
    left = sum(len(task.runs) for task in sweep.waiting)
    failures: list[Failure] = []
    executor.start(sweep)
    while left:
        ended = sweep.ended.get()
        if isinstance(ended, BupError):
            raise ended
        task, message = ended
        if message["end"] == "done":
            _store(task, message, store)
        else:
            deaths = task.deaths + (message["end"] == "died")
            if len(task.runs) > 1 or task.deaths < deaths < DEATHS:
                sweep.waiting.extendleft(Task((run,), deaths) for run in reversed(task.runs))
                executor.notify()
                continue
            times = f", {DEATHS} times over" if deaths > task.deaths else ""
            failures.append(Failure(task.runs[0].spec, message["error"] + times))
        left -= len(task.runs)
        on_done([run.spec for run in task.runs])
    return failures


def _store(task: Task, message: Message, store: Store) -> None:
    """Store results that came back; a full disk ends the sweep, as no run is to blame for it."""
    for run, content in zip(task.runs, message.get("unstored", ()), strict=False):
        if content is not None:
            store.save(run, *files.unpack(base64.b64decode(content)))
