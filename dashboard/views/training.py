"""The run that the sidebar chooses: shown if it is stored, else trained on demand.

Until it is trained, the page keeps the run that it showed before, if that is of the same graph.
"""

import streamlit as st

import bup
from bup.graph import Graph
from bup.methods import METHODS
from bup.run.spec import Run, Spec
from bup.run.splits import split_of
from bup.training.fitting import run_of
from dashboard.cache import run_cache
from dashboard.cache.run_cache import LoadedRun
from dashboard.figures.training import curves_figure
from dashboard.session import run_link
from dashboard.session.training import (
    submit,
    train_button,
    training_queue,
    visitor_id,
    wait_for,
)
from dashboard.session.view import current_theme
from dashboard.training_queue.job import Job
from dashboard.ui import streamlit_internals
from dashboard.ui.errors import show_error
from dashboard.ui.markdown import escaped
from dashboard.ui.wording import setting_title


def load_or_train(spec: Spec, graph: Graph) -> LoadedRun | None:
    """The run to show: this one, the one before while it trains, or None where there is neither.

    Raises BupError for a run that cannot be trained.
    """
    loaded_run = run_cache.find(spec, graph)
    if loaded_run is not None:
        _remember(spec)
        if why := loaded_run.unstored_reason:
            st.warning(escaped(f"This model is trained and shown, but {why}."))
        if warning := loaded_run.guessing_warning:
            st.warning(escaped(warning))
        return loaded_run
    split_of(graph, spec)
    METHODS[spec.method].check(graph)
    last: Spec | None = st.session_state.get("last_spec")
    if last is not None and last.graph == spec.graph:
        loaded_run = run_cache.find(last, graph)
    if loaded_run is None:
        _train_in_place_of_page(run_of(spec, graph), graph)
    else:
        _train_beside_page(run_of(spec, graph), graph)
    return loaded_run


def _remember(spec: Spec) -> None:
    """The page shows this run; it offers to compare it with the one that it showed before."""
    last: Spec | None = st.session_state.get("last_spec")
    if last != spec:
        if last is not None and last.graph == spec.graph:
            back = streamlit_internals.is_history_navigation()
            st.session_state.previous = None if back else last
        st.session_state.last_spec = spec
    st.session_state.submitted_run = None


def _train_beside_page(run: Run, graph: Graph) -> None:
    """Submit the run once, and cancel the one that the visitor chose before."""
    before: Run | None = st.session_state.get("submitted_run")
    if before != run:
        if before is not None:
            training_queue().cancel(before, visitor_id())
        st.session_state.submitted_run = run
        submit([run.spec], graph)
    job = training_queue().find(run, visitor_id())
    if job is not None and job.active:
        with st.container(key="training_in_place"):
            wait_for([run], note="until it is done you see the run before")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("What you chose is not trained: this is still the run before.")
        _offer(job, run, graph)


def _train_in_place_of_page(run: Run, graph: Graph) -> None:
    """Offer to train the run, or show how its training goes."""
    changed = bup.Store().has_on_other_content(run)
    job = training_queue().find(run, visitor_id())
    # A run that is done but not stored is lost or damaged: the queue trains it again.
    starts = job is None and not changed and _starts_by_itself(run.spec, graph)
    refused = False
    head = st.container()
    if starts or (job is not None and job.state == "done"):
        jobs = submit([run.spec], graph)
        refused, job = not jobs, jobs[0] if jobs else None
    with head:
        _describe(run.spec, graph, job is not None and job.active)
        if changed:
            st.info(
                "The graph's files have changed since this model was trained. What it learned "
                "belongs to the graph as it was: train it again on the graph as it is now.",
                icon=":material/history:",
            )
    if job is not None and job.state not in ("failed", "cancelled"):
        wait_for([run], below=_show_curves)
    elif not refused:
        _offer(job, run, graph)


def _offer(job: Job | None, run: Run, graph: Graph) -> None:
    if job is not None and job.state == "failed":
        show_error(job.error or "training failed")
    train_button([run.spec], graph)


def _starts_by_itself(spec: Spec, graph: Graph) -> bool:
    """A first visitor sees a model without a click; predictions from a file need no training."""
    return METHODS[spec.method].is_imported or spec == run_link.default_spec(graph)


def _describe(spec: Spec, graph: Graph, active: bool) -> None:
    """Which model this is, with all settings that the visitor changed."""
    st.title("This model is being trained" if active else "This model has not been trained yet")
    own = f"{spec.method}."
    parts = [
        f"**{METHODS[spec.method].short}** on **{escaped(run_link.graph_title(spec.graph))}**",
        f"split {spec.split}"
        if spec.split
        else f"{spec.per_class} labelled {graph.noun.many} per class",
        f"seed {spec.seed}",
    ]
    if spec.left_out:
        parts.append(f"without {escaped(', '.join(graph.class_names[c] for c in spec.left_out))}")
    parts += [
        escaped(f"{setting_title(name.removeprefix(own))}: {value}")
        for name, value in run_link.parameters(spec, graph)
        if name.startswith(own)
    ]
    st.markdown(
        f"{', '.join(parts)}. Training takes seconds on a small graph; the result is stored, so "
        "next time it is here at once."
    )


def _show_curves(jobs: list[Job]) -> None:
    progress = jobs[0].progress
    if progress.loss:
        st.plotly_chart(
            curves_figure(
                progress.loss,
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
