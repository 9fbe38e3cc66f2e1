"""Runs of a small graph for real training processes, and a way to wait for them."""

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import bup
from bup import Spec
from bup.run.spec import Run
from bup.training import fitting
from dashboard.training_queue.job import Job
from dashboard.training_queue.local_queue import LocalQueue

SMALL = Spec(
    graph="synthetic:nodes=300,classes=3,words=60",
    per_class=5,
    validation=30,
    test=100,
    settings=(("epochs", 8),),
)


ENDLESS = dataclasses.replace(SMALL, settings=(("epochs", 10_000), ("patience", 10_000)))


seeds = count(1)


def run_of(spec: Spec) -> Run:
    return fitting.run_of(spec, bup.load_graph(spec.graph))


def fresh(spec: Spec) -> Run:
    """The same run with a seed that no other test uses."""
    return run_of(dataclasses.replace(spec, seed=next(seeds)))


def ask(queue: LocalQueue, run: Run, visitor: str = "") -> Job:
    return queue.submit(run, bup.load_graph(run.spec.graph), visitor, again=True)


class InstantQueue:
    """A queue that trains while one waits, for pages whose runs nobody has trained."""

    def submit(self, run: Run, graph: bup.Graph, visitor: str = "", again: bool = False) -> Job:
        (result,) = fitting.fit_specs(graph, [run.spec])
        fitting.save(result, graph)
        return Job(run, "done")

    def find(self, run: Run, visitor: str | None = None) -> Job | None:
        return None


def until(condition: Callable[[], object], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


def ended(queue: LocalQueue, run: Run) -> Job:
    until(lambda: not queue.find(run).active)
    return queue.find(run)


def is_training(queue: LocalQueue, run: Run) -> bool:
    return queue.find(run).progress.epoch > 0


def is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text("utf-8")
        return status.rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def workers(parent: int) -> dict[int, str]:
    """Command lines of the living training processes of a server, by their ids."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (path / "cmdline").read_text().split("\0")
            of = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if of == parent and command[2:4] == ["-m", "bup.jobs"]:
                found[int(path.name)] = " ".join(command)
    return {pid: command for pid, command in found.items() if is_alive(pid)}


def own_workers() -> dict[int, str]:
    """Those of this test's store; pages that other tests opened have a queue of their own."""
    found = workers(os.getpid())
    return {pid: command for pid, command in found.items() if os.environ["BUP_CACHE"] in command}


def result_of(run: Run) -> bup.Result | None:
    return fitting.load(run.spec, bup.load_graph(run.spec.graph))
