"""The paper's tables beside what is stored here; every cell opens down to its reruns."""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

import bup
from bup import datasets, experiments, runs
from bup.experiments import QUESTIONS, Figure, Question, Run
from bup.graph import Graph
from bup.methods import METHODS
from bup.paper import published
from bup.spec import Spec
from dashboard import data, state
from dashboard.components import chart
from dashboard.figures.reproduce import Dot, beside_published
from dashboard.markdown import plain
from dashboard.views import frame

SHOWN = {
    "q1": "Table 1: accuracy and calibration",
    "q2": "Table 2: a class never seen",
    "q3": "Figure 4: uncertainty and structure",
    "calibration": "Beyond the paper: against calibrated opponents",
    "ood": "Beyond the paper: unseen classes, three protocols",
    "ablation": "Beyond the paper: what each part buys",
}
FIRST_DRAWN = ("ece", "auroc_own")  # what a table is most looked at for
SLOW = 0.02  # seconds: what is read from the cache takes less
MOST_RERUNS = 3  # that a visitor may start from here: a page is no place for a sweep


class Cell(NamedTuple):
    """A row of a table."""

    per_class: int
    protocol: str
    method: str

    @classmethod
    def of(cls, run: Run) -> Cell:
        return cls(run.per_class, run.protocol.name, run.contender)

    @property
    def group(self) -> str:
        """What it shares with the rows around it."""
        size = f"{self.per_class} per class"
        return f"{self.protocol}, {size}" if self.protocol else size

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Its own among rows or lines of a table."""
        same = (table.per_class == self.per_class) & (table.protocol == self.protocol)
        return table[same & (table.method == self.method)]


def main() -> None:
    st.title("Does the paper come out here too?")
    st.markdown(
        "Every figure is the mean over the reruns that are stored on this machine, beside what was "
        "published. **Click a point or a cell** to see its reruns, and from there any single "
        "model. `bup reproduce` fills the tables."
    )
    left, middle, right = st.columns([3, 2, 2])
    name = left.selectbox(
        "Table", list(SHOWN), format_func=SHOWN.__getitem__, key="table", bind="query-params"
    )
    question = QUESTIONS[name if name in SHOWN else "q1"]
    offered = [g for g in question.graphs if datasets.is_here(g)]
    if not offered:
        st.info("The citation graphs are not here yet: `bup graphs --fetch` gets them.")
        return
    chosen = middle.selectbox(
        "Graph", offered, format_func=state.graph_label, key="table_graph", bind="query-params"
    )
    graph = data.graph(chosen if chosen in offered else offered[0])
    planned = experiments.runs_of(question, {graph.name: graph})
    rows = stored_rows(question, planned, graph)
    cells = list(dict.fromkeys(map(Cell.of, planned)))
    lines = experiments.summary(question, rows)
    with right:
        figure = choose_figure(question, lines)
    st.markdown(f"**{plain(question.title)}**")
    show_picture(question, graph, lines, cells, figure)
    show_table(question, graph, rows, lines, cells)
    if (cell := st.session_state.get("reproduce_cell")) in cells:
        show_cell(question, graph, rows, planned, Cell(*cell))
    start_cell(question, graph, planned)


def stored_rows(question: Question, planned: list[Run], graph: Graph) -> pd.DataFrame:
    """What is measured of each planned run that is stored."""
    store, rows = bup.Store(), []
    bar = st.empty()
    for done, run in enumerate(planned):
        try:
            stamp = store.path(run.spec).stat().st_mtime_ns
        except OSError:
            continue
        start = time.monotonic()
        row = _measured(question.name, run.spec.key, stamp, run, graph)
        if time.monotonic() - start > SLOW:  # not from the cache: then there are more to come
            bar.progress(done / len(planned), f"Measuring stored runs: {done} of {len(planned)}")
        if row is not None:
            rows.append(run.place | row)
    bar.empty()
    columns = [*experiments.CELL, "seed", *question.words, *(f.key for f in question.figures)]
    return pd.DataFrame(rows, columns=None if rows else columns)


@st.cache_data(max_entries=10_000, show_spinner=False)
def _measured(
    question: str, key: str, stamp: int, _run: Run, _graph: Graph
) -> dict[str, Any] | None:
    result = runs.stored(_run.spec, _graph)
    return None if result is None else QUESTIONS[question].measure(result, _graph, _run.protocol)


def choose_figure(question: Question, lines: pd.DataFrame) -> Figure:
    """Which of a table's columns is drawn; those that nothing was measured of are not offered."""
    measured = set(lines.figure) or {f.key for f in question.figures}
    figures = {f.key: f for f in question.figures if f.key in measured}
    usual = next((i for i, key in enumerate(figures) if key in FIRST_DRAWN), 0)
    # A table's own widget: another table has other columns.
    key = st.selectbox(
        "Figure",
        list(figures),
        usual,
        format_func=lambda key: figures[key].title,
        key=f"{question.name}_figure",
    )
    return figures[key]


def show_picture(
    question: Question, graph: Graph, lines: pd.DataFrame, cells: list[Cell], figure: Figure
) -> None:
    """One figure of every cell, as points that can be compared at a glance."""
    dots = []
    for place, cell in enumerate(cells):
        paper = _published(question, graph, cell).get(figure.key, math.nan)
        found = cell.rows(lines[lines.figure == figure.key])
        mean, std = (found["mean"].item(), found["std"].item()) if len(found) else (math.nan,) * 2
        dots.append(Dot(place, cell.group, cell.method, mean, std, paper))
    if all(math.isnan(dot.mean) and math.isnan(dot.published) for dot in dots):
        return
    better = {1: " (higher is better)", -1: " (lower is better)", 0: ""}[figure.better]

    def picked(place: int) -> None:
        st.session_state.reproduce_cell = cells[place]

    chart.library()
    frame.clickable(
        beside_published(dots, figure.title + better, state.theme()),
        "reproduce_picture",
        "Filled: the mean here, with a bar of one standard deviation to either side. Hollow: what "
        "was published, for other random splits and perhaps other settings.",
        picked,
    )


def _published(question: Question, graph: Graph, cell: Cell) -> dict[str, float]:
    return published(question.name, graph.name, *cell)


def show_table(
    question: Question, graph: Graph, rows: pd.DataFrame, lines: pd.DataFrame, cells: list[Cell]
) -> None:
    shown = []
    for cell in cells:
        paper = _published(question, graph, cell)
        own = cell.rows(rows)
        found = {line.figure: line for line in cell.rows(lines).itertuples()}
        row: dict[str, Any] = {"per class": cell.per_class}
        if cell.protocol:
            row["never shown"] = cell.protocol
        row |= {"method": cell.method, "reruns": len(own)}
        for word in question.words:
            text = str(own[word].iloc[0]) if len(own) else "–"
            row[word.replace("_", " ")] = text.replace("_", " ")
        for figure in question.figures:
            if figure.key in found:
                text = experiments.cell_text(found[figure.key], figure.digits)
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


def show_cell(
    question: Question, graph: Graph, rows: pd.DataFrame, planned: list[Run], cell: Cell
) -> None:
    """The reruns behind the clicked cell, each with a link to its model."""
    part = cell.rows(rows)
    st.subheader(plain(f"{cell.method}, {cell.group}: rerun by rerun"))
    if part.empty:
        st.info("No rerun of this cell is stored yet: start some below.")
        return
    specs = {run.spec.seed: run.spec for run in planned if Cell.of(run) == cell}
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
