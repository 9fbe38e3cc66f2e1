"""The queue of runs, with real training processes on a small graph."""

import dataclasses
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

import bup
from bup import BupError
from bup.io import files
from bup.jobs import worker
from bup.results.store import Store
from bup.training import fitting
from dashboard.training_queue import local_queue as jobs
from dashboard.training_queue.job import SHORT, Job, TrainingProgress
from tests.support.folder_files import put
from tests.support.jobs import (
    ENDLESS,
    SMALL,
    ask,
    ended,
    fresh,
    is_training,
    own_workers,
    result_of,
    run_of,
    until,
)

pytestmark = pytest.mark.usefixtures("nothing_left_to_do")


def test_a_run_trains_to_the_end_and_its_result_is_in_the_store(queue):
    run = fresh(SMALL)
    assert queue.find(run) is None
    before = time.time()
    job = ask(queue, run)
    assert job.active and job.run == run
    job = ended(queue, run)
    assert (job.state, job.error, job.ahead) == ("done", None, None)
    assert before <= job.started <= job.finished <= time.time()
    result = result_of(run)
    assert result.spec == job.spec
    assert job.progress.epoch == job.progress.epochs == 8
    assert job.progress.loss == tuple(result.history["loss"])
    assert job.progress.validation_nll == tuple(result.history["validation_nll"])
    assert job.progress.validation_accuracy == tuple(result.history["validation_accuracy"])
    assert job.progress.seconds_left == 0


def test_training_in_the_background_gives_what_training_here_gives(queue):
    run = fresh(SMALL)
    ask(queue, run)
    assert ended(queue, run).state == "done"
    (here,) = fitting.fit_specs(bup.load_graph(run.spec.graph), [run.spec])
    assert (result_of(run).probs == here.probs).all()


def test_a_run_in_the_store_is_done_at_once_and_one_that_was_damaged_is_trained_again(queue):
    run = fresh(SMALL)
    (result,) = fitting.fit_specs(bup.load_graph(run.spec.graph), [run.spec])
    fitting.save(result, bup.load_graph(run.spec.graph))
    job = ask(queue, run)
    assert (job.state, job.started) == ("done", None)
    Store().path(run).write_bytes(b"damaged")
    assert ask(queue, run).active
    assert ended(queue, run).state == "done"
    assert result_of(run) is not None


def test_a_result_that_came_while_the_run_waited_is_not_trained_again(queue):
    first, run = fresh(ENDLESS), fresh(ENDLESS)
    ask(queue, first)
    ask(queue, run)
    graph = bup.load_graph(run.spec.graph)
    quick = dataclasses.replace(run.spec, settings=SMALL.settings)
    (result,) = fitting.fit_specs(graph, [quick])
    fitting.save(dataclasses.replace(result, spec=run.spec), graph)
    queue.cancel(first)
    job = ended(queue, run)
    assert (job.state, job.progress.epoch) == ("done", 0)


def test_one_run_at_a_time_and_the_same_run_once(queue):
    first, second, third = fresh(ENDLESS), fresh(SMALL), fresh(SMALL)
    ask(queue, first)
    until(lambda: is_training(queue, first))
    assert ask(queue, second).ahead == 1
    # Written otherwise, the same run: a default spelled out.
    settings = (*ENDLESS.settings, ("hidden", 64))
    spelled = dataclasses.replace(ENDLESS, seed=first.spec.seed, settings=settings)
    assert ask(queue, run_of(spelled)).state == "running"
    assert ask(queue, second).ahead == 1
    assert ask(queue, third).ahead == 2
    assert [queue.find(run).ahead for run in (first, second, third)] == [0, 1, 2]
    queue.cancel(first)
    assert ended(queue, third).state == "done"
    second_job = queue.find(second)
    assert second_job.state == "done" and second_job.finished <= queue.find(third).started
    assert queue.find(second).ahead is None


