"""A run that somebody has just chosen trains at once; what was seen before stays meanwhile."""

from __future__ import annotations

import streamlit as st

import bup
from bup.graph import Graph
from bup.run.spec import Run, Spec
from dashboard.cache import run_cache
from dashboard.cache.run_cache import LoadedRun
from dashboard.session.training import training_queue, visitor_id, wait_for
from dashboard.training_queue.job import Job
from dashboard.ui import streamlit_internals
from dashboard.ui.errors import show_error


def now_seen(spec: Spec) -> None:
    """This run is on the page; the one before it is remembered, to be held against it."""
    before: Spec | None = st.session_state.get("seen")
    if before != spec:
        if before is not None and before.graph == spec.graph:
            st.session_state.previous = (
                None if streamlit_internals.is_history_navigation() else before
            )
        st.session_state.seen = spec
    st.session_state.asked = None


def seen_before(spec: Spec, graph: Graph) -> LoadedRun | None:
    """The run that this visitor saw last, if it is of the same graph and still there."""
    before: Spec | None = st.session_state.get("seen")
    return (
        run_cache.find(before, graph) if before is not None and before.graph == spec.graph else None
    )


def train(run: Run, graph: Graph) -> None:
    """Ask for the run, once, and say how it goes."""
    asked: Run | None = st.session_state.get("asked")
    if asked != run:
        if asked is not None:  # who has chosen something else does not wait for it any more
            training_queue().cancel(asked, visitor_id())
        st.session_state.asked = run
        _ask(run, graph)
    job = training_queue().find(run, visitor_id())
    if job is not None and job.active:
        wait_for([run], lambda jobs: _progress(jobs[0]))
        return
    failed = job.error if job is not None and job.state == "failed" else None
    if refused := st.session_state.pop("submit_error", None) or failed:
        show_error(refused)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("What you chose is not trained: this is still the run before.")
        st.button(
            "Train",
            icon=":material/play_arrow:",
            on_click=_ask,
            args=(run, graph, True),
            type="primary",
        )


def _ask(run: Run, graph: Graph, again: bool = False) -> None:
    try:
        training_queue().submit(run, graph, visitor_id(), again)
    except bup.BupError as error:
        st.session_state.submit_error = str(error)


def _progress(job: Job) -> None:
    progress = job.progress
    words = "getting ready"
    if job.ahead:
        words = f"waiting, {job.ahead} ahead"
    elif progress.losses:
        words = f"epoch {progress.epoch} of at most {progress.epochs}"
    with st.container(horizontal=True, vertical_alignment="center", key="training_in_place"):
        share = progress.share if progress.losses else 0.0
        st.progress(share, f"Training ({words}). Until it is done you see the run before.")
        if visitor_id() in job.askers:
            st.button(
                "Cancel",
                on_click=lambda: training_queue().cancel(job.run, visitor_id()),
                key="cancel_training",
            )
