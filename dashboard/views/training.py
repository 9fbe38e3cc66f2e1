"""In place of a page whose run is not trained yet: train it on demand, and see how it goes."""

from __future__ import annotations

import streamlit as st

import bup
from bup.graph import Graph
from bup.methods import METHODS, complete
from bup.run.spec import Run, Spec
from bup.run.splits import split_of
from dashboard.cache import run_cache
from dashboard.cache.run_cache import LoadedRun
from dashboard.figures.training import curves_figure
from dashboard.session import run_link, training
from dashboard.session.training import submit, training_queue, visitor_id, wait_for
from dashboard.session.view import current_theme
from dashboard.training_queue.job import Job
from dashboard.ui.errors import show_error
from dashboard.ui.markdown import escaped
from dashboard.ui.wording import setting_title


def known_or_possible(spec: Spec, graph: Graph) -> LoadedRun | None:
    """What is known of a run; None while it has to be trained first.

    A run that cannot be trained is refused here, before anybody tries.
    """
    found = run_cache.find(spec, graph)
    if found is None:
        split_of(graph, spec)
        METHODS[spec.method].check(graph)
    return found


def training_panel(run: Run, graph: Graph) -> None:
    """In place of a page: offer to train the run, or show how its training goes."""
    spec = run.spec
    changed = bup.Store().has_on_other_content(run)
    job = training_queue().find(run, visitor_id())
    # Done, but its result is gone or damaged: the manager looks again, and trains if need be.
    lost = job is not None and job.state == "done"
    asked_in_vain = False
    head = st.container()
    if lost or (job is None and not changed and _starts_by_itself(spec)):
        jobs = submit([spec], graph)
        asked_in_vain, job = not jobs, jobs[0] if jobs else None
    with head:
        _told(spec, graph, job is not None and job.active)
        if changed:
            st.info(
                "The graph's files have changed since this model was trained. What it learned "
                "belongs to the graph as it was: train it again on the graph as it is now.",
                icon=":material/history:",
            )
    if asked_in_vain:  # and was told why
        return
    if job is None or job.state in ("failed", "cancelled"):
        if job is not None and job.state == "failed":
            show_error(job.error or "training failed")
        st.button(
            "Train",
            type="primary",
            icon=":material/play_arrow:",
            on_click=_submit,
            args=(run, graph),
        )
        if refused := st.session_state.pop("submit_error", None):
            show_error(refused)
        return
    wait_for([run], lambda jobs: _show_progress(jobs[0]))


def _told(spec: Spec, graph: Graph, at_work: bool) -> None:
    """Which model this is about, with all that somebody changed."""
    st.title("This model is being trained" if at_work else "This model has not been trained yet")
    st.markdown(
        f"**{METHODS[spec.method].short}** on **{escaped(run_link.graph_title(spec.graph))}**, "
        + (
            f"split {spec.split}"
            if spec.split
            else f"{spec.per_class} labelled {graph.noun.many} per class"
        )
        + f", seed {spec.seed}"
        + (
            f", without {escaped(', '.join(graph.class_names[c] for c in spec.left_out))}"
            if spec.left_out
            else ""
        )
        + "".join(f", {escaped(words)}" for words in _changed(spec, graph))
        + ". Training takes seconds on a small graph; the result is kept, so next time it is here "
        "at once."
    )


def _changed(spec: Spec, graph: Graph) -> list[str]:
    """The settings that somebody changed, in words: ``Dropout rate: 0.3``."""
    own = f"{spec.method}."
    return [
        f"{setting_title(key.removeprefix(own))}: {value}"
        for key, value in run_link.parameters(spec, graph)
        if key.startswith(own)
    ]


def _starts_by_itself(spec: Spec) -> bool:
    """Whoever opens the app for the first time sees a model at work without a click."""
    if METHODS[spec.method].is_imported:  # nothing to train: a file is read
        return True
    return spec.method == Spec.method and spec == _untouched(spec)


def _untouched(spec: Spec) -> Spec:
    settings = tuple(METHODS[spec.method].app_defaults.items())
    return complete(
        Spec(graph=spec.graph, validation=spec.validation, test=spec.test, settings=settings)
    )


def _submit(run: Run, graph: Graph) -> None:
    try:
        training_queue().submit(run, graph, visitor_id(), again=True)
    except bup.BupError as error:
        st.session_state.submit_error = str(error)


def _show_progress(job: Job) -> None:
    _show_curves(job)
    if visitor_id() in job.askers:
        st.button(
            "Cancel",
            icon=":material/stop:",
            on_click=lambda: training_queue().cancel(job.run, visitor_id()),
            key="cancel_training",
        )
    else:
        st.caption("Somebody else asked for this training; it goes on while anybody waits for it.")


def _show_curves(job: Job) -> None:
    training.progress(job)
    progress = job.progress
    if not progress.losses:
        return
    st.plotly_chart(
        curves_figure(
            progress.losses,
            progress.validation_nll,
            progress.validation_accuracy,
            None,
            current_theme(),
            progress.epochs,
        ),
        width="stretch",
        theme=None,
        key="training_curves",
        config={"displayModeBar": False},
    )
