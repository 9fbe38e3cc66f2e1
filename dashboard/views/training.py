"""In place of a page whose run is not trained yet: train it on demand, and see how it goes."""

from __future__ import annotations

import streamlit as st

import bup
from bup.graph import Graph
from bup.methods import METHODS, complete
from bup.results import Result
from bup.spec import Spec
from dashboard import shelf, state
from dashboard.figures.training import curves_figure
from dashboard.jobs.job import Job
from dashboard.problems import problem
from dashboard.views.waiting import manager, wait_for


def result_or_training(spec: Spec, graph: Graph) -> Result | None:
    """The run's result; None while it has to be trained first."""
    found = shelf.result(spec)
    if found is None:  # a split that cannot be made is explained before anybody trains
        bup.make_split(graph, spec.per_class, spec.validation, spec.test, spec.left_out, spec.seed)
    return found


def training_panel(spec: Spec, graph: Graph) -> None:
    """In place of a page: offer to train the run, or show how its training goes."""
    st.title("This model has not been trained yet")
    st.markdown(
        f"**{METHODS[spec.method].short}** on **{state.graph_label(spec.graph)}**, "
        f"{spec.per_class} labelled {graph.noun.many} per class, seed {spec.seed}"
        + (
            f", without {', '.join(graph.class_names[c] for c in spec.left_out)}"
            if spec.left_out
            else ""
        )
        + ". Training takes seconds on a small graph; the result is kept, so next time it is here "
        "at once."
    )
    METHODS[spec.method].check(graph)
    job = manager().find(spec)
    if (job is None and _is_first_visit(spec)) or (job is not None and job.state == "done"):
        # Done, but its result is gone or damaged: the manager looks again, and trains if need be.
        job = manager().submit(spec, graph)
    if job is None or job.state in ("failed", "cancelled"):
        if job is not None and job.state == "failed":
            problem(job.error or "training failed")
        st.button(
            "Train", type="primary", icon=":material/play_arrow:", on_click=_submit, args=(spec,)
        )
        if refused := st.session_state.pop("submit_error", None):
            problem(refused)
        return
    wait_for([spec], lambda jobs: _show_progress(jobs[0]))


def _is_first_visit(spec: Spec) -> bool:
    """Whoever opens the app for the first time sees a model at work without a click."""
    return spec.method == Spec.method and spec == _untouched(spec)


def _untouched(spec: Spec) -> Spec:
    settings = tuple(METHODS[spec.method].opens_with.items())
    return complete(
        Spec(graph=spec.graph, validation=spec.validation, test=spec.test, settings=settings)
    )


def _submit(spec: Spec) -> None:
    try:
        manager().submit(spec)
    except bup.BupError as error:
        st.session_state.submit_error = str(error)


def _show_progress(job: Job) -> None:
    _show_curves(job)
    st.button(
        "Cancel",
        icon=":material/stop:",
        on_click=lambda: manager().cancel(job.spec),
        key="cancel_training",
    )


def _show_curves(job: Job) -> None:
    progress = job.progress
    if job.state == "queued":
        ahead = job.place or 0
        st.progress(0.0, f"Waiting: {ahead} training{'s' if ahead != 1 else ''} ahead of this one")
        return
    if not progress.losses:
        st.progress(0.0, "Starting ...")
        return
    left = progress.seconds_left
    st.progress(
        progress.share,
        f"Epoch {progress.epoch} of at most {progress.epochs}"
        + (f", about {left:.0f} s left at most" if left is not None else ""),
    )
    st.plotly_chart(
        curves_figure(
            progress.losses,
            progress.validation_nll,
            progress.validation_accuracy,
            None,
            state.theme(),
            progress.epochs,
        ),
        width="stretch",
        theme=None,
        key="training_curves",
        config={"displayModeBar": False},
    )
