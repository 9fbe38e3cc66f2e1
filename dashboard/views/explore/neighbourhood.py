"""The tab Links: the nodes around the picked node as a network to walk in."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from dashboard.components.network import network
from dashboard.components.network.ego import EgoNetwork, ego_network, not_drawn
from dashboard.figures.class_tables import score_bar
from dashboard.session import selected_node, url
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.markdown import escaped
from dashboard.views import picking, tables

OFF = "off"
HOPS = [1, 2, 3]


def chosen_network(view: View) -> EgoNetwork:
    """The neighbourhood as the widgets of the tab say, or with their defaults."""
    offered = columns.numeric_columns(view.table)
    score = st.session_state.get("ego_score")
    if score not in offered:  # nothing chosen yet, or a score of another method
        score = next(iter(offered))
    values = limits = None
    if stage := _stage(view):
        stages = view.loaded_run.layer_stds
        values = stages[stage]
        limits = columns.colour_limits(np.concatenate(list(stages.values())))
        score = "hidden message uncertainty, " + stage
    hops = int(st.session_state.get("hops") or 1)
    return ego_network(
        view.graph, view.table, view.node, hops, score, view.theme, values=values, limits=limits
    )


def _stage(view: View) -> str | None:
    """The layer whose hidden messages colour the network; None for a score of the output."""
    stage = st.session_state.get("stage", OFF)
    return stage if view.explains.shares and stage not in (OFF, None) else None


def neighbourhood(view: View) -> None:
    offered = columns.numeric_columns(view.table)
    url.ensure_option("hops", HOPS)
    url.ensure_option("ego_score", list(offered))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control("Links away", HOPS, key="hops", required=True)
        st.selectbox(
            "Colour",
            list(offered),
            key="ego_score",
            format_func=lambda key: offered[key].label,
            disabled=_stage(view) is not None,
        )
    if view.explains.shares:
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
    on_pick = picking.on_click("ego", partial(picking.pick_node, view))
    network(ego, "ego", on_pick, height=460)
    st.html(score_bar(ego.score, ego.low, ego.high, ego.doubt, view.theme))
    visited = selected_node.visited_nodes()
    with st.container(horizontal=True, vertical_alignment="center"):
        back = selected_node.go_back
        st.button("Back", icon=":material/undo:", on_click=back, disabled=not visited)
        path = " › ".join(
            map(escaped, [*map(view.name_of_id, visited[-3:]), view.graph.name_of(view.node)])
        )
        st.caption(path if visited else view.say("Click a node to walk to it."))
    st.caption(
        view.say("Star: the picked node. Diamond: a class never shown. Cross: a mistake. ")
        + "Larger: more links."
        + (f" {not_drawn(ego).capitalize()}." if ego.hidden else "")
    )
    neighbours = view.graph.neighbours(view.node).tolist()
    if neighbours:
        tables.prediction_table(view, neighbours, f"near_{view.node}")
    else:
        st.caption(view.say("This node has no links: its answer rests on its own words alone."))
