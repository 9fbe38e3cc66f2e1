"""Each class left out in turn: a table of runs that are trained in the background."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd
import streamlit as st

from bup import metrics
from bup.experiments import epistemic_score
from bup.explanation import detection
from bup.run.spec import Run, Spec
from bup.training.fitting import run_of
from dashboard.cache import run_cache
from dashboard.charts.unseen import Detector
from dashboard.session import sidebar
from dashboard.session.training import submit, training_queue, wait_for
from dashboard.session.view import View
from dashboard.training_queue.job import Job
from dashboard.ui import columns
from dashboard.ui.markdown import escaped
from dashboard.ui.numbers import counted
from dashboard.views import exports, tables


class LeftOutRun(NamedTuple):
    """One cell of the table: a method that was not shown one class."""

    left_out: int
    label: str  # of the method
    spec: Spec
    run: Run


def grid(view: View, detectors: Sequence[Detector]) -> None:
    """How well every method detects each class that it was not shown."""
    st.header("Each class left out in turn")
    cells = [
        LeftOutRun(c, detector.label, spec, run_of(spec, view.graph))
        for c in range(view.graph.num_classes)
        for detector in detectors
        for spec in [dataclasses.replace(detector.view.spec, left_out=(c,))]
    ]
    missing = [cell for cell in cells if run_cache.find(cell.spec, view.graph) is None]
    st.caption(
        view.say(
            "One run per class: the model never sees it, and its score should find its nodes among "
            "the test nodes. A cell is the AUROC in percent; 50 is guessing. Add methods under "
            "*Compare with*."
        )
    )
    if missing and st.button(
        f"Train the {counted(len(missing), 'missing run')}",
        icon=":material/play_arrow:",
        key="turns_train",
        help="They train in the background: you can leave the page and come back.",
    ):
        submit([cell.spec for cell in missing], view.graph, again=True)
    queue = training_queue()
    active = [cell.run for cell in missing if (job := queue.find(cell.run)) and job.active]
    if active:
        wait_for(
            active,
            total=len(cells),
            below=lambda jobs: _table(view, cells, {job.run: job for job in jobs}),
        )
    else:
        _table(view, cells, {})


def _table(view: View, cells: Sequence[LeftOutRun], jobs: Mapping[Run, Job]) -> None:
    names = view.graph.class_names
    columns_of_methods: dict[str, list[str]] = {}
    for label in dict.fromkeys(cell.label for cell in cells):
        values = [(cell, auroc(view, cell)) for cell in cells if cell.label == label]
        texts = [
            _job_state(jobs.get(cell.run)) if value is None else _percent(value)
            for cell, value in values
        ]
        columns_of_methods[label] = [*texts, _mean([value for _, value in values])]
    frame = pd.DataFrame({"never shown": [*names, "mean over classes"]} | columns_of_methods)
    tables.clickable_table(
        frame,
        "turns",
        "AUROC in percent by the class that is left out and the method",
        lambda row: sidebar.leave_out(row) if row < len(names) else None,
        height="content",
    )
    scores = [
        f"{escaped(cell.label)} by {columns.score_title(epistemic_score(cell.spec.method))}"
        for cell in cells
        if cell.left_out == 0
    ]
    st.caption(
        f"Click a row to leave that class out of {escaped(next(iter(columns_of_methods)))}. The "
        f"score of each method: {', '.join(scores)}."
    )
    name = f"{view.run.key}-left-out-in-turn"
    exports.csv_button("This table as CSV", frame, name, key="turns_csv")


def auroc(view: View, cell: LeftOutRun) -> float | None:
    """How well a run's score finds the class that it was not shown; None while it is not trained.

    NaN where the test nodes have none of that class.
    """
    loaded_run = run_cache.find(cell.spec, view.graph)
    if loaded_run is None:
        return None
    search = detection.unseen(loaded_run.result, view.graph)
    if not search.possible:
        return math.nan
    doubt = loaded_run.result.uncertainties()[epistemic_score(cell.spec.method)]
    return metrics.auroc(doubt[search.nodes], search.positive)


def _percent(value: float) -> str:
    return "not in the test part" if math.isnan(value) else f"{100 * value:.1f}"


def _mean(values: Sequence[float | None]) -> str:
    measured = [v for v in values if v is not None and not math.isnan(v)]
    if not measured:
        return "–"
    mean = f"{100 * sum(measured) / len(measured):.1f}"
    return mean if len(measured) == len(values) else f"{mean} ({len(measured)} of {len(values)})"


def _job_state(job: Job | None) -> str:
    if job is None or job.state == "cancelled":
        return "–"
    if job.state == "failed":
        return f"failed: {job.error}"
    return f"training, {job.progress.share:.0%}" if job.state == "running" else "waiting"
