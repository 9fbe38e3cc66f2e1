"""The graph as a map, and beside it everything about one node: all on one screen."""

from __future__ import annotations

import dataclasses

import streamlit as st

from dashboard.components.network.standalone import standalone_html
from dashboard.session import selected_node, url
from dashboard.session.view import View
from dashboard.views import exports
from dashboard.views.explore import before_after
from dashboard.views.explore.compare_nodes import compare_nodes
from dashboard.views.explore.inspector import head, says
from dashboard.views.explore.map import controls, in_range, node_map
from dashboard.views.explore.neighbourhood import OFF, chosen_network, neighbourhood
from dashboard.views.explore.selection import selection
from dashboard.views.explore.stories import welcome
from dashboard.views.explore.style import STYLE
from dashboard.views.explore.what_if import TAB, what_if
from dashboard.views.explore.why import why

TABS = {
    "Answer": says,
    "Why?": why,
    "Links": neighbourhood,
    TAB: what_if,
    "Compare": compare_nodes,
}
USUAL = {"tab": "Answer", "hops": 1, "stage": OFF}
"""What the address need not say."""


def page(view: View) -> None:
    st.html(f"<style>{STYLE}</style>")
    arrived = url.read()
    if st.session_state.get("tab"):  # a link that asks something of a node, whichever
        view = dataclasses.replace(view, picked=True)
    url.keep_widgets("tab", "hops", "ego_score", "stage", "unlink", "link_to")
    # Keyed, so that the style sheet can lay them out: side by side, or below each other.
    with st.container(key="explore"):
        left, right = st.container(key="explore_map"), st.container(key="explore_node", gap="small")
    # What stands beside the map first: it is what somebody who has just clicked is waiting for.
    with right:
        selected = selection(view)
        if view.picked and not selected:
            head(view)
            url.ensure_option("tab", list(TABS))
            tab = st.segmented_control(
                view.say("What to see of the node"),
                list(TABS),
                key="tab",
                required=True,
                label_visibility="collapsed",
                width="stretch",
            )
            with st.container(key="explore_tab", gap="small"):
                TABS[str(tab)](view)
    with left:
        with st.container(horizontal=True, vertical_alignment="center", key="explore_bar"):
            st.title("Where is the model unsure, and why?", anchor=False)
            shown = controls(view)
            with st.popover("Save", icon=":material/download:"):
                exports.downloads(view, {"This neighbourhood as a web page": _export})
        if not view.picked and not selected:
            with right:
                welcome(view)  # it speaks of the colour that was just chosen
        every = shown & in_range(view)
        selected_node.limit_walk(None if every.all() else every)
        before_after.change_banner(view)
        node_map(view, shown, arrived)
    url.write(USUAL)


def _export(view: View) -> tuple[str, str, str]:
    return f"{view.run.key}-{view.node}.html", standalone_html(chosen_network(view)), "text/html"
