"""The nodes around the picked one, as a network to walk in."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard.components.network import clicked_node, network
from dashboard.components.network.ego import EgoNetwork, ego_network, not_drawn
from dashboard.figures.class_tables import score_bar
from dashboard.session import selected_node, url
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.columns import colour_limits
from dashboard.ui.markdown import escaped
from dashboard.views import picking

OFF = "off"


def chosen_network(view: View) -> EgoNetwork:
    """The neighbourhood as the controls of its tab ask for it, or at their defaults."""
    offered = columns.numeric_columns(view.table)
    score = st.session_state.get("ego_score")
    if score not in offered:  # not chosen yet, or a score of another method
        score = next(iter(offered))
    values = limits = None
    stage = st.session_state.get("stage", OFF)
    if view.explains.shares and stage not in (OFF, None):
        stages = view.loaded_run.layer_stds
        values, limits = stages[stage], colour_limits(np.concatenate(list(stages.values())))
        score = "hidden message uncertainty, " + stage
    hops = int(st.session_state.get("hops") or 1)
    return ego_network(
        view.graph, view.table, view.node, hops, score, view.theme, values=values, limits=limits
    )


def neighbourhood(view: View) -> None:
    """The ego network: click a neighbour and walk on."""
    offered = columns.numeric_columns(view.table)
    steps = view.explains.shares
    stepping = bool(steps) and st.session_state.get("stage", OFF) not in (OFF, None)
    url.ensure_option("hops", [1, 2, 3])
    url.ensure_option("ego_score", list(offered))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control("Links away", [1, 2, 3], key="hops", required=True)
        st.selectbox(
            "Colour",
            list(offered),
            key="ego_score",
            format_func=lambda key: offered[key].label,
            disabled=stepping,
        )
    if steps:
        stages = [OFF, *view.loaded_run.layer_stds]
        url.ensure_option("stage", stages)
        st.segmented_control(
            "Layer by layer",
            stages,
            key="stage",
            required=True,
            help="Colours show the hidden message's standard deviation before and after each "
            "propagation step, on one scale.",
        )
    ego = chosen_network(view)
    network(ego, "ego", lambda: _walked(view), height=460)
    st.html(score_bar(ego.score, ego.low, ego.high, ego.doubt, view.theme))
    trail = selected_node.visited_nodes()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Back", icon=":material/undo:", on_click=selected_node.go_back, disabled=not trail
        )
        way = " › ".join(map(escaped, [*trail[-3:], view.graph.node_id(view.node)]))
        st.caption(way if trail else view.say("Click a node to walk to it."))
    st.caption(
        view.say("Star: the picked node. Diamond: a class never shown. Cross: a mistake. ")
        + "Larger: more links."
        + (f" {not_drawn(ego).capitalize()}." if ego.hidden else "")
    )
    near = view.graph.neighbours(view.node).tolist()
    if near:
        picking.answers(view, near, f"near_{view.node}")
    else:
        st.caption(view.say("It has no links: nothing but its own words speaks for this node."))


def _walked(view: View) -> None:
    node = clicked_node("ego")
    if node is not None and node < view.graph.num_nodes:
        selected_node.pick(view.graph.node_id(node))
