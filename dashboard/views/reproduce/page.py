"""The paper's tables beside what is stored here."""

from __future__ import annotations

import streamlit as st

from bup import datasets, experiments
from bup.experiments import QUESTIONS
from dashboard import graphs, state
from dashboard.markdown import escaped
from dashboard.views.reproduce.cells import Cell, stored_rows
from dashboard.views.reproduce.tables import choose_quantity, show_cell, show_picture, show_table
from dashboard.views.reproduce.training import start_cell

SHOWN = {
    "q1": "Table 1: accuracy and calibration",
    "q2": "Table 2: a class never seen",
    "q3": "Figure 3: uncertainty and structure",
    "calibration": "Beyond the publication: against calibrated opponents",
    "ood": "Beyond the publication: unseen classes, three protocols",
    "ablation": "Beyond the publication: what each part contributes",
}


def page() -> None:
    st.title("Do the published results hold here?")
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
    graph = graphs.graph(chosen if chosen in offered else offered[0])
    planned = experiments.runs_of(question, {graph.name: graph})
    rows = stored_rows(question, planned, graph)
    cells = list(dict.fromkeys(map(Cell.of, planned)))
    lines = experiments.summary(question, rows)
    with right:
        quantity = choose_quantity(question, lines)
    st.markdown(f"**{escaped(question.title)}**")
    show_picture(question, graph, lines, cells, quantity)
    show_table(question, graph, rows, lines, cells)
    if (cell := st.session_state.get("reproduce_cell")) in cells:
        show_cell(question, graph, rows, planned, Cell(*cell))
    start_cell(question, graph, planned)
