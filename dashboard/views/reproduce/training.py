"""Train a small part of a table from the page."""

from collections.abc import Collection

import streamlit as st

import bup
from bup.experiments import PlannedRun, ResearchQuestion
from bup.graph import Graph
from bup.methods import METHODS
from bup.run.spec import Run, Spec
from dashboard.session.training import submit, training_queue, wait_for
from dashboard.training_queue.job import Job
from dashboard.ui.markdown import escaped
from dashboard.ui.numbers import counted

MOST_RERUNS = 3  # that a visitor may train from here; more are for the command line


def offer_reruns(graph: Graph, specs: list[Spec], trained: Collection[int]) -> None:
    """A button that trains the next few reruns of one cell here."""
    missing = [spec for spec in specs if spec.seed not in trained][:MOST_RERUNS]
    busy = bool(st.session_state.get("reproduce_waiting"))
    label = f"Train {counted(len(missing), 'rerun')} of it here"
    if missing and st.button(label, icon=":material/play_arrow:", disabled=busy):
        _submit(missing, graph)


def _submit(specs: list[Spec], graph: Graph) -> None:
    st.session_state.pop("reproduce_trained", None)
    st.session_state.reproduce_waiting = [job.run for job in submit(specs, graph, again=True)]


def start_cell(question: ResearchQuestion, graph: Graph, planned: list[PlannedRun]) -> None:
    """A small reproduction, trained in the background by the server."""
    st.header("Train some of it here")
    sizes = list(dict.fromkeys(run.per_class for run in planned))
    variants = list(dict.fromkeys(run.variant for run in planned))
    with st.form("reproduce_form"):
        left, middle, right = st.columns([1, 2, 1])
        size = left.selectbox(
            "Labels per class", sizes, format_func=lambda n: str(n) if n else "as its split says"
        )
        chosen = middle.multiselect("Methods", variants, default=variants[:1])
        reruns = right.number_input("Reruns", 1, MOST_RERUNS, 1)
        submitted = st.form_submit_button("Train", type="primary", icon=":material/play_arrow:")
    seeds = range(question.first_seed, question.first_seed + int(reruns))
    specs = [
        run.spec
        for run in planned
        if run.per_class == size and run.variant in chosen and run.spec.seed in seeds
    ]
    if submitted:
        _submit(specs, graph)
    if waiting := st.session_state.get("reproduce_waiting"):
        wait_for(waiting, below=_show_failures, at_end=_trained)
    elif trained := st.session_state.get("reproduce_trained"):
        _show_outcome(trained)


def _trained() -> None:
    st.session_state.reproduce_trained = st.session_state.pop("reproduce_waiting")


def _show_outcome(runs: list[Run]) -> None:
    _show_failures([job for run in runs if (job := training_queue().find(run)) is not None])
    store = bup.Store()
    stored = sum(store.path(run).exists() for run in runs)
    st.success(f"{stored} of {len(runs)} runs are in the table.")


def _show_failures(jobs: list[Job]) -> None:
    failed = [job for job in jobs if job.state == "failed"]
    for job in failed:
        name = METHODS[job.spec.method].short
        st.warning(escaped(f"{name}, seed {job.spec.seed}: {job.error}"))
