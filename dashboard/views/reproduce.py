"""The paper's tables beside what is stored here; every cell opens down to its reruns."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

import bup
from bup import experiments, runs
from bup.datasets import citation
from bup.experiments import QUESTIONS, Question, Run
from bup.graph import Graph
from bup.methods import METHODS
from bup.paper import published
from bup.spec import Spec
from dashboard import data, state
from dashboard.markdown import plain

SHOWN = {
    "q1": "Table 1: accuracy and calibration",
    "q2": "Table 2: a class never seen",
    "q3": "Figure 4: uncertainty and structure",
}
MOST_RERUNS = 3  # that a visitor may start from here: a page is no place for a sweep


def main() -> None:
    st.title("Does the paper come out here too?")
    st.markdown(
        "Each cell is the mean over the reruns that are stored on this machine, ± their standard "
        "deviation; in brackets what the paper prints, and ours minus it. **Click a cell** to see "
        "its reruns, and from there any single model. `bup reproduce` fills the tables."
    )
    name = st.radio(
        "Table", list(SHOWN), format_func=SHOWN.__getitem__, key="table", bind="query-params"
    )
    question = QUESTIONS[name if name in SHOWN else "q1"]
    offered = [g for g in question.graphs if citation.is_cached(g)]
    if not offered:
        st.info("The citation graphs are not here yet: `bup graphs --fetch` gets them.")
        return
    chosen = st.radio(
        "Graph",
        offered,
        format_func=state.graph_label,
        key="table_graph",
        bind="query-params",
        horizontal=True,
    )
    graph = data.graph(chosen if chosen in offered else offered[0])
    planned = experiments.runs_of(question, {graph.name: graph})
    with st.spinner("Reading the stored runs ..."):
        rows = stored_rows(question, planned, graph)
    cells = list(dict.fromkeys((run.per_class, run.contender) for run in planned))
    show_table(question, graph, rows, cells)
    show_cell(question, graph, rows, planned)
    start_cell(question, graph, planned)


def stored_rows(question: Question, planned: list[Run], graph: Graph) -> pd.DataFrame:
    """What is measured of each planned run that is stored."""
    store, rows = bup.Store(), []
    for run in planned:
        try:
            stamp = store.path(run.spec).stat().st_mtime_ns
        except OSError:
            continue
        if (row := _measured(question.name, run.spec.key, stamp, run, graph)) is not None:
            rows.append(run.place | row)
    columns = [*experiments.CELL, "seed", *(f.key for f in question.figures)]
    return pd.DataFrame(rows, columns=None if rows else columns)


@st.cache_data(max_entries=10_000, show_spinner=False)
def _measured(
    question: str, key: str, stamp: int, _run: Run, _graph: Graph
) -> dict[str, Any] | None:
    result = runs.stored(_run.spec, _graph)
    return None if result is None else QUESTIONS[question].measure(result, _graph, _run.protocol)


def show_table(
    question: Question, graph: Graph, rows: pd.DataFrame, cells: list[tuple[int, str]]
) -> None:
    lines = experiments.summary(question, rows)
    found = {(r.per_class, r.method, r.figure): r for r in lines.itertuples()}
    counts = rows.groupby(["per_class", "method"]).size()
    protocol = question.protocols(graph)[0].name
    shown = []
    for size, who in cells:
        paper = published(question.name, graph.name, size, protocol, who)
        row: dict[str, Any] = {
            "per class": size,
            "method": who,
            "reruns": counts.get((size, who), 0),
        }
        for figure in question.figures:
            line = found.get((size, who, figure.key))
            if line is not None:
                text = experiments.cell_text(line, figure.digits)
            else:
                text = f"– ({paper[figure.key]:.{figure.digits}f})" if figure.key in paper else "–"
            row[figure.title] = text
        shown.append(row)

    def picked() -> None:
        chosen = st.session_state["reproduce_table"]["selection"]["cells"]
        if chosen:
            st.session_state.reproduce_cell = cells[chosen[0][0]]

    st.dataframe(
        pd.DataFrame(shown),
        hide_index=True,
        width="stretch",
        height="content",
        key="reproduce_table",
        on_select=picked,
        selection_mode="single-cell",
        column_config={"method": st.column_config.TextColumn(width=130)},
        alt=f"{question.title}, {state.graph_label(graph.name)}",
    )
    tested = lines.p.notna().any()
    st.caption(plain(question.note + (f" {experiments.TEST_NOTE}" if tested else "")))
    st.download_button(
        "Every rerun as CSV",
        rows.to_csv(index=False),
        f"{question.name}-{graph.name}.csv",
        "text/csv",
        icon=":material/download:",
        disabled=rows.empty,
    )


def show_cell(question: Question, graph: Graph, rows: pd.DataFrame, planned: list[Run]) -> None:
    """The reruns behind the clicked cell, each with a link to its model."""
    cell = st.session_state.get("reproduce_cell")
    if cell is None:
        return
    size, who = cell
    part = rows[(rows.per_class == size) & (rows.method == who)]
    st.subheader(f"{who}, {size} labels per class: rerun by rerun")
    if part.empty:
        st.info("No rerun of this cell is stored yet: start some below.")
        return
    specs = {r.spec.seed: r.spec for r in planned if (r.per_class, r.contender) == cell}
    figures = [figure for figure in question.figures if figure.key in part]
    shown = part[["seed", *(f.key for f in figures)]].assign(
        model=["./?" + state.link(specs[seed], graph) for seed in part.seed]
    )
    column = st.column_config
    st.dataframe(
        shown,
        hide_index=True,
        width="stretch",
        key="reproduce_reruns",
        column_config={
            **{f.key: column.NumberColumn(f.title, format=f"%.{f.digits}f") for f in figures},
            "model": column.LinkColumn("the model itself", display_text="Explore"),
        },
    )
    st.caption(
        "A rerun's seed draws its training, validation and test papers and its initial weights; "
        "the same seed means the same papers for every method."
    )


def start_cell(question: Question, graph: Graph, planned: list[Run]) -> None:
    """A small reproduction, trained in the background by the server."""
    st.subheader("Train some of it here")
    sizes = list(dict.fromkeys(run.per_class for run in planned))
    everyone = list(dict.fromkeys(run.contender for run in planned))
    with st.form("reproduce_form"):
        left, middle, right = st.columns([1, 2, 1])
        size = left.selectbox("Labels per class", sizes)
        who = middle.multiselect("Methods", everyone, default=everyone[:1])
        reruns = right.number_input("Reruns", 1, MOST_RERUNS, 1)
        asked = st.form_submit_button("Train", type="primary", icon=":material/play_arrow:")
    seeds = range(question.first_seed, question.first_seed + int(reruns))
    specs = [
        run.spec
        for run in planned
        if run.per_class == size and run.contender in who and run.spec.seed in seeds
    ]
    if asked:
        st.session_state.reproduce_specs = _submitted(specs, graph)
    if waiting := st.session_state.get("reproduce_specs"):
        _watch(tuple(waiting))


def _submitted(specs: list[Spec], graph: Graph) -> list[Spec]:
    accepted = []
    for spec in specs:
        try:
            data.manager().submit(spec, graph)
        except bup.BupError as error:
            st.warning(plain(error))
        else:
            accepted.append(spec)
    return accepted


@st.fragment(run_every=0.5)
def _watch(specs: tuple[Spec, ...]) -> None:
    jobs = [(spec, data.manager().find(spec)) for spec in specs]
    left = [spec for spec, job in jobs if job is not None and job.active]
    for spec, job in jobs:
        if job is not None and job.state == "failed":
            st.warning(plain(f"{METHODS[spec.method].short}, seed {spec.seed}: {job.error}"))
    if left:
        progress = data.manager().find(left[0]).progress
        share = progress.epoch / progress.epochs if progress.epochs else 0.0
        done = len(specs) - len(left)
        st.progress(
            min(1.0, (done + share) / len(specs)),
            f"{done} of {len(specs)} runs trained, now {METHODS[left[0].method].short}, "
            f"seed {left[0].seed}",
        )
        return
    failed = [spec for spec, job in jobs if job is not None and job.state == "failed"]
    st.success(f"{len(specs) - len(failed)} of {len(specs)} runs are in the table.")
    if st.session_state.get("reproduce_shown") != specs:
        st.session_state.reproduce_shown = specs
        st.rerun()


main()
