"""The paper's Table 1 against a plain loop of PyG trainings, and two workers against one."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import torch

import bup
from bup import experiments
from bup.jobs import sweep
from bup.run.spec import Spec
from bup.training.fitting import load
from tests.bench.training import EPOCHS, pyg_epochs

SEEDS = 8
SWEEP = 40
ROUNDS = 3


def run() -> None:
    graph = bup.load_graph("cora")
    question = experiments.QUESTIONS["q1"]
    both = experiments.find_variants(experiments.PAPERS_BUP, "gcn")
    planned = experiments.plan_runs(question, {"cora": graph}, [20], both, SEEDS)
    starting, training, epochs = _trained([run.spec for run in planned], 2)
    ours = starting + training
    # Every epoch of the loop costs the same, so a few of them tell what all of ours would cost.
    peer = sum(epochs[method] * _per_epoch(hidden) for method, hidden in (("bup", 64), ("gcn", 16)))
    print(
        f"Cora, 20 per class: {SEEDS} BUP and {SEEDS} GCN trainings, {sum(epochs.values())} epochs"
    )
    print(f"  bup reproduce, 2 workers, their start included  {ours:7.1f} s")
    print(f"  a loop of PyG GCNs for as many epochs           {peer:7.1f} s  {peer / ours:.1f}x")

    reruns = SWEEP // len(both) // 2
    specs = [
        r.spec for r in experiments.plan_runs(question, {"cora": graph}, [5, 10], both, reruns)
    ]
    rounds = [[_trained(specs, workers).seconds for workers in (1, 2)] for _ in range(ROUNDS)]
    one, two = (statistics.median(seconds) for seconds in zip(*rounds, strict=True))
    each = ", ".join(f"{alone / together:.2f}x" for alone, together in rounds)
    print(f"Cora, a sweep of {len(specs)} trainings, workers started before, medians of {ROUNDS}")
    print(f"  1 worker   {one:6.1f} s")
    print(f"  2 workers  {two:6.1f} s  {one / two:.2f}x  (round by round: {each})")
    print(f"  what the machine allows just now: {_machine():.2f}x (plain loops in two processes)")


class Trained(NamedTuple):
    starting: float  # seconds until every worker was warm
    seconds: float
    epochs: Counter[str]  # of each method


def _trained(specs: list[Spec], workers: int) -> Trained:
    """Train the runs into an empty store."""
    graph = bup.load_graph(specs[0].graph)
    epochs: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        store = bup.Store(folder)
        begin = time.perf_counter()
        with sweep.local_processes(workers, store) as here:
            while len(here.idle) < workers:
                time.sleep(0.01)
            start = time.perf_counter()
            assert not sweep.train_all(specs, {graph.name: graph}, here, store)
        end = time.perf_counter()
        for spec in specs:
            result = load(spec, graph, store)
            assert result is not None
            epochs[spec.method] += len(result.history["loss"])
    return Trained(start - begin, end - start, epochs)


def _per_epoch(hidden: int, repeats: int = 4) -> float:
    """Seconds of an epoch of PyG's GCN, with one thread or two, whichever is faster."""
    seconds = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        epochs = pyg_epochs(bup.load_graph("cora"), hidden)
        epochs()
        start = time.perf_counter()
        for _ in range(repeats):
            epochs()
        seconds.append((time.perf_counter() - start) / repeats / EPOCHS)
    return min(seconds)


def _machine() -> float:
    """How much faster two processes count than one: no sweep can gain more."""
    with ProcessPoolExecutor(2) as processes:
        list(processes.map(_count, [1, 1]))
        start = time.perf_counter()
        list(processes.map(_count, [10**7]))
        middle = time.perf_counter()
        list(processes.map(_count, [10**7, 10**7]))
        return 2 * (middle - start) / (time.perf_counter() - middle)


def _count(up_to: int) -> int:
    return sum(range(up_to))
