"""The queue of runs, with real training processes on a small graph."""

import dataclasses
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from job_parts import ENDLESS, SMALL, ended, fresh, result_of, trains, until, workers

import bup
from bup import BupError, methods, runs
from bup.store import Store
from dashboard.jobs import manager as jobs
from dashboard.jobs import worker
from dashboard.jobs.job import Job

pytestmark = pytest.mark.usefixtures("nothing_left_to_do")


def test_a_run_trains_to_the_end_and_its_result_is_in_the_store(manager):
    spec = fresh(SMALL)
    assert manager.find(spec) is None
    before = time.time()
    job = manager.submit(spec)
    assert job.active and job.spec == methods.complete(spec)
    job = ended(manager, spec)
    assert (job.state, job.error, job.place) == ("done", None, None)
    assert before <= job.started <= job.finished <= time.time()
    result = result_of(spec)
    assert result.spec == job.spec
    assert job.progress.epoch == job.progress.epochs == 8
    assert job.progress.losses == tuple(result.history["loss"])
    assert job.progress.validation_nll == tuple(result.history["validation_nll"])
    assert job.progress.validation_accuracy == tuple(result.history["validation_accuracy"])
    assert job.progress.seconds_left == 0


def test_training_in_the_background_gives_what_training_here_gives(manager):
    spec = fresh(SMALL)
    manager.submit(spec)
    assert ended(manager, spec).state == "done"
    (here,) = runs.fit_specs(bup.load_graph(spec.graph), [spec])
    assert (result_of(spec).probs == here.probs).all()


def test_a_run_in_the_store_is_done_at_once_and_one_that_was_damaged_is_trained_again(manager):
    spec = fresh(SMALL)
    (result,) = runs.fit_specs(bup.load_graph(spec.graph), [spec])
    runs.save(result, bup.load_graph(spec.graph))
    job = manager.submit(spec)
    assert (job.state, job.started) == ("done", None)
    Store().path(methods.complete(spec)).write_bytes(b"damaged")
    assert manager.submit(spec).active
    assert ended(manager, spec).state == "done"
    assert result_of(spec) is not None


def test_a_result_that_came_while_the_run_waited_is_not_trained_again(manager):
    first, spec = fresh(ENDLESS), fresh(ENDLESS)
    manager.submit(first)
    manager.submit(spec)
    quick = dataclasses.replace(spec, settings=SMALL.settings)
    (result,) = runs.fit_specs(bup.load_graph(spec.graph), [quick])
    runs.save(dataclasses.replace(result, spec=methods.complete(spec)), bup.load_graph(spec.graph))
    manager.cancel(first)
    job = ended(manager, spec)
    assert (job.state, job.progress.epoch) == ("done", 0)


def test_one_run_at_a_time_and_the_same_run_once(manager):
    first, second, third = fresh(ENDLESS), fresh(SMALL), fresh(SMALL)
    manager.submit(first)
    until(lambda: trains(manager, first))
    assert manager.submit(second).place == 1
    # Written otherwise, the same run: a default spelled out.
    spelled = dataclasses.replace(first, settings=(*first.settings, ("hidden", 64)))
    assert manager.submit(spelled).state == "running"
    assert manager.submit(second).place == 1
    assert manager.submit(third).place == 2
    assert [manager.find(spec).place for spec in (first, second, third)] == [0, 1, 2]
    manager.cancel(first)
    assert ended(manager, third).state == "done"
    second_job = manager.find(second)
    assert second_job.state == "done" and second_job.finished <= manager.find(third).started
    assert manager.find(second).place is None


def test_progress_grows_and_a_snapshot_does_not(manager):
    spec = fresh(ENDLESS)
    manager.submit(spec)
    until(lambda: trains(manager, spec))
    seen = [manager.find(spec)]
    for _ in range(3):
        until(lambda: manager.find(spec).progress.epoch > seen[-1].progress.epoch)
        seen.append(manager.find(spec))
    for earlier, later in pairwise(seen):
        old, new = earlier.progress, later.progress
        assert len(old.losses) == len(old.validation_nll) == old.epoch < new.epoch
        assert new.losses[: old.epoch] == old.losses
        assert new.validation_accuracy[: old.epoch] == old.validation_accuracy
        assert new.seconds > old.seconds
        assert new.seconds_left == new.seconds / new.epoch * (10_000 - new.epoch)
        assert later.started == earlier.started and later.place == 0


def test_progress_is_reported_in_batches(manager, monkeypatch):
    spec = fresh(ENDLESS)
    batches = []
    continued = jobs._continued
    monkeypatch.setattr(
        jobs, "_continued", lambda old, new: batches.append(len(new)) or continued(old, new)
    )
    manager.submit(spec)
    until(lambda: len(batches) >= 6)
    assert sum(batches) > 1.5 * len(batches), "an epoch of this graph takes far less than 0.1 s"


def test_a_waiting_run_that_is_cancelled_never_starts(manager):
    first, second, third = fresh(ENDLESS), fresh(SMALL), fresh(SMALL)
    for spec in (first, second, third):
        manager.submit(spec)
    manager.cancel(second)
    job = manager.find(second)
    assert (job.state, job.started, job.place) == ("cancelled", None, None)
    manager.cancel(first)
    assert ended(manager, third).state == "done"
    assert manager.find(second).state == "cancelled"
    assert result_of(second) is None


