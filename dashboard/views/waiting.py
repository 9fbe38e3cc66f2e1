"""What one waits for: runs in training, maps in the making, and the fragments that look at them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import streamlit as st

import bup
from bup.graph import Graph
from bup.runs import run_of
from bup.spec import Run, Spec
from dashboard import graphs
from dashboard.jobs.job import Job
from dashboard.jobs.manager import Manager
from dashboard.markdown import escaped

POLL_SECONDS = 0.5


@st.cache_resource(show_spinner=False)
def manager() -> Manager:
    return Manager()


def ask_for(specs: Iterable[Spec], graph: Graph) -> list[Job]:
    """The jobs of these runs, started if need be; a refusal is said and left out."""
    jobs = []
    for spec in specs:
        try:
            jobs.append(manager().submit(run_of(spec, graph), graph))
        except bup.BupError as error:
            st.warning(escaped(error))
    return jobs


Show = Callable[[list[Job]], None]
"""Draws how jobs stand while at least one of them is under way."""


@st.fragment(run_every=POLL_SECONDS)
def wait_for(runs: Sequence[Run], show: Show, at_end: Callable[[], None] | None = None) -> None:
    """Look at the jobs of these runs until all have ended, then run the whole page again."""
    jobs = [job for run in runs if (job := manager().find(run)) is not None]
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
