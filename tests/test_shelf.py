"""What is known of runs: shared, bounded in bytes, never taken from who reads it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bup
from bup import files, runs
from dashboard import kept, shelf

SPEC = bup.Spec(
    graph="synthetic:nodes=120,classes=3,words=30",
    per_class=3,
    validation=20,
    test=None,
    settings=(("epochs", 2),),
)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    monkeypatch.setattr(kept, "KEPT", kept.Kept())


def test_a_result_that_no_disk_takes_is_shown_with_the_reason():
    graph = bup.load_graph(SPEC.graph)
    assert shelf.find(SPEC, graph) is None
    (result,) = runs.fit_specs(graph, [SPEC])
    shelf.hold(runs.run_of(SPEC, graph), files.pack(*result.packed()), "the disk is full")
    found = shelf.find(SPEC, graph)
    assert found is not None and found.unkept == "the disk is full"
    assert np.array_equal(found.result.probs, result.probs) and len(found.table) == 120


def test_what_a_page_reads_outlives_all_others(monkeypatch):
    graph = bup.load_graph(SPEC.graph)
    (result,) = runs.fit_specs(graph, [SPEC])
    runs.save(result, graph)
    first = shelf.find(SPEC, graph)
    assert shelf.find(SPEC, graph) is first
    monkeypatch.setenv("BUP_MEMORY_BYTES", "1000")
    for number in range(24):
        kept.KEPT.get(number, lambda: np.zeros(1000))
    assert first.table is not None and first.report()["test"]["nodes"] > 0
    again = shelf.find(SPEC, graph)
    assert again is not first and np.array_equal(again.result.probs, first.result.probs)


def test_the_longest_unused_goes_first_and_bytes_count(monkeypatch):
    monkeypatch.setenv("BUP_MEMORY_BYTES", "25000")
    made = []

    def ask(key: str) -> np.ndarray:
        return kept.KEPT.get(key, lambda: made.append(key) or np.zeros(1000))

    for key in ("a", "b", "c", "a", "d", "a", "b"):
        ask(key)
    assert made == ["a", "b", "c", "d", "b"]
    assert kept.size_of({"x": [np.zeros(10), "text"]}) > 80


def test_many_who_ask_at_once_wait_for_one():
    made, start = [], threading.Barrier(8)

    def ask(_: int) -> object:
        start.wait()
        return kept.KEPT.get("key", lambda: made.append(1) or object())

    with ThreadPoolExecutor(8) as pool:
        assert len(set(map(id, pool.map(ask, range(8))))) == 1
    assert made == [1]
