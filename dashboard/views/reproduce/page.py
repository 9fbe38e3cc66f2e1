"""The paper's tables beside what is stored here."""

from __future__ import annotations

import streamlit as st

from bup import datasets
from bup.experiments import QUESTIONS
from dashboard.cache import graphs
from dashboard.session import run_link
from dashboard.ui.markdown import escaped
from dashboard.views.reproduce.cells import Cell, measured, plan_of, stored
from dashboard.views.reproduce.node import picked_node
from dashboard.views.reproduce.tables import choose_quantity, show_cell, show_picture, show_table
from dashboard.views.reproduce.training import start_cell

SHOWN = {
    "q1": "Table 1: accuracy and calibration",
    "q2": "Table 2: a class never seen",
    "q3": "Figure 3: uncertainty and structure",
    "record": "Beyond the publication: the record of calibration",
    "calibration": "Beyond the publication: against calibrated opponents",
    "ood": "Beyond the publication: unseen classes, three protocols",
    "ablation": "Beyond the publication: what each part contributes",
}


def page() -> None:
    st.title("Do the published results hold here?")
    st.markdown(
        "Beside what was published stands what we measured, which came with this program, and what "
        "was trained on this machine. **Click a point or a row** for its reruns, for every "
        "comparison in words, and to train some of it here."
    )
    left, middle, right = st.columns([3, 2, 2])
    name = left.selectbox(
        "Table", list(SHOWN), format_func=SHOWN.__getitem__, key="table", bind="query-params"
    )
    question = QUESTIONS[name if name in SHOWN else "q1"]
    offered = [g for g in question.graphs if datasets.is_available(g)]
    if not offered:
        st.info("The citation graphs are not here yet: `bup graphs --fetch` gets them.")
        return
    chosen = middle.selectbox(
        "Graph", offered, format_func=run_link.graph_label, key="table_graph", bind="query-params"
    )
    graph = graphs.graph(chosen if chosen in offered else offered[0])
    plan = plan_of(question, graph)
    sources = [measured(plan), stored(plan)]
    with right:
        quantity = choose_quantity(question, sources)
    asked = st.session_state.get("reproduce_cell")
    cell = Cell(*asked) if asked in plan.cells else None
    picked_node(plan, sources[-1], cell)
    st.markdown(f"**{escaped(question.title)}**")
    show_picture(plan, sources, quantity)
    show_table(plan, sources)
    if cell is not None:
        show_cell(plan, sources, cell)
    start_cell(question, graph, list(plan.runs))