def test_a_training_run_that_is_cancelled_leaves_no_result_and_a_warm_process(manager):
    spec = fresh(ENDLESS)
    manager.submit(spec)
    until(lambda: trains(manager, spec))
    before = workers(os.getpid())
    manager.cancel(spec)
    job = manager.find(spec)
    assert job.state == "cancelled" and job.error is None and job.finished is not None
    manager.cancel(spec)
    # The same run again, while the process still winds down: a new job, not touched by the old.
    between = fresh(ENDLESS)
    manager.submit(between)
    assert manager.submit(spec).active
    until(lambda: trains(manager, between))
    again = manager.find(spec)
    assert (again.state, again.place, again.finished) == ("queued", 1, None)
    manager.cancel(between)
    until(lambda: trains(manager, spec))
    manager.cancel(spec)
    after = fresh(SMALL)
    manager.submit(after)
    assert ended(manager, after).state == "done"
    assert manager.find(spec).state == "cancelled"
    assert result_of(spec) is None
    assert workers(os.getpid()) == before and len(before) == 1


def test_cancelling_what_nobody_asked_for_does_nothing(manager):
    manager.cancel(fresh(SMALL))


def test_a_cancelled_run_does_not_overwrite_the_end_that_came_first(manager):
    spec = fresh(SMALL)
    manager.submit(spec)
    done = ended(manager, spec)
    manager.cancel(spec)
    assert manager.find(spec) == done


def test_impossible_settings_are_refused_before_anything_is_queued(manager):
    for settings in ({"epochs": 0}, {"epochs": 10**6}, {"hidden": 1.5}, {"speed": 1}):
        with pytest.raises(BupError):
            manager.submit(dataclasses.replace(SMALL, settings=tuple(settings.items())))
    with pytest.raises(BupError, match="no method 'magic'"):
        manager.submit(dataclasses.replace(SMALL, method="magic"))
    too_many = dataclasses.replace(fresh(SMALL), per_class=200)
    with pytest.raises(BupError, match="asked for training"):
        manager.submit(too_many, bup.load_graph(SMALL.graph))
    assert manager.find(too_many) is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"graph": "atlantis"}, "there is no graph 'atlantis'"),
        ({"per_class": 200}, "ask for fewer per class"),
        ({"left_out": (0, 1)}, "keep at least two"),
    ],
)
def test_what_only_the_graph_can_tell_fails_with_one_sentence(manager, change, sentence):
    spec = dataclasses.replace(SMALL, **change)
    manager.submit(spec)
    job = ended(manager, spec)
    assert job.state == "failed"
    assert sentence in job.error and "\n" not in job.error and "Traceback" not in job.error
    assert manager.submit(spec).active, "it can be tried again"
    ended(manager, spec)


def test_a_result_that_cannot_be_kept_fails_with_one_sentence(manager):
    spec = fresh(SMALL)
    folder = Store().path(methods.complete(spec)).parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file where the run's folder should be")
    manager.submit(spec)
    job = ended(manager, spec)
    assert job.state == "failed" and "cannot be kept" in job.error and "\n" not in job.error


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ZeroDivisionError("two\n  lines"), "failed unexpectedly: ZeroDivisionError: two lines"),
        (MemoryError(), "more memory than there is"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "more memory than there is"),
        (ValueError("x" * 10_000), "xxx…"),
    ],
)
def test_what_nobody_foresaw_is_one_sentence_for_people_and_a_traceback_in_the_log(
    monkeypatch, caplog, tmp_path, error, sentence
):
    def load_graph(name: str) -> None:
        raise error

    monkeypatch.setattr(worker, "load_graph", load_graph)
    outcome = worker._outcome(SMALL, Store(tmp_path), threading.Event(), pytest.fail)
    assert outcome["end"] == "failed"
    assert sentence in outcome["error"]
    assert "\n" not in outcome["error"] and len(outcome["error"]) <= 400
    assert type(error).__name__ in caplog.text and "Traceback" in caplog.text


def test_many_threads_asking_at_once_get_every_run_trained_once(manager):
    wanted = [fresh(SMALL) for _ in range(5)]
    start = threading.Barrier(20)

    def ask(i: int) -> Job:
        start.wait()
        return manager.submit(wanted[i % 5])

    with ThreadPoolExecutor(20) as pool:
        asked = list(pool.map(ask, range(20)))
    assert all(job.state in ("queued", "running", "done") for job in asked)
    done = [ended(manager, spec) for spec in wanted]
    assert all(job.state == "done" and job.progress.epoch == 8 for job in done)
    spans = sorted((job.started, job.finished) for job in done)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans)), "two trained at once"


def test_a_full_queue_says_so_and_still_knows_what_waits(manager):
    first, waiting = fresh(ENDLESS), [fresh(SMALL) for _ in range(6)]
    manager.submit(first)
    until(lambda: trains(manager, first))
    for spec in waiting:
        manager.submit(spec)
    with pytest.raises(BupError, match="6 runs are waiting already"):
        manager.submit(fresh(SMALL))
    assert manager.submit(waiting[-1]).place == 6
    manager.cancel(waiting[0])
    assert manager.submit(fresh(SMALL)).place == 6


def test_ended_jobs_are_forgotten_by_number_and_by_age(manager, monkeypatch):
    monkeypatch.setattr(jobs, "KEEP_JOBS", 2)
    specs = [fresh(SMALL) for _ in range(4)]
    for spec in specs:
        manager.submit(spec)
        manager.cancel(spec)
    endless = fresh(ENDLESS)
    manager.submit(endless)
    assert [manager.find(spec) is not None for spec in specs] == [False, False, True, True]
    monkeypatch.setattr(jobs, "KEEP_SECONDS", -1)
    manager.submit(specs[0])
    manager.cancel(specs[0])
    assert [manager.find(spec) for spec in specs] == [None] * 4
    assert manager.find(endless).active
