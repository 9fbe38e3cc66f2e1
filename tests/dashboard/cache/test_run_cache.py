"""What is known of runs: shared, bounded in bytes, never taken from who reads it."""

import dataclasses
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bup
from bup.io import files
from bup.training import fitting
from dashboard.cache import run_cache, shared_cache
from dashboard.cache.unstored import UnstoredResults

SPEC = bup.Spec(
    graph="synthetic:nodes=120,classes=3,words=30",
    per_class=3,
    validation=20,
    test=None,
    settings=(("epochs", 2),),
)


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUP_CACHE", str(tmp_path))
        patch.setattr(shared_cache, "SHARED_CACHE", shared_cache.SharedCache())
        yield


def test_a_result_that_no_disk_takes_is_shown_with_the_reason():
    graph = bup.load_graph(SPEC.graph)
    assert run_cache.find(SPEC, graph) is None
    (result,) = fitting.fit_specs(graph, [SPEC])
    run_cache.unstored.add(
        fitting.run_of(SPEC, graph), files.pack(*result.pack()), "the disk is full"
    )
    found = run_cache.find(SPEC, graph)
    assert found is not None and found.unstored_reason == "the disk is full"
    assert np.array_equal(found.result.probs, result.probs) and len(found.table) == 120


def test_a_result_that_no_disk_took_is_stored_when_one_has_room(monkeypatch, tmp_path):
    graph = bup.load_graph(SPEC.graph)
    (result,) = fitting.fit_specs(graph, [SPEC])
    full = tmp_path / "file"
    full.write_text("no folder")
    monkeypatch.setenv("BUP_CACHE", str(full))
    run = fitting.run_of(SPEC, graph)
    run_cache.unstored.add(run, files.pack(*result.pack()), "the disk is full")
    found = run_cache.find(SPEC, graph)
    run_cache.unstored.store()
    assert found.unstored_reason and fitting.load(SPEC, graph) is None
    assert run_cache.unstored._timer is not None  # which tries again
    monkeypatch.setenv("BUP_CACHE", str(tmp_path / "room"))
    run_cache.unstored.store()
    assert not found.unstored_reason and run_cache.unstored._timer is None
    assert np.array_equal(fitting.load(SPEC, graph).probs, result.probs)


def test_results_that_no_disk_takes_are_bounded():
    graph = bup.load_graph(SPEC.graph)
    held = UnstoredResults()
    made = [fitting.run_of(dataclasses.replace(SPEC, seed=seed), graph) for seed in range(30)]
    for run in made:
        held.add(run, b"", "full")
    held._timer.cancel()  # it would fail in another test
    assert [held.find(run) is not None for run in made] == [False] * 10 + [True] * 20


def test_what_a_page_reads_outlives_all_others(monkeypatch):
    graph = bup.load_graph(SPEC.graph)
    (result,) = fitting.fit_specs(graph, [SPEC])
    fitting.save(result, graph)
    first = run_cache.find(SPEC, graph)
    assert run_cache.find(SPEC, graph) is first
    monkeypatch.setenv("BUP_MEMORY_BYTES", "1000")
    for number in range(24):
        shared_cache.SHARED_CACHE.get(number, lambda: np.zeros(1000))
    assert first.table is not None and first.report()["test"]["nodes"] > 0
    again = run_cache.find(SPEC, graph)
    assert again is not first and np.array_equal(again.result.probs, first.result.probs)


def test_the_longest_unused_goes_first_and_bytes_count(monkeypatch):
    monkeypatch.setenv("BUP_MEMORY_BYTES", "25000")
    made = []

    def ask(key: str) -> np.ndarray:
        return shared_cache.SHARED_CACHE.get(key, lambda: made.append(key) or np.zeros(1000))

    for key in ("a", "b", "c", "a", "d", "a", "b"):
        ask(key)
    assert made == ["a", "b", "c", "d", "b"]
    assert shared_cache.size_of({"x": [np.zeros(10), "text"]}) > 80


def test_many_who_ask_at_once_wait_for_one():
    made, start = [], threading.Barrier(8)

    def ask(_: int) -> object:
        start.wait()
        return shared_cache.SHARED_CACHE.get("key", lambda: made.append(1) or object())

    with ThreadPoolExecutor(8) as pool:
        assert len(set(map(id, pool.map(ask, range(8))))) == 1
    assert made == [1]


class Growing:
    """As what is known of a run: parts are added while others look at it."""

    def __init__(self) -> None:
        self.reports = {}

    def grow(self) -> None:
        for number in range(300):
            setattr(self, f"part_{number}", number)
            self.reports[number] = number
        for number in range(300):
            delattr(self, f"part_{number}")
            del self.reports[number]


def test_values_are_measured_while_other_threads_add_to_them(monkeypatch):
    monkeypatch.setattr(shared_cache, "AGAIN", 50)
    before, ended = sys.getswitchinterval(), threading.Event()
    known = [shared_cache.SHARED_CACHE.get(("known", number), Growing) for number in range(4)]

    def grow(value: Growing) -> None:
        while not ended.is_set():
            value.grow()

    sys.setswitchinterval(1e-6)
    with ThreadPoolExecutor(8) as pool:
        growing = [pool.submit(grow, value) for value in known]
        try:
            for number in range(300):
                shared_cache.SHARED_CACHE.get(number, lambda: np.zeros(10))
        finally:
            ended.set()
            sys.setswitchinterval(before)
        for one in growing:
            one.result()


def test_a_value_that_grew_counts_as_it_is_and_others_are_not_measured_each_time(monkeypatch):
    monkeypatch.setenv("BUP_MEMORY_BYTES", "100000")
    monkeypatch.setattr(shared_cache, "AGAIN", 2)
    measured = []
    size_of = shared_cache.size_of
    monkeypatch.setattr(shared_cache, "size_of", lambda value: measured.append(1) or size_of(value))
    grown = shared_cache.SHARED_CACHE.get("grown", dict)
    for number in range(20):
        shared_cache.SHARED_CACHE.get(number, lambda: np.zeros(10))
    assert len(measured) <= 3 * 21
    grown["more"] = np.zeros(20_000)
    for number in range(20, 40):
        shared_cache.SHARED_CACHE.get(number, lambda: np.zeros(10))
    assert shared_cache.SHARED_CACHE.get("grown", dict) is not grown, (
        "alone it is larger than all may be"
    )
    assert shared_cache.SHARED_CACHE.get(39, object).shape == (10,)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2000)), max_size=60))
def test_the_running_total_is_the_sum_of_what_is_kept(asked):
    shelf = shared_cache.SharedCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUP_MEMORY_BYTES", "20000")
        for key, numbers in asked:
            shelf.get(key, lambda numbers=numbers: np.zeros(numbers))
            sizes = [shared_cache.size_of(value) for value in shelf._values.values()]
            assert shelf._total == sum(sizes) and (sum(sizes) <= 20_000 or len(sizes) == 1)
            assert list(sorted(shelf._sizes)) == sorted(shelf._values)