def test_progress_grows_and_a_snapshot_does_not(queue):
    run = fresh(ENDLESS)
    ask(queue, run)
    until(lambda: is_training(queue, run))
    seen = [queue.find(run)]
    for _ in range(3):
        until(lambda: queue.find(run).progress.epoch > seen[-1].progress.epoch)
        seen.append(queue.find(run))
    for earlier, later in pairwise(seen):
        old, new = earlier.progress, later.progress
        assert len(old.loss) == len(old.validation_nll) == old.epoch < new.epoch
        assert new.loss[: old.epoch] == old.loss
        assert new.validation_accuracy[: old.epoch] == old.validation_accuracy
        assert new.seconds > old.seconds
        assert new.seconds_left == new.seconds / new.epoch * (10_000 - new.epoch)
        assert later.started == earlier.started and later.ahead == 0


def test_progress_is_reported_in_batches(queue, monkeypatch):
    run = fresh(ENDLESS)
    batches = []
    extended = TrainingProgress.extended
    monkeypatch.setattr(
        TrainingProgress,
        "extended",
        lambda progress, new: batches.append(len(new)) or extended(progress, new),
    )
    ask(queue, run)
    until(lambda: len(batches) >= 6)
    assert sum(batches) > 1.5 * len(batches), "an epoch of this graph takes far less than 0.1 s"


def test_a_waiting_run_that_is_cancelled_never_starts(queue):
    first, second, third = fresh(ENDLESS), fresh(SMALL), fresh(SMALL)
    ask(queue, first)
    until(lambda: is_training(queue, first))
    for run in (second, third):
        ask(queue, run)
    queue.cancel(second)
    job = queue.find(second)
    assert (job.state, job.started, job.ahead) == ("cancelled", None, None)
    queue.cancel(first)
    assert ended(queue, third).state == "done"
    assert queue.find(second).state == "cancelled"
    assert result_of(second) is None


def test_a_training_run_that_is_cancelled_leaves_no_result_and_a_warm_process(queue):
    run = fresh(ENDLESS)
    ask(queue, run)
    until(lambda: is_training(queue, run))
    before = own_workers()
    queue.cancel(run)
    job = queue.find(run)
    assert job.state == "cancelled" and job.error is None and job.finished is not None
    queue.cancel(run)
    # The same run again, while the process still winds down: a new job, not touched by the old.
    between = fresh(ENDLESS)
    ask(queue, between)
    assert ask(queue, run).active
    until(lambda: is_training(queue, between))
    again = queue.find(run)
    assert (again.state, again.ahead, again.finished) == ("queued", 1, None)
    queue.cancel(between)
    until(lambda: is_training(queue, run))
    queue.cancel(run)
    after = fresh(SMALL)
    ask(queue, after)
    assert ended(queue, after).state == "done"
    assert queue.find(run).state == "cancelled"
    assert result_of(run) is None
    assert own_workers() == before and len(before) == 1


def test_cancelling_what_nobody_asked_for_does_nothing(queue):
    queue.cancel(fresh(SMALL))


def test_a_cancelled_run_does_not_overwrite_the_end_that_came_first(queue):
    run = fresh(SMALL)
    ask(queue, run)
    done = ended(queue, run)
    queue.cancel(run)
    assert queue.find(run) == done


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"per_class": 200}, "asked for training"),
        ({"left_out": (0, 1)}, "keep at least two"),
    ],
)
def test_an_impossible_split_is_refused_before_anything_is_queued(queue, change, sentence):
    run = run_of(dataclasses.replace(SMALL, **change))
    with pytest.raises(BupError, match=sentence):
        ask(queue, run)
    assert queue.find(run) is None


