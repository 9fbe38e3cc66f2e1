import multiprocessing
import os

import numpy as np
import pytest

from bup import files
from bup import store as store_module
from bup.errors import BupError
from bup.spec import Spec
from bup.store import Store

SPEC = Spec(settings={"lam": 1.0})
ARRAYS = {"mean": np.linspace(0, 1, 12, dtype=np.float32).reshape(4, 3)}


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "runs")


def save(store: Store, spec: Spec = SPEC, digest: str = "digest") -> None:
    store.save(spec, ARRAYS, {"seconds": 1.5}, digest)


def test_a_saved_result_is_found_again(store):
    assert store.load(SPEC) is None
    save(store)
    arrays, values = store.load(SPEC, "digest")
    assert values == {"seconds": 1.5} and np.array_equal(arrays["mean"], ARRAYS["mean"])
    assert store.load(Spec()) is None
    assert list(store.specs()) == [SPEC]


@pytest.mark.parametrize("damage", ["truncated", "empty", "flipped", "foreign", "text"])
def test_a_damaged_file_is_set_aside_and_replaced(store, damage, caplog):
    save(store)
    path = store.path(SPEC)
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
    assert store.load(SPEC) is None
    assert "set aside" in caplog.text
    assert [p.name for p in path.parent.iterdir()] == ["result.bup.damaged"]
    assert list(store.specs()) == []
    save(store)
    assert store.load(SPEC) is not None


def test_another_runs_file_is_not_trusted(store):
    other = Spec(seed=1)
    save(store, other)
    store.path(SPEC).parent.mkdir(parents=True)
    os.replace(store.path(other), store.path(SPEC))
    assert store.load(SPEC) is None


def test_an_older_version_is_not_trusted(store, monkeypatch):
    save(store)
    monkeypatch.setattr(store_module, "VERSION", store_module.VERSION + 1)
    assert store.load(SPEC) is None


def test_a_result_of_a_changed_graph_is_not_trusted(store):
    save(store, digest="yesterday")
    assert store.load(SPEC, "today") is None


def test_a_folder_that_cannot_be_read_or_written_is_not_fatal(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    store = Store(tmp_path / "file")
    assert store.load(SPEC) is None
    with pytest.raises(BupError, match="BUP_CACHE"):
        save(store)


def _save_often(root, barrier):
    store = Store(root)
    barrier.wait()
    for _ in range(20):
        save(store)
        assert store.load(SPEC) is not None


def test_two_processes_saving_the_same_run_both_succeed(store):
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    writers = [context.Process(target=_save_often, args=(store.root, barrier)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert store.load(SPEC, "digest") is not None
    assert [p.name for p in store.path(SPEC).parent.iterdir()] == ["result.bup"]
