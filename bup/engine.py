"""How many runs are trained: by processes here or on a cluster, each result kept when it is there.

The seam is ``concurrent.futures.Executor``. A task is a few seeds of one cell that train side by
side, or a single one for methods that gain nothing from company. Workers are told names and numbers
and send results back; only the process that asks writes to the store, so workers may be on machines
that share no disk with it.
"""

from __future__ import annotations

import atexit
import dataclasses
import multiprocessing
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from bup import methods, runs
from bup.datasets import load_graph
from bup.errors import BupError
from bup.graph import Graph
from bup.results import Result
from bup.spec import Spec
from bup.store import Store

BATCH = 5
"""Seeds that train side by side: more gain little, and cost more when their process dies."""
DEATHS = 3
"""How many processes may die over one run before it is given up."""
PATIENCE = 30
"""Seconds to wait for a cluster and for its first worker."""


@dataclass(frozen=True)
class Engine:
    """Where runs train: how to get an executor, and how many tasks to give it at a time."""

    start: Callable[[], Executor]
    slots: int


@dataclass(frozen=True)
class Task:
    """Runs that differ in their seed only, and the content of their graph."""

    specs: tuple[Spec, ...]
    digest: str
    deaths: int = 0  # processes that died while it was in their hands


@dataclass(frozen=True)
class Failure:
    spec: Spec
    reason: str


OnSettled = Callable[[Sequence[Spec]], None]
"""Told which runs are done with, well or not."""


@contextmanager
def local(workers: int) -> Iterator[Engine]:
    """Processes on this machine, one thread each."""
    if workers < 1:
        raise BupError(f"there must be at least 1 worker, got {workers}")
    spawn = multiprocessing.get_context("spawn")  # a fork would share torch's threads and locks
    # One task more than processes: it is begun at once, while the results before it are stored.
    slots = workers + 1
    yield Engine(lambda: ProcessPoolExecutor(workers, spawn, _prepare_process), slots)


def _prepare_process() -> None:
    """See to it that a pool's process ends when it should, and at once.

    One whose parent is killed would wait for work forever. One that is no longer needed would take
    down its interpreter piece by piece, for more than a second with torch in it, while its parent
    waits for it; a worker has nothing left to write.
    """
    atexit.register(os._exit, 0)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def cluster(address: str) -> Iterator[Engine]:
    """The workers of a Dask scheduler, which hands the runs of one that dies to another."""
    try:
        from distributed import Client
    except ImportError:
        raise BupError(
            "a cluster needs the package distributed: pip install 'bup-explorer[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BupError(
            f"no scheduler answers at {address!r} ({error}): start one with 'dask scheduler' and "
            "give the tcp:// address that it prints"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise BupError(
                f"the scheduler at {address} has no worker: start some with "
                f"'dask worker {address} --nthreads 1'"
            ) from None
        # Impure: a run that is tried again is trained again.
        yield Engine(lambda: client.get_executor(pure=False), sys.maxsize)


def train(specs: Sequence[Spec], digest: str) -> list[Result]:
    """What a worker does."""
    results = runs.fit_specs(_graph(specs[0].graph, digest), specs)
    # Whoever asked has the graph: it need not travel with every result.
    return [dataclasses.replace(result, graph=None) for result in results]


@lru_cache(maxsize=4)
def _graph(name: str, digest: str) -> Graph:
    graph = load_graph(name)
    if graph.digest != digest:
        raise BupError(
            f"the worker's graph {name} is not the one that was asked for: give every machine "
            "the same data and the same version of bup"
        )
    return graph


def missing(specs: Iterable[Spec], graphs: Mapping[str, Graph], store: Store) -> list[Spec]:
    """The runs, each once, that the store holds no sound result of."""
    unique = dict.fromkeys(map(methods.complete, specs))
    return [s for s in unique if runs.load(s, graphs[s.graph], store) is None]


def tasks_of(specs: Iterable[Spec], graphs: Mapping[str, Graph]) -> list[Task]:
    """Runs put together in tasks; those of a task differ in their seed only."""
    cells: dict[Spec, list[Spec]] = {}
    for spec in specs:
        cells.setdefault(dataclasses.replace(spec, seed=0), []).append(spec)
    return [
        Task(batch, graphs[cell.graph].digest)
        for cell, members in cells.items()
        for batch in _batches(members, BATCH if methods.find(cell.method).side_by_side else 1)
    ]


def _batches(specs: list[Spec], size: int) -> list[tuple[Spec, ...]]:
    return [tuple(specs[i : i + size]) for i in range(0, len(specs), size)]


def train_all(
    specs: Iterable[Spec],
    graphs: Mapping[str, Graph],
    engine: Engine,
    store: Store,
    on_settled: OnSettled = lambda specs: None,
) -> list[Failure]:
    """Train runs and keep each result as soon as it is there; returns those that failed.

    A task that fails is tried again run by run, so one bad run costs no other. When a local process
    dies, the pool is lost with all that it was doing: what was in hand is then tried one run at a
    time, so that a run which brings its process down does so alone.
    """
    waiting = deque(tasks_of(specs, graphs))
    running: dict[Future[list[Result]], Task] = {}
    failures: list[Failure] = []
    executor = engine.start()
    try:
        while waiting or running:
            suspects = any(task.deaths for task in (*waiting, *running.values()))
            while waiting and len(running) < (1 if suspects else engine.slots):
                try:
                    future = executor.submit(train, waiting[0].specs, waiting[0].digest)
                except BrokenExecutor:  # a process died between two tasks
                    break
                running[future] = waiting.popleft()
            settled = wait(running, return_when=FIRST_COMPLETED).done
            if not settled or any(_died(future) for future in settled):
                executor.shutdown()  # every future has an outcome now
                executor = engine.start()
                settled = set(running)
            for future in [f for f in running if f in settled]:  # in the order of their start
                task = running.pop(future)
                try:
                    results = future.result()
                except Exception as error:
                    died = isinstance(error, BrokenExecutor)
                    deaths = task.deaths + died
                    if len(task.specs) > 1 or (died and deaths < DEATHS):
                        again = [Task((spec,), task.digest, deaths) for spec in task.specs]
                        waiting.extendleft(reversed(again))
                        continue
                    failures.append(Failure(task.specs[0], _in_words(error)))
                else:
                    for result in results:
                        runs.save(result, graphs[result.spec.graph], store)
                on_settled(task.specs)
    finally:
        for future in running:
            future.cancel()
        executor.shutdown(wait=not running)
    return failures


def _died(future: Future[list[Result]]) -> bool:
    return not future.cancelled() and isinstance(future.exception(), BrokenExecutor)


def _in_words(error: Exception) -> str:
    if isinstance(error, BrokenExecutor):
        return f"its process was killed {DEATHS} times, perhaps for want of memory"
    if isinstance(error, CancelledError):
        return "the cluster's scheduler was lost: start it again, then this command"
    text = " ".join(str(error).split())
    return text if isinstance(error, BupError) else f"{type(error).__name__}: {text}"
