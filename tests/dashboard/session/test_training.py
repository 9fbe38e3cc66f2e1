"""Looking at jobs until they end, without training anything."""

import dataclasses

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from bup.run.spec import Run, Spec
from dashboard.session import training
from dashboard.training_queue.job import Job, TrainingProgress
from dashboard.training_queue.shared_queue import QUEUE, RemoteQueue

ONE, TWO = Run(Spec(seed=1), ""), Run(Spec(seed=2), "")


class Jobs:
    """As much of a queue as waiting needs."""

    def __init__(self, *jobs: Job) -> None:
        self.jobs = {job.run: job for job in jobs}

    def find(self, run: Run, visitor: str | None = None) -> Job | None:
        return self.jobs.get(run)

    def end(self, run: Run) -> None:
        self.jobs[run] = dataclasses.replace(self.jobs[run], state="done")


def page() -> None:
    import streamlit as st

    from bup.run.spec import Run, Spec
    from dashboard.session.training import wait_for

    if "ended" in st.session_state:
        st.success("all there")
    else:
        wait_for(
            [Run(Spec(seed=1), ""), Run(Spec(seed=2), "")],
            below=lambda jobs: st.text(f"{[job.state for job in jobs]}"),
            at_end=lambda: st.session_state.update(ended=True),
        )


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_function(page)


def test_a_page_waits_for_all_and_then_runs_again(app, monkeypatch):
    jobs = Jobs(Job(ONE, "running"), Job(TWO, "queued"))
    monkeypatch.setattr(training, "training_queue", lambda: jobs)
    assert app.run().text[0].value == "['running', 'queued']"
    jobs.end(ONE)
    assert app.run().text[0].value == "['done', 'queued']" and not app.success
    jobs.end(TWO)
    assert app.run().success[0].value == "all there"
    assert not app.exception


def test_a_job_that_is_forgotten_is_not_waited_for(app, monkeypatch):
    monkeypatch.setattr(training, "training_queue", lambda: Jobs())
    assert app.run().success and not app.exception


def test_no_message_makes_the_server_forget_its_queue(monkeypatch):
    made = []
    monkeypatch.setattr(training, "LocalQueue", lambda **_: made.append("a queue") or object())
    training.training_queue.cache_clear()
    try:
        before = training.training_queue()
        st.cache_resource.clear()  # what a browser's clear_cache message does
        st.cache_data.clear()
        assert training.training_queue() is before and made == ["a queue"]
    finally:
        training.training_queue.cache_clear()


def test_a_process_among_several_asks_the_queue_that_they_share(monkeypatch, tmp_path, app):
    monkeypatch.setenv(QUEUE, str(tmp_path / "nobody"))
    training.training_queue.cache_clear()
    try:
        assert isinstance(training.training_queue(), RemoteQueue)
        app.run()  # whoever kept it has gone: a sentence, no traceback
        assert "start the server again" in app.error[0].value and not app.exception
    finally:
        training.training_queue.cache_clear()


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (0, "Getting ready ..."),
        (1, "Waiting: 1 training ahead of this one"),
        (2, "Waiting: 2 trainings ahead of this one"),
    ],
)
def test_who_waits_for_nobody_is_not_told_to_wait(ahead, words):
    assert training.progress_words(Job(ONE, "queued", ahead=ahead)) == words


def test_who_submitted_runs_may_cancel_them_and_sees_how_many_are_trained(app, monkeypatch):
    visitor, cancelled = "ann", []
    jobs = Jobs(Job(ONE, "done"), Job(TWO, "running", askers=frozenset([visitor])))
    jobs.cancel = lambda run, visitor: cancelled.append((run, visitor))
    monkeypatch.setattr(training, "training_queue", lambda: jobs)
    monkeypatch.setattr(training, "visitor_id", lambda: visitor)
    words = app.run().get("progress")[0].proto.text
    assert words == "1 of 2 runs are trained. BUP: Getting ready ..."
    app.button[0].click().run()
    assert cancelled == [(TWO, "ann")] and not app.exception
    monkeypatch.setattr(training, "visitor_id", lambda: "bob")
    assert not app.run().button and "Another visitor" in app.caption[0].value


def test_the_share_of_the_way():
    assert TrainingProgress().share == 0
    assert TrainingProgress(epoch=5, epochs=20).share == 0.25
