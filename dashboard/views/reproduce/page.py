"""The paper's tables beside the results of the runs on this machine."""

import streamlit as st

from bup import datasets
from bup.experiments import QUESTIONS
from dashboard.cache import graphs
from dashboard.session import run_link
from dashboard.ui.link_choice import link_choice
from dashboard.ui.markdown import escaped
from dashboard.views.reproduce.cells import Cell, measured, plan_of, stored
from dashboard.views.reproduce.node import picked_node
from dashboard.views.reproduce.tables import choose_quantity, show_cell, show_picture, show_table
from dashboard.views.reproduce.training import start_cell

TABLES = {
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
        "This page shows the published results beside those that we measured, which came with this "
        "program, and those of models that were trained on this machine. **Click a point or a "
        "row** to see its reruns, to read every comparison in words, and to train some of them "
        "here."
    )
    left, middle, right = st.columns([3, 2, 2])
    name = link_choice(left.selectbox, "Table", TABLES, "table")
    question = QUESTIONS[name if name in TABLES else "q1"]
    offered = [g for g in question.graphs if datasets.is_available(g)]
    if not offered:
        st.info("The citation graphs are not on this machine: `bup graphs --fetch` downloads them.")
        return
    labels = {name: run_link.graph_label(name) for name in offered}
    chosen = link_choice(middle.selectbox, "Graph", labels, "table_graph")
    graph = graphs.graph(chosen if chosen in offered else offered[0])
    plan = plan_of(question, graph)
    sources = [measured(plan), stored(plan)]
    with right:
        quantity = choose_quantity(question, sources)
    chosen_cell = st.session_state.get("reproduce_cell")
    cell = Cell(*chosen_cell) if chosen_cell in plan.cells else None
    picked_node(plan, sources[-1], cell)
    st.markdown(f"**{escaped(question.title)}**")
    show_picture(plan, sources, quantity)
    show_table(plan, sources)
    if cell is not None:
        show_cell(plan, sources, cell)
    start_cell(question, graph, list(plan.runs))
