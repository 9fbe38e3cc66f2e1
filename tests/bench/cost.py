"""What a run costs by estimate against what it took: every method on Cora and PubMed."""

from __future__ import annotations

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from typing import NamedTuple

import bup
from bup.errors import BupError
from bup.methods import METHODS, TRAINED
from bup.run.spec import Spec, Value
from bup.training.cost import cost_of
from bup.training.fitting import fit_specs, run_of

GRAPHS = ("cora", "pubmed")
EPOCHS = 30


class Measured(NamedTuple):
    seconds: float
    bytes: float
    epochs: int


def run() -> None:
    print(f"At most {EPOCHS} epochs, each in a process of its own: estimate / measured (CPU time)")
    print(f"  {'method':<12} {'graph':<8} {'epochs':>6} {'seconds':>18} {'GB':>18}")
    for name in GRAPHS:
        for method in TRAINED:
            _line(name, method)


def _line(name: str, method: str) -> None:
    settings = {f.name for f in fields(METHODS[method].settings)}
    asked: tuple[tuple[str, Value], ...] = (("epochs", EPOCHS),) if "epochs" in settings else ()
    spec = Spec(graph=name, method=method, settings=asked)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn) as process:
        try:
            took = process.submit(_measured, spec).result()
        except BupError as error:
            print(f"  {method:<12} {name:<8} {error}")
            return
    cost = cost_of(run_of(spec, graph := bup.load_graph(name)), graph)
    print(
        f"  {method:<12} {name:<8} {took.epochs:>6}"
        f" {cost.seconds:>7.1f} / {took.seconds:<7.1f} {cost.seconds / took.seconds:4.1f}x"
        f" {cost.bytes / 1e9:>6.2f} / {took.bytes / 1e9:<5.2f} {cost.bytes / took.bytes:4.1f}x",
        flush=True,
    )


def _measured(spec: Spec) -> Measured:
    graph = bup.load_graph(spec.graph)
    bup.fit("synthetic:nodes=60,classes=2,words=20", "gcn", 2, validation=2, test=2, epochs=1)
    start = time.process_time()
    (result,) = fit_specs(graph, [spec])
    seconds = time.process_time() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Measured(seconds, most, len(result.history["loss"]))