def test_a_graph_that_changed_on_disk_fails_its_run_once_and_trains_as_another(queue, tmp_path):
    """The page that asked and the process that trains read the files at different times."""
    people = "".join(f"{name},{'red' if name in 'abc' else 'blue'},1\n" for name in "abcdef")
    put(tmp_path, nodes="id,label,x\n" + people)
    name = f"folder:{tmp_path}"
    spec = dataclasses.replace(
        SMALL, graph=name, per_class=1, validation=1, test=None, settings=(("epochs", 2),)
    )
    before = bup.load_graph(name)
    run = fitting.run_of(spec, before)
    put(tmp_path, edges="source,target\na,b\nc,d\n")
    queue.submit(run, before)
    job = ended(queue, run)
    assert job.state == "failed" and "have changed" in job.error and "\n" not in job.error
    again = run_of(spec)
    assert again != run and queue.find(again) is None
    ask(queue, again)
    assert ended(queue, again).state == "done"
    assert result_of(again) is not None
    assert Store().has_on_other_content(run) and result_of(again).spec == run.spec


def test_what_failed_stays_so_until_a_person_asks_again(queue, tmp_path):
    people = "".join(f"{name},{'red' if name in 'abc' else 'blue'},1\n" for name in "abcdef")
    put(tmp_path, nodes="id,label,x\n" + people)
    spec = dataclasses.replace(
        SMALL, graph=f"folder:{tmp_path}", per_class=1, validation=1, test=None
    )
    graph = bup.load_graph(spec.graph)
    put(tmp_path, edges="source,target\na,b\nc,d\n")
    run = fitting.run_of(spec, graph)
    queue.submit(run, graph)
    failed = ended(queue, run)
    assert failed.state == "failed"
    assert queue.submit(run, graph, "somebody else") == failed, "a page that looks again"
    assert queue.submit(run, graph, again=True).active
    ended(queue, run)


