"""Whether a difference between runs holds over other seeds: those that are stored for each."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from bup import experiments
from bup.experiments import QUESTIONS, PlannedRun, Protocol
from bup.methods import METHODS
from bup.results.store import Store
from bup.training.fitting import run_of
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.views.comparison_runs import train_missing
from dashboard.views.reproduce.cells import Plan, stamps_of, stored_rows

LOOKED_AT = ("accuracy", "ece", "nll", "brier", "aurc")
MOST_SEEDS = 20
MORE = 5  # seeds that a button trains, those that are there included


def compare_reruns(view: View, views: Mapping[str, View]) -> None:
    """Means over seeds and what Student's test says of them; offers to train a few."""
    views = {label: v for label, v in views.items() if not METHODS[v.spec.method].is_imported}
    if len(views) < 2 or view.spec not in [v.spec for v in views.values()]:
        return
    st.header("Does it hold over reruns?")
    reference = next(label for label, v in views.items() if v.spec == view.spec)
    full = QUESTIONS["calibration"]
    quantities = tuple(f for f in full.quantities if f.key in LOOKED_AT)
    question = dataclasses.replace(full, quantities=quantities, reference=reference)
    planned = [
        PlannedRun(
            view.graph.name,
            v.spec.per_class,
            Protocol(left_out=v.spec.left_out),
            label,
            dataclasses.replace(v.spec, seed=seed),
        )
        for label, v in views.items()
        for seed in sorted({*range(MOST_SEEDS), v.spec.seed})
    ]
    plan = Plan(question, view.graph, {run: run_of(run.spec, view.graph) for run in planned})
    rows = stored_rows(plan, stamps_of(plan))
    seeds = [set(rows[rows.method == label].seed) for label in views]
    shared = set.intersection(*seeds)
    rows = rows[rows.seed.isin(shared)]
    if len(shared) > 1:
        _show(question, rows)
    else:
        st.caption(
            f"So far only seed {view.spec.seed} is there for all of these: one split, on which any "
            "difference may be chance."
        )
    if len(shared) < MORE:
        _offer(view, [run for run in planned if run.spec.seed < MORE])


def _show(question: experiments.ResearchQuestion, rows: pd.DataFrame) -> None:
    lines = experiments.summary(question, rows)
    titles = {f.key: f for f in question.quantities}
    texts = [experiments.format_cell(x, titles[x.quantity].digits) for x in lines.itertuples()]
    wide = lines.assign(text=texts).pivot(index="method", columns="quantity", values="text")
    order = [f.key for f in question.quantities if f.key in wide]
    wide = wide.loc[list(dict.fromkeys(rows.method)), order]
    st.dataframe(wide.rename(columns={k: f.title for k, f in titles.items()}), width="stretch")
    st.caption(
        f"Mean ± standard deviation over the {rows.seed.nunique()} seeds that all of them have; "
        f"accuracy and errors in percent. {escaped(experiments.note_on_test(question))}"
    )
    found = experiments.comparisons(rows, question.quantities, question.reference)
    with st.expander("Every comparison in a sentence"):
        st.markdown("\n".join(f"- {escaped(c.in_words())}" for c in found))


def _offer(view: View, planned: list[PlannedRun]) -> None:
    """A button that trains the first few seeds of every run."""
    asked = [run.spec for run in planned]
    if st.button(f"Train {MORE} seeds of each", icon=":material/play_arrow:"):
        st.session_state.compare_reruns = asked
    if st.session_state.get("compare_reruns") == asked:
        store = Store()
        missing = [s for s in asked if not store.path(run_of(s, view.graph)).exists()]
        if missing:
            train_missing(missing, view)
