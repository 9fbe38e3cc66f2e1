"""Training on demand as one browser session sees it: submit runs, show how they go, cancel them."""

import functools
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import streamlit as st

import bup
from bup.graph import Graph
from bup.methods import METHODS
from bup.run.spec import Run, Spec
from bup.training.fitting import run_of
from dashboard.cache import run_cache
from dashboard.cache.run_cache import LoadedRun
from dashboard.network.visitor import client
from dashboard.training_queue.job import Job
from dashboard.training_queue.local_queue import WORKERS, LocalQueue
from dashboard.training_queue.queue import TrainingQueue
from dashboard.training_queue.shared_queue import QUEUE, RemoteQueue
from dashboard.ui import streamlit_internals
from dashboard.ui.errors import show_error
from dashboard.ui.markdown import escaped
from dashboard.ui.numbers import counted

POLL_SECONDS = 0.5


@functools.cache
def training_queue() -> TrainingQueue:
    """The server's queue. Not in a Streamlit cache: a message of a browser can clear those."""
    if address := os.environ.get(QUEUE):
        return RemoteQueue(address, _is_here, run_cache.unstored.add)
    return LocalQueue(workers=WORKERS, is_here=_is_here, on_unstored=run_cache.unstored.add)


_tabs: dict[str, set[str]] = defaultdict(set)  # browser sessions of each visitor


def visitor_id() -> str:
    """The visitor of this page, the same in every tab of a browser."""
    visitor = str(client())
    if tab := streamlit_internals.session_id():
        _tabs[visitor].add(tab)
    return visitor


def _is_here(visitor: str) -> bool:
    is_open = streamlit_internals.is_active_session
    tabs = _tabs.get(visitor, set())
    tabs -= {tab for tab in set(tabs) if not is_open(tab)}
    if not tabs:
        _tabs.pop(visitor, None)
    return bool(tabs)


def submit(specs: Iterable[Spec], graph: Graph, again: bool = False) -> list[Job]:
    """Put runs into the queue; the page shows why one is refused, and it has no job.

    A run that failed or was cancelled is trained ``again`` only if the visitor asks for it.
    """
    jobs = []
    for spec in specs:
        try:
            jobs.append(training_queue().submit(run_of(spec, graph), graph, visitor_id(), again))
        except bup.BupError as error:
            show_error(error)
    return jobs


def load_or_wait(spec: Spec, graph: Graph) -> LoadedRun:
    """A run that the page cannot do without, trained if need be.

    While it trains, the page ends here with its progress; the page runs again when it is stored.
    """
    loaded_run = run_cache.find(spec, graph)
    if loaded_run is None:
        train([spec], graph)
        st.stop()
    return loaded_run


Label = Callable[[Spec], str]


def train(specs: Sequence[Spec], graph: Graph, label: Label | None = None) -> None:
    """Submit runs and show how they go; offer to try again those that failed or were cancelled."""
    jobs = submit(specs, graph)
    ended = [job for job in jobs if job.state in ("failed", "cancelled")]
    for job in ended:
        name = f"{label(job.spec)}: " if label is not None else ""
        show_error(name + (job.error or "this training was cancelled"))
    if ended:
        train_button([job.spec for job in ended], graph, "Try again", ":material/replay:")
    if others := [job.run for job in jobs if job not in ended]:
        wait_for(others, label=label)


def train_button(
    specs: Sequence[Spec], graph: Graph, label: str = "Train", icon: str = ":material/play_arrow:"
) -> None:
    """A button that submits runs, also those that failed or were cancelled before."""
    key = f"train_{run_of(specs[0], graph).digest}"
    clicked = st.button(label, type="primary", icon=icon, key=key)
    if clicked and submit(specs, graph, again=True):
        st.rerun()


@st.fragment(run_every=POLL_SECONDS)
def wait_for(
    runs: Sequence[Run],
    total: int | None = None,
    label: Label | None = None,
    note: str = "",
    below: Callable[[list[Job]], None] | None = None,
    at_end: Callable[[], None] | None = None,
) -> None:
    """Show how far the training of runs is until all have ended, then run the whole page again.

    ``total`` also counts runs that were stored before, ``label`` names a run, ``note`` follows the
    progress, and ``below`` draws more from the jobs.
    """
    try:
        found = [training_queue().find(run, visitor_id()) for run in runs]
    except bup.BupError as error:
        show_error(error)
        return
    jobs = [job for job in found if job is not None]
    if active := [job for job in jobs if job.active]:
        _show_progress(active, total or len(runs), label, note)
        if below is not None:
            below(jobs)
        return
    if at_end is not None:
        at_end()
    st.rerun()


def _show_progress(active: list[Job], total: int, label: Label | None, note: str) -> None:
    """One bar for all runs, and a button that cancels those that this visitor submitted."""
    first, done, visitor = active[0], total - len(active), visitor_id()
    words = progress_words(first)
    if total > 1:
        name = label(first.spec) if label is not None else METHODS[first.spec.method].short
        words = f"{done} of {total} runs are trained. {escaped(name)}: {words}"
    mine = [job for job in active if visitor in job.askers]
    with st.container(
        horizontal=True, vertical_alignment="center", key=f"training_progress_{first.run.digest}"
    ):
        st.progress((done + first.progress.share) / total, f"{words} · {note}" if note else words)
        if mine:
            key = f"cancel_{first.run.digest}"
            st.button("Cancel", icon=":material/stop:", on_click=_cancel, args=(mine,), key=key)
    if not mine:
        st.caption("Another visitor started this training; it goes on while someone waits for it.")


def progress_words(job: Job) -> str:
    """How far a training is, or how many are ahead of it."""
    if job.ahead:
        return f"Waiting: {counted(job.ahead, 'training')} ahead of this one"
    progress = job.progress
    if not progress.loss:
        return "Getting ready ..."
    left = progress.seconds_left
    return f"Training, epoch {progress.epoch} of at most {progress.epochs}" + (
        f", about {left:.0f} s left at most" if left is not None else ""
    )


def _cancel(jobs: Sequence[Job]) -> None:
    for job in jobs:
        training_queue().cancel(job.run, visitor_id())