def test_a_result_that_cannot_be_kept_is_handed_over(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    handed = []
    queue = jobs.LocalQueue(Store(tmp_path / "file"), on_unstored=lambda *what: handed.append(what))
    run = fresh(SMALL)
    ask(queue, run)
    assert ended(queue, run).state == "done"
    ((of, content, why),) = handed
    result = bup.Result.unpack(run.spec, files.unpack(content))
    (here,) = fitting.fit_specs(bup.load_graph(run.spec.graph), [run.spec])
    assert of == run and (result.probs == here.probs).all()
    assert "cannot be kept" in why and "\n" not in why
    queue.close()


def test_who_did_not_ask_cannot_cancel_and_who_looks_keeps_it_going(queue):
    run, second = fresh(ENDLESS), fresh(SMALL)
    ask(queue, run, "ann")
    assert queue.find(run, "bob").askers == {"ann"}
    queue.cancel(run, "eve")
    assert queue.find(run).active
    queue.cancel(run, "ann")
    assert queue.find(run).active, "bob is waiting for it"
    ask(queue, second, "ann")
    queue.cancel(second, "ann")
    assert queue.find(second).state == "cancelled"
    ask(queue, run)


def test_a_run_that_nobody_waits_for_leaves_the_queue(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "WATCH", 0.05)
    monkeypatch.setattr(jobs, "AWAY", 0.1)
    here = {"ann", "bob"}
    queue = jobs.LocalQueue(Store(tmp_path), is_here=here.__contains__)
    run = fresh(ENDLESS)
    ask(queue, run, "ann")
    queue.find(run, "bob")
    here.remove("ann")
    time.sleep(0.5)
    assert queue.find(run).active
    here.remove("bob")
    until(lambda: queue.find(run).state == "cancelled", 20)
    queue.close()


def test_small_runs_of_others_pass_the_large_ones_of_one(queue):
    large = [fresh(ENDLESS) for _ in range(4)]
    for run in large:
        ask(queue, run, "greedy")
    until(lambda: is_training(queue, large[0]))
    assert [queue.find(run).ahead for run in large] == [0, 1, 2, 3], "as they were asked for"
    small = fresh(SMALL)
    assert ask(queue, small, "modest").ahead == 1
    same = fresh(ENDLESS)
    assert ask(queue, same, "another").ahead == 2, "who has had nothing yet comes first"
    for run in large:
        queue.cancel(run, "greedy")
    queue.cancel(same, "another")
    assert ended(queue, small).state == "done"


def test_new_names_at_one_address_do_not_pass_who_is_elsewhere(queue):
    first, *more = (fresh(ENDLESS) for _ in range(4))
    ask(queue, first, "eve1@10.0.0.1")
    until(lambda: queue.find(first).state == "running")
    for number, run in enumerate(more):
        ask(queue, run, f"eve{number + 2}@10.0.0.1")
    honest = fresh(ENDLESS)
    assert ask(queue, honest, "honest@10.0.0.2").ahead == 1


def test_a_short_run_does_not_wait_for_a_long_one(tmp_path):
    queue = jobs.LocalQueue(Store(tmp_path), workers=2)
    long, waiting, short = fresh(ENDLESS), fresh(ENDLESS), fresh(SMALL)
    for run in (long, waiting):
        queue.enter(run, SHORT + 1, visitor="greedy", again=True)
    until(lambda: is_training(queue, long))
    queue.enter(short, SHORT, visitor="modest", again=True)
    assert queue.find(waiting).ahead == 1, "the short one is not before it"
    assert ended(queue, short).state == "done"
    assert [queue.find(run).state for run in (long, waiting)] == ["running", "queued"]
    queue.cancel(long, "greedy")
    until(lambda: is_training(queue, waiting))
    queue.close()


def test_what_costs_too_much_is_refused_with_the_limit_and_the_command(queue, monkeypatch):
    monkeypatch.setenv("BUP_RUN_SECONDS", "30")
    run = fresh(ENDLESS)
    with pytest.raises(BupError, match=r"allows 30 s.*bup fit --graph synthetic"):
        ask(queue, run)
    assert queue.find(run) is None
    monkeypatch.setenv("BUP_RUN_SECONDS", "100000")
    monkeypatch.setenv("BUP_VISITOR_SECONDS", "90")
    ask(queue, run, "greedy")
    with pytest.raises(BupError, match="of your runs are waiting already"):
        ask(queue, fresh(ENDLESS), "greedy")
    ask(queue, other := fresh(ENDLESS), "another")
    queue.cancel(run, "greedy")
    queue.cancel(other, "another")


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
    outcome = worker.run_task([run_of(SMALL)], Store(tmp_path), threading.Event(), pytest.fail)
    assert outcome["end"] == "failed"
    assert sentence in outcome["error"]
    assert "\n" not in outcome["error"] and len(outcome["error"]) <= 400
    assert type(error).__name__ in caplog.text and "Traceback" in caplog.text


def test_many_threads_asking_at_once_get_every_run_trained_once(queue):
    wanted = [fresh(SMALL) for _ in range(5)]
    start = threading.Barrier(20)
    graph = bup.load_graph(SMALL.graph)  # beforehand: whoever asks late finds a run in the store

    def ask_one(i: int) -> Job:
        start.wait()
        return queue.submit(wanted[i % 5], graph, "", again=True)

    with ThreadPoolExecutor(20) as pool:
        asked = list(pool.map(ask_one, range(20)))
    assert all(job.state in ("queued", "running", "done") for job in asked)
    done = [ended(queue, run) for run in wanted]
    assert all(job.state == "done" and job.progress.epoch == 8 for job in done)
    spans = sorted((job.started, job.finished) for job in done)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans)), "two trained at once"


def test_ended_jobs_are_forgotten_by_number_and_by_age(queue, monkeypatch):
    monkeypatch.setattr(jobs, "KEEP_JOBS", 2)
    asked = [fresh(SMALL) for _ in range(4)]
    for run in asked:
        ask(queue, run)
        queue.cancel(run)
    endless = fresh(ENDLESS)
    ask(queue, endless)
    assert [queue.find(run) is not None for run in asked] == [False, False, True, True]
    monkeypatch.setattr(jobs, "KEEP_SECONDS", -1)
    ask(queue, asked[0])
    queue.cancel(asked[0])
    assert [queue.find(run) for run in asked] == [None] * 4
    assert queue.find(endless).active
