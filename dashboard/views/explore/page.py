"""Explore: the map, and beside it everything about one node, all on one screen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from dashboard.components.network.standalone import standalone_html
from dashboard.session import selected_node, url
from dashboard.session.view import View
from dashboard.views import exports
from dashboard.views.explore.before_after import change_banner
from dashboard.views.explore.compare_nodes import compare_nodes
from dashboard.views.explore.inspector import answer_tab, node_header
from dashboard.views.explore.map import in_range, map_controls, node_map
from dashboard.views.explore.neighbourhood import OFF, chosen_network, neighbourhood
from dashboard.views.explore.selection import selection
from dashboard.views.explore.stories import welcome
from dashboard.views.explore.what_if import TAB, what_if
from dashboard.views.explore.why import TAB as WHY
from dashboard.views.explore.why import why

TABS: dict[str, Callable[[View], Callable[[], None] | None]] = {
    "Answer": answer_tab,
    WHY: why,
    "Links": neighbourhood,
    TAB: what_if,
    "Compare": compare_nodes,
}
DEFAULTS = {"tab": "Answer", "hops": 1, "stage": OFF}
"""Values that the link leaves out."""


def page(view: View) -> None:
    st.html(Path(__file__).with_name("explore.css"))
    arrived = url.read()
    if st.session_state.get("tab"):  # the link names a tab, so the panel shows a node
        view = dataclasses.replace(view, picked=True)
    url.keep_widgets("tab", "hops", "ego_score", "stage", "unlink", "link_to", "against")
    # The style sheet lays out these keys: side by side, or below each other.
    with st.container(key="explore"):
        left, right = st.container(key="explore_map"), st.container(key="explore_node", gap="small")
    finish = None
    with right:  # drawn first: a visitor who has just clicked waits for this panel
        selected = selection(view)
        if view.picked and not selected:
            node_header(view)
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
                finish = TABS[str(tab)](view)
    with left:
        with st.container(horizontal=True, vertical_alignment="center", key="explore_bar"):
            st.title("Where is the model unsure, and why?", anchor=False)
            filtered = map_controls(view)
            with st.popover("Save", icon=":material/download:"):
                exports.downloads(view, {"This neighbourhood as a web page": _network_file})
        if not view.picked and not selected:
            with right:
                welcome(view)  # after the widget of the colour, which it explains
        visible = filtered & in_range(view)
        selected_node.limit_walk(None if visible.all() else visible)
        change_banner(view)
        node_map(view, filtered, arrived)
    url.write(DEFAULTS)
    if finish is not None:
        finish()


def _network_file(view: View) -> tuple[str, str, str]:
    return f"{view.run.key}-{view.node}.html", standalone_html(chosen_network(view)), "text/html"
