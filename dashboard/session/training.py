"""What one waits for: runs in training, maps in the making, and the fragments that look at them."""

from __future__ import annotations

import functools
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import streamlit as st

import bup
from bup.graph import Graph
from bup.run.spec import Run, Spec
from bup.training.fitting import run_of
from dashboard.cache import graphs, run_cache
from dashboard.cache.run_cache import LoadedRun
from dashboard.network.visitor import client
from dashboard.training_queue.job import Job
from dashboard.training_queue.local_queue import WORKERS, LocalQueue
from dashboard.training_queue.queue import TrainingQueue
from dashboard.training_queue.shared_queue import QUEUE, RemoteQueue
from dashboard.ui import streamlit_internals
from dashboard.ui.errors import show_error
from dashboard.ui.markdown import escaped

POLL_SECONDS = 0.5


@functools.cache
def training_queue() -> TrainingQueue:
    """The queue, this process's own or shared: no message from a browser can make it forgotten."""
    if path := os.environ.get(QUEUE):
        return RemoteQueue(path, _is_here, run_cache.hold_unstored)
    return LocalQueue(workers=WORKERS, is_here=_is_here, on_unstored=run_cache.hold_unstored)


_tabs: dict[str, set[str]] = defaultdict(set)  # browser sessions of each visitor


def visitor_id() -> str:
    """Who looks at this page, in whatever tab of a browser."""
    who = str(client())
    if tab := streamlit_internals.session_id():
        _tabs[who].add(tab)
    return who


def _is_here(visitor: str) -> bool:
    is_open = streamlit_internals.is_active_session
    tabs = _tabs.get(visitor, set())
    tabs -= {tab for tab in set(tabs) if not is_open(tab)}
    if not tabs:
        _tabs.pop(visitor, None)
    return bool(tabs)


def submit(specs: Iterable[Spec], graph: Graph, again: bool = False) -> list[Job]:
    """The jobs of these runs, started if need be; a refusal is said and left out.

    A run that failed or was cancelled is not tried ``again`` unless a person says so.
    """
    jobs = []
    for spec in specs:
        try:
            jobs.append(training_queue().submit(run_of(spec, graph), graph, visitor_id(), again))
        except bup.BupError as error:
            st.warning(escaped(error))
    return jobs


def load_or_wait(spec: Spec, graph: Graph) -> LoadedRun:
    """What is known of a run that a page cannot do without, trained if need be.

    While it waits or trains, the page ends here with its place in the queue, and runs again when
    the run is there.
    """
    loaded_run = run_cache.find(spec, graph)
    if loaded_run is not None:
        return loaded_run
    jobs = submit([spec], graph)
    if jobs and jobs[0].state == "done" and (loaded_run := run_cache.find(spec, graph)) is not None:
        return loaded_run
    for job in jobs:
        if job.active:
            wait_for([job.run], lambda jobs: progress(jobs[0]))
        else:
            show_error(job.error or "this training was cancelled")
            retry_button([spec], graph)
    st.stop()


def retry_button(specs: list[Spec], graph: Graph) -> None:
    """A button for runs that failed or were cancelled."""
    if st.button("Try again", icon=":material/replay:", key="try_again"):
        submit(specs, graph, again=True)
        st.rerun()


def progress(job: Job) -> None:
    """How far a training is, or how many are ahead of it."""
    made = job.progress
    if job.ahead:
        others = "1 training" if job.ahead == 1 else f"{job.ahead} trainings"
        st.progress(0.0, f"Waiting: {others} ahead of this one")
    elif not made.losses:
        st.progress(0.0, "Getting ready ...")
    else:
        left = made.seconds_left
        st.progress(
            made.share,
            f"Training, epoch {made.epoch} of at most {made.epochs}"
            + (f", about {left:.0f} s left at most" if left is not None else ""),
        )


Show = Callable[[list[Job]], None]
"""Draws how jobs stand while at least one of them is under way."""


@st.fragment(run_every=POLL_SECONDS)
def wait_for(runs: Sequence[Run], show: Show, at_end: Callable[[], None] | None = None) -> None:
    """Look at the jobs of these runs until all have ended, then run the whole page again."""
    try:
        jobs = [
            job for run in runs if (job := training_queue().find(run, visitor_id())) is not None
        ]
    except bup.BupError as error:
        show_error(str(error))
        return
    if any(job.active for job in jobs):
        show(jobs)
        return
    if at_end is not None:
        at_end()
    st.rerun()


@st.fragment(run_every=2 * POLL_SECONDS)
def wait_for_map(graph: Graph) -> None:
    """How far a graph's drawing is; when it is finished, the page is run again to show it."""
    layout = graphs.layout(graph)
    if layout.finished:
        st.rerun()
    st.progress(layout.share, "A first sketch of the map: it is being drawn")
