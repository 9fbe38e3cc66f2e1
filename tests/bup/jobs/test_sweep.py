"""Sweeps: whatever dies or fails on the way, every sound run ends in the store, bit for bit."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import pytest

import bup
from bup.jobs import cluster, sweep, worker
from bup.methods import METHODS, complete
from bup.training import fitting
from tests.support import ROOT, needs_unix
from tests.support.jobs import workers

SMALL = "synthetic:nodes=150,classes=3,words=40"
SPLIT = {"graph": SMALL, "validation": 30, "test": None}
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


@pytest.fixture
def store(tmp_path) -> bup.Store:
    return bup.Store(tmp_path / "runs")


@pytest.fixture(scope="module")
def graphs() -> dict[str, bup.Graph]:
    return {SMALL: bup.load_graph(SMALL)}


def some_specs(seeds=range(4), sizes=(2, 3), method="gcn", **settings) -> list[bup.Spec]:
    return [
        complete(
            bup.Spec(**SPLIT, method=method, per_class=n, seed=s, settings=tuple(settings.items()))
        )
        for n in sizes
        for s in seeds
    ]


class Threads:
    """An executor without processes; a fatal run takes along what it trains with."""

    def __init__(self, fatal=lambda spec: False, store=None):
        self.fatal, self.store, self.threads = fatal, store, ThreadPoolExecutor(1)

    def start(self, owner):
        self.owner = owner
        self.notify()

    def notify(self):
        while (task := self.owner.next_task()) is not None:
            self.threads.submit(self.work, task)

    def work(self, task):
        if any(self.fatal(run.spec) for run in task.runs):
            self.owner.on_message(task, {"end": "died", "error": "it was killed"})
        else:
            self.owner.on_message(task, worker.run_task(task.runs, self.store))


def assert_all_there(specs, graphs, store) -> None:
    """Every result is in the store, with the bits of a run that was trained here on its own."""
    for spec in specs:
        found = fitting.load(spec, graphs[SMALL], store)
        (alone,) = fitting.fit_specs(graphs[SMALL], [spec])
        assert found is not None, spec
        assert np.array_equal(found.probs, alone.probs) and found.history == alone.history


def test_a_second_start_trains_nothing(graphs, store):
    specs = some_specs(epochs=4)
    assert sweep.missing([*specs, *specs], graphs, store) == specs
    settled = []
    assert sweep.train_all(specs, graphs, Threads(), store, settled.extend) == []
    assert sorted(settled, key=specs.index) == specs
    assert sweep.missing(specs, graphs, store) == []
    more = some_specs(range(5), epochs=4)
    assert sweep.missing(more, graphs, store) == [s for s in more if s.seed == 4]
    assert_all_there(specs, graphs, store)


def test_tasks_hold_seeds_of_one_cell_and_slow_methods_train_alone(graphs):
    full = list(range(sweep.BATCH))
    specs = some_specs(range(sweep.BATCH + 1), epochs=4) + some_specs(range(2), [2], "sgcn")
    tasks = sweep.tasks_of(specs, graphs)
    seeds = [[run.spec.seed for run in t.runs] for t in tasks]
    assert len(full) > 1 and seeds == [full, [sweep.BATCH]] * 2 + [[0], [1]]
    assert all(len({(r.spec.per_class, r.spec.method) for r in t.runs}) == 1 for t in tasks)
    assert {m for m in METHODS if not METHODS[m].batches_seeds} >= {"bbde", "bbgdc", "ggp", "sgcn"}


def test_a_failed_run_is_named_and_stops_no_other(graphs, store):
    good = some_specs(epochs=4)
    bad = some_specs([0, 1], [140], epochs=4)  # more training nodes than there are
    settled = []
    failures = sweep.train_all([*bad, *good], graphs, Threads(), store, settled.extend)
    assert {f.spec for f in failures} == {*bad} and len(failures) == len(bad)
    assert "ask for fewer per class" in failures[0].reason
    assert len(settled) == len(good) + len(bad)
    assert sweep.missing([*bad, *good], graphs, store) == bad


def test_a_run_that_kills_its_process_takes_nobody_along(graphs, store):
    specs = some_specs(range(7), epochs=4)
    (fatal,) = [s for s in specs if (s.seed, s.per_class) == (2, 3)]
    failures = sweep.train_all(specs, graphs, Threads(lambda s: s == fatal), store)
    assert [f.spec for f in failures] == [fatal] and "it was killed, 3 times over" in failures[
        0
    ].reason
    assert sweep.missing(specs, graphs, store) == [fatal]


def test_a_worker_with_another_graph_is_found_out(graphs, store):
    other = bup.load_graph(SMALL + ",seed=1")
    (failure,) = sweep.train_all(some_specs([0], [2]), {SMALL: other}, Threads(), store)
    assert "not the one that was asked for" in failure.reason


def test_a_full_disk_is_not_the_fault_of_a_run(graphs, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(bup.BupError, match="free some space"):
        sweep.train_all(
            some_specs([0], [2], epochs=2), graphs, Threads(), bup.Store(tmp_path / "file")
        )


@needs_unix
def test_a_killed_local_process_costs_nothing_but_time(graphs, store):
    specs = some_specs(range(10), epochs=400, patience=1000, hidden=128)
    killed = []

    def kill() -> None:
        found = workers(os.getpid()).items()
        killed.extend(pid for pid, command in found if str(store.root) in command)
        os.kill(killed[0], signal.SIGKILL)

    settled = []

    def kill_soon(specs) -> None:
        if not settled:
            threading.Timer(0.3, kill).start()  # in the middle of the next task
        settled.extend(specs)

    with sweep.local_processes(1, store) as one:
        assert sweep.train_all(specs, graphs, one, store, kill_soon) == []
    assert killed and len(settled) == len(specs)
    assert_all_there(specs[::7], graphs, store)
    assert sweep.missing(specs, graphs, store) == []


def test_a_killed_sweep_goes_on_where_it_was_and_leaves_nobody_behind(graphs, tmp_path):
    command = [sys.executable, "-m", "bup.cli", "reproduce", "q1", "--graphs", SMALL]
    command += ["--sizes", "2,3,4,5", "--methods", "bup", "--reruns", "5", "--workers", "1"]
    environment = ENVIRONMENT | {"BUP_CACHE": str(tmp_path)}
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        first = process.stderr.readline()
        children = psutil.Process(process.pid).children()
        process.kill()
    assert first.startswith(f"{sweep.BATCH} of 20 runs"), first
    kept = len(list(tmp_path.glob("runs/*/result.bup")))
    assert sweep.BATCH <= kept < 20
    _, alive = psutil.wait_procs(children, timeout=20)
    assert not alive
    specs = some_specs(range(5), (2, 3, 4, 5), "bup")
    assert len(sweep.missing(specs, graphs, bup.Store(tmp_path / "runs"))) == 20 - kept


@pytest.fixture
def dask(tmp_path):
    """A scheduler's address, and a way to start workers; all of them real processes."""
    pytest.importorskip("distributed")
    processes = []

    def start(*words: str) -> subprocess.Popen:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words], env=ENVIRONMENT, cwd=tmp_path, **quiet
        )
        processes.append(process)
        return process

    file = tmp_path / "scheduler.json"
    start(
        "scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
        "--scheduler-file",
        str(file),
    )
    for _ in range(300):
        if file.exists() and file.read_text().endswith("}"):
            break
        time.sleep(0.1)
    address = json.loads(file.read_text())["address"]
    yield (
        address,
        lambda: start("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"),
    )
    for process in processes:
        process.kill()
        process.wait()


@needs_unix
def test_a_cluster_gives_the_same_bits_even_if_a_worker_is_killed(dask, graphs, store):
    address, start_worker = dask
    workers = [start_worker(), start_worker()]
    specs = some_specs(range(10), epochs=100, patience=1000, hidden=128)

    def kill_one(_) -> None:
        if workers[0].poll() is None:
            workers[0].kill()
            workers[0].wait()

    with cluster.cluster(address) as there:
        assert sweep.train_all(specs, graphs, there, store, kill_one) == []
    assert workers[0].returncode == -signal.SIGKILL and workers[1].poll() is None
    assert sweep.missing(specs, graphs, store) == []
    assert_all_there(specs[::7], graphs, store)


def test_a_cluster_that_is_not_there_is_one_line(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    for address in ("tcp://127.0.0.1:9", "nonsense://here"):
        with pytest.raises(bup.BupError, match="dask scheduler"), cluster.cluster(address):
            pass
