"""The papers around the picked one, as a network to walk in."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import columns, shelf, state
from dashboard.columns import colour_limits
from dashboard.components.ego import EgoNetwork, ego_network
from dashboard.components.network import network, picked
from dashboard.markdown import escaped
from dashboard.state import View


def chosen_network(view: View) -> EgoNetwork:
    """The neighbourhood as the controls of its tab ask for it, or at their defaults."""
    offered = columns.numbers(view.table)
    score = st.session_state.get("ego_score")
    if score not in offered:  # not chosen yet, or a score of another method
        score = next(iter(offered))
    values = limits = None
    stage = st.session_state.get("stage", "off")
    if view.explains.shares and stage not in ("off", None):
        stages = shelf.layer_stds(view.spec)
        values, limits = stages[stage], colour_limits(np.concatenate(list(stages.values())))
        score = "hidden message std"
    hops = int(st.session_state.get("hops") or 1)
    return ego_network(
        view.graph, view.table, view.node, hops, score, view.theme, values=values, limits=limits
    )


def neighbourhood(view: View) -> None:
    """The ego network: click a neighbour and walk on."""
    offered = columns.numbers(view.table)
    one, two = st.columns([1, 2])
    one.segmented_control("Hops", [1, 2, 3], default=1, key="hops", required=True)
    two.selectbox(
        "Colour",
        list(offered),
        key="ego_score",
        format_func=lambda key: offered[key].label,
    )
    if view.explains.shares:
        st.segmented_control(
            "Variance, layer by layer",
            ["off", *shelf.layer_stds(view.spec)],
            default="off",
            key="stage",
            required=True,
            help="Colours show the hidden message's standard deviation before and after each "
            "propagation step, on one scale.",
        )
    ego = chosen_network(view)
    trail = st.session_state.get("trail", [])
    back, path = st.columns([1, 5])
    back.button(
        "Back", icon=":material/undo:", on_click=state.go_back, disabled=not trail, shortcut="B"
    )
    steps = " › ".join(map(escaped, [*trail[-6:], view.graph.node_id(view.node)]))
    path.caption(steps if trail else view.say("Click a node to walk to it."))
    network(ego, "ego", lambda: _walked(view), height=460)
    st.caption(
        view.say("Star: the picked node. Diamond: a class never shown. Cross: a mistake. ")
        + "Bright is doubt; larger means more links."
        + (f" {view.graph.noun.counted(ego.hidden)} further out not drawn." if ego.hidden else "")
    )


def _walked(view: View) -> None:
    node = picked("ego")
    if node is not None and node < view.graph.num_nodes:
        state.pick(view.graph.node_id(node))
