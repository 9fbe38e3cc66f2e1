"""The paper's Table 1 against a plain loop of PyG trainings, and two workers against one."""

from __future__ import annotations

import tempfile
import time

import torch

import bup
from bench.training import EPOCHS, pyg_epochs
from bup import engine, experiments
from bup.runs import stored
from bup.spec import Spec

SEEDS = 8
SWEEP = 40


def run() -> None:
    graph = bup.load_graph("cora")
    question = experiments.QUESTIONS["q1"]
    both = experiments.contenders("bup", "gcn")
    planned = experiments.runs_of(question, {"cora": graph}, [20], both, SEEDS)
    ours, store = _seconds([run.spec for run in planned], 2)
    epochs = {"bup": 0, "gcn": 0}
    for one in planned:
        result = stored(one.spec, graph, store)
        assert result is not None
        epochs[one.contender] += len(result.history["loss"])
    # Every epoch of the loop costs the same, so a few of them tell what all of ours would cost.
    torch.set_num_threads(2)
    peer = sum(
        count * _per_epoch(hidden) for count, hidden in ((epochs["bup"], 64), (epochs["gcn"], 16))
    )
    print(
        f"Cora, 20 per class: {SEEDS} BUP and {SEEDS} GCN trainings, {sum(epochs.values())} epochs"
    )
    print(f"  bup reproduce, 2 workers, their start included  {ours:7.1f} s")
    print(f"  a loop of PyG GCNs for as many epochs, 2 threads {peer:6.1f} s  {peer / ours:.1f}x")

    reruns = SWEEP // len(both) // 2
    specs = [r.spec for r in experiments.runs_of(question, {"cora": graph}, [5, 10], both, reruns)]
    one, two = (_seconds(specs, workers)[0] for workers in (1, 2))
    print(f"Cora, a sweep of {len(specs)} trainings, start included")
    print(f"  1 worker   {one:6.1f} s")
    print(f"  2 workers  {two:6.1f} s  {one / two:.2f}x")


def _seconds(specs: list[Spec], workers: int) -> tuple[float, bup.Store]:
    """How long it takes to train the runs into an empty store."""
    graph = bup.load_graph(specs[0].graph)
    store = bup.Store(tempfile.mkdtemp(prefix="bench-"))
    start = time.perf_counter()
    with engine.local(workers) as where:
        assert not engine.train_all(specs, {graph.name: graph}, where, store)
    return time.perf_counter() - start, store


def _per_epoch(hidden: int, repeats: int = 8) -> float:
    epochs = pyg_epochs(bup.load_graph("cora"), hidden)
    epochs()
    start = time.perf_counter()
    for _ in range(repeats):
        epochs()
    return (time.perf_counter() - start) / repeats / EPOCHS
