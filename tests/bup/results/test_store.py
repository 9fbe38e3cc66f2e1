import multiprocessing
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from bup.errors import BupError
from bup.io import files
from bup.results import store as store_module
from bup.results.store import Store
from bup.run.spec import Run, Spec

RUN = Run(Spec(settings={"lam": 1.0}), "digest")
ARRAYS = {"mean": np.linspace(0, 1, 12, dtype=np.float32).reshape(4, 3)}


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "runs")


def save(store: Store, run: Run = RUN) -> None:
    store.save(run, ARRAYS, {"seconds": 1.5})


def test_a_saved_result_is_found_again(store):
    assert store.load(RUN) is None
    save(store)
    arrays, values = store.load(RUN)
    assert values == {"seconds": 1.5} and np.array_equal(arrays["mean"], ARRAYS["mean"])
    assert store.load(Run(Spec(), "digest")) is None


@pytest.mark.parametrize("damage", ["truncated", "empty", "flipped", "foreign", "text"])
def test_a_damaged_file_is_set_aside_and_replaced(store, damage, caplog):
    save(store)
    path = store.path(RUN)
    whole = path.read_bytes()
    path.write_bytes(
        {
            "truncated": whole[:-7],
            "empty": b"",
            "flipped": whole[:-3] + bytes([whole[-3] ^ 64]) + whole[-2:],
            "foreign": files.pack(ARRAYS, {"what": "not a result"}),
            "text": b"hello",
        }[damage]
    )
    assert store.load(RUN) is None
    assert "set aside" in caplog.text
    assert [p.name for p in path.parent.iterdir()] == ["result.bup.damaged"]
    save(store)
    assert store.load(RUN) is not None


def test_another_runs_file_is_not_trusted(store):
    other = Run(Spec(seed=1), "digest")
    save(store, other)
    store.path(RUN).parent.mkdir(parents=True)
    os.replace(store.path(other), store.path(RUN))
    assert store.load(RUN) is None


def test_an_older_version_is_not_trusted(store, monkeypatch):
    save(store)
    monkeypatch.setattr(store_module, "VERSION", store_module.VERSION + 1)
    assert store.load(RUN) is None


def test_a_changed_graph_is_another_run_and_what_was_trained_before_stays(store, caplog):
    yesterday, today = Run(RUN.spec, "a" * 64), Run(RUN.spec, "b" * 64)
    save(store, yesterday)
    assert store.load(today) is None and not caplog.text
    assert store.has_on_other_content(today) and not store.has_on_other_content(yesterday)
    assert not store.has_on_other_content(Run(Spec(seed=1), "b" * 64))
    assert store.load(yesterday) is not None


def test_a_folder_that_cannot_be_read_or_written_is_not_fatal(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    store = Store(tmp_path / "file")
    assert store.load(RUN) is None
    with pytest.raises(BupError, match="BUP_CACHE"):
        save(store)


def test_above_the_limit_the_longest_unused_goes_and_the_young_stay(store, monkeypatch):
    monkeypatch.setattr(store_module, "TIDY", -1)
    by_seed = [Run(Spec(seed=seed), "digest") for seed in range(4)]
    for age, run in zip((4000, 3000, 2000, 0), by_seed, strict=True):
        save(store, run)
        path, then = store.path(run), time.time() - age
        os.utime(path, (then, then))
    assert store.load(by_seed[0]) is not None, "used just now"
    size = store.path(by_seed[0]).stat().st_size
    monkeypatch.setenv("BUP_STORE_BYTES", str(2.5 * size))
    save(store, by_seed[3])
    assert [store.path(run).exists() for run in by_seed] == [True, False, False, True]
    monkeypatch.setenv("BUP_STORE_BYTES", "1")
    save(store, by_seed[3])
    assert store.load(by_seed[0]) is not None and store.load(by_seed[3]) is not None


def test_what_killed_writers_left_anywhere_goes_with_the_next_save(store, monkeypatch):
    monkeypatch.setattr(store_module, "TIDY", -1)
    save(store)
    folder = store.root / "another-run"
    folder.mkdir()
    here = files._machine_name()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for pid in (gone.pid, os.getpid()):
        (folder / f".result.bup.{here}-{pid}.abc.tmp").touch()
    (folder / ".result.bup.elsewhere-1.abc.tmp").touch()
    save(store, Run(Spec(seed=1), "digest"))
    assert sorted(p.name for p in folder.iterdir()) == sorted(
        [f".result.bup.{here}-{os.getpid()}.abc.tmp", ".result.bup.elsewhere-1.abc.tmp"]
    )


def _save_often(root, barrier):
    store = Store(root)
    barrier.wait()
    for _ in range(20):
        save(store)
        assert store.load(RUN) is not None


def test_two_processes_saving_the_same_run_both_succeed(store):
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    writers = [context.Process(target=_save_often, args=(store.root, barrier)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert store.load(RUN) is not None
    assert [p.name for p in store.path(RUN).parent.iterdir()] == ["result.bup"]
