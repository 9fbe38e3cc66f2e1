"""Does a difference between runs hold over other seeds? A comparison of stored reruns."""

import dataclasses
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from bup import experiments
from bup.experiments import QUESTIONS, PlannedRun, Protocol
from bup.methods import METHODS
from bup.results.store import Store
from bup.training.fitting import run_of
from dashboard.session.training import train
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.views.comparison_runs import label_of
from dashboard.views.reproduce.cells import Plan, stamps_of, stored_rows

QUANTITIES = ("accuracy", "ece", "nll", "brier", "aurc")
MOST_SEEDS = 20
SEEDS_TO_TRAIN = 5  # by a button; seeds that are stored already count


def compare_reruns(view: View, views: Mapping[str, View]) -> None:
    """Means over seeds, Student's test of the differences, a button that trains a few seeds."""
    views = {label: v for label, v in views.items() if not METHODS[v.spec.method].is_imported}
    if len(views) < 2 or view.spec not in [v.spec for v in views.values()]:
        return
    st.header("Does it hold over reruns?")
    reference = next(label for label, v in views.items() if v.spec == view.spec)
    full = QUESTIONS["calibration"]
    quantities = tuple(f for f in full.quantities if f.key in QUANTITIES)
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
            f"So far only seed {view.spec.seed} is trained for all of these: one split, on which "
            "any difference may be chance."
        )
    if len(shared) < SEEDS_TO_TRAIN:
        _train_button(view, [run for run in planned if run.spec.seed < SEEDS_TO_TRAIN])


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
    comparisons = experiments.comparisons(rows, question.quantities, question.reference)
    with st.expander("Every comparison in a sentence"):
        st.markdown("\n".join(f"- {escaped(c.in_words())}" for c in comparisons))


def _train_button(view: View, planned: list[PlannedRun]) -> None:
    """A button that trains the first few seeds of every run."""
    specs = [run.spec for run in planned]
    if st.button(f"Train {SEEDS_TO_TRAIN} seeds of each", icon=":material/play_arrow:"):
        st.session_state.compare_reruns = specs
    if st.session_state.get("compare_reruns") == specs:
        store = Store()
        missing = [s for s in specs if not store.path(run_of(s, view.graph)).exists()]
        if missing:
            train(missing, view.graph, lambda spec: label_of(spec, view))
