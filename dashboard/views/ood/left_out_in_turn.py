"""Each class left out in turn: a grid of runs, trained in the background, filled as they finish."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
import streamlit as st

from bup import metrics
from bup.experiments import epistemic_score
from bup.explain import detection
from bup.io.csv import csv_text
from bup.run.spec import Run, Spec
from bup.training.fitting import run_of
from dashboard.cache import run_cache
from dashboard.session import sidebar
from dashboard.session.training import submit, training_queue, visitor_id, wait_for
from dashboard.session.view import View
from dashboard.training_queue.job import Job
from dashboard.ui import columns
from dashboard.ui.markdown import escaped
from dashboard.views.ood.detection_task import Detector

MEAN = "mean over classes"


class LeftOutRun(NamedTuple):
    """One cell: a method without one class."""

    left_out: int
    label: str  # of the method
    spec: Spec
    run: Run


def grid(view: View, detectors: Sequence[Detector]) -> None:
    """How well each class is noticed by every chosen method, when it is the one never shown."""
    st.header("Each class left out in turn")
    turns = [
        LeftOutRun(c, detector.label, spec, run_of(spec, view.graph))
        for c in range(view.graph.num_classes)
        for detector in detectors
        for spec in [dataclasses.replace(detector.view.spec, left_out=(c,))]
    ]
    missing = [turn for turn in turns if run_cache.find(turn.spec, view.graph) is None]
    st.caption(
        view.say(
            "One run per class: the model never sees it, and its score should find its nodes among "
            "the test nodes. A cell is the AUROC in percent; 50 is guessing. Add methods under "
            "*Compare with*."
        )
    )
    if missing and st.button(
        f"Train the {len(missing)} missing run{'s' if len(missing) != 1 else ''}",
        icon=":material/play_arrow:",
        key="turns_train",
        help="They train in the background: leave the page and come back as you like.",
    ):
        submit([turn.spec for turn in missing], view.graph, again=True)
    waiting = [t.run for t in missing if (job := training_queue().find(t.run)) and job.active]
    if waiting:
        wait_for(waiting, lambda jobs: _filling(view, turns, jobs))
    else:
        _table(view, turns, {})


def _filling(view: View, turns: Sequence[LeftOutRun], jobs: list[Job]) -> None:
    left = [job for job in jobs if job.active]
    done = len(turns) - len(left)
    st.progress(done / len(turns), f"{done} of {len(turns)} runs are there, {len(left)} to go")
    st.button(
        "Stop",
        icon=":material/stop:",
        key="turns_stop",
        on_click=_stop,
        args=(left,),
    )
    _table(view, turns, {job.run: job for job in jobs})


def _stop(jobs: Sequence[Job]) -> None:
    for job in jobs:
        training_queue().cancel(job.run, visitor_id())


def _table(view: View, turns: Sequence[LeftOutRun], jobs: dict[Run, Job]) -> None:
    names = view.graph.class_names
    values = {(t.left_out, t.label): auroc(view, t) for t in turns}
    labels = list(dict.fromkeys(turn.label for turn in turns))
    rows: list[dict[str, str]] = []
    for c in range(len(names)):
        row = {"never shown": names[c]}
        for turn in turns:
            if turn.left_out == c:
                found = values[c, turn.label]
                row[turn.label] = _state(jobs.get(turn.run)) if found is None else _percent(found)
        rows.append(row)
    rows.append({"never shown": MEAN} | {label: _mean(values, label) for label in labels})
    own = labels[0]

    def clicked() -> None:
        cells = st.session_state["turns"]["selection"]["cells"]
        if cells and cells[0][0] < len(names):
            sidebar.leave_out(cells[0][0])

    frame = pd.DataFrame(rows)
    st.dataframe(
        frame,
        hide_index=True,
        width="stretch",
        height="content",
        key="turns",
        on_select=clicked,
        selection_mode="single-cell",
        alt="AUROC in percent by the class that is left out and the method",
    )
    st.caption(
        f"Click a row to leave that class out of {escaped(own)}. Each method by its own score: "
        + ", ".join(f"{escaped(t.label)} by {_score(t)}" for t in turns if t.left_out == 0)
        + "."
    )
    st.download_button(
        "This table as CSV",
        csv_text(frame),
        f"{view.run.key}-left-out-in-turn.csv",
        "text/csv",
        icon=":material/download:",
        key="turns_csv",
    )


def auroc(view: View, turn: LeftOutRun) -> float | None:
    """How well a run's own score finds the class it was not shown; None while it is not trained.

    NaN where the test nodes have none of it.
    """
    loaded_run = run_cache.find(turn.spec, view.graph)
    if loaded_run is None:
        return None
    search = detection.unseen(loaded_run.result, view.graph)
    if not search.possible:
        return math.nan
    doubt = loaded_run.result.uncertainties()[epistemic_score(turn.spec.method)]
    return metrics.auroc(doubt[search.nodes], search.positive)


def _score(turn: LeftOutRun) -> str:
    return columns.score_title(epistemic_score(turn.spec.method))


def _percent(value: float) -> str:
    return "not in the test part" if math.isnan(value) else f"{100 * value:.1f}"


def _mean(values: dict[tuple[int, str], float | None], label: str) -> str:
    found = [v for (_, of), v in values.items() if of == label]
    there = [v for v in found if v is not None and not math.isnan(v)]
    if not there:
        return "–"
    mean = f"{100 * sum(there) / len(there):.1f}"
    return mean if len(there) == len(found) else f"{mean} ({len(there)} of {len(found)})"


def _state(job: Job | None) -> str:
    if job is None or job.state == "cancelled":
        return "–"
    if job.state == "failed":
        return f"failed: {job.error}"
    return f"training, {job.progress.share:.0%}" if job.state == "running" else "waiting"
