"""The card of the picked node on Reproduce, for the run of the chosen cell."""

import streamlit as st

import bup
from bup.methods import METHODS
from bup.run.spec import Spec
from dashboard.cache import run_cache
from dashboard.session import run_link, selected_node
from dashboard.session.view import View, current_theme
from dashboard.views.node_card import node_card
from dashboard.views.reproduce.cells import Cell, Plan, RerunSet


def picked_node(plan: Plan, stored: RerunSet, cell: Cell | None) -> None:
    """Show the card of the picked node, if there is one, for a trained run.

    The run is the clicked rerun of the cell, or its first rerun. Without a cell it is the run that
    this visitor saw last, or the run with which the graph opens. ``stored`` has the reruns that
    are on this machine.
    """
    graph = plan.graph
    spec: Spec | None = st.session_state.get("last_spec") or run_link.default_spec(graph)
    if cell is not None:
        spec = _rerun(plan, stored, cell)
    if spec is None or spec.graph != graph.name:
        return
    loaded_run = run_cache.find(spec, graph)
    if loaded_run is None:
        return
    try:
        node, picked = selected_node.last_node(graph, loaded_run.result)
    except bup.BupError:  # of another graph
        return
    if not picked:
        return
    method = cell.method if cell is not None else METHODS[spec.method].short
    run = f"{method}, {spec.labels_in_words}, seed {spec.seed}"
    node_card(View(loaded_run, node, current_theme(graph.noun), True), "reproduce", run)


def _rerun(plan: Plan, stored: RerunSet, cell: Cell) -> Spec | None:
    here = stored.of(cell).seed.tolist()
    specs = plan.specs_of(cell)
    clicked = st.session_state.get("reproduce_seed")
    seeds = [seed for seed in here if seed == clicked] or here
    return specs[seeds[0]] if seeds else None
