"""The graph as a map, and beside it everything about one node: all on one screen."""

from __future__ import annotations

import streamlit as st

from dashboard.components.standalone import standalone_html
from dashboard.state import View
from dashboard.views import exports
from dashboard.views.explore.inspector import head, says
from dashboard.views.explore.map import controls, node_map
from dashboard.views.explore.neighbourhood import chosen_network, neighbourhood
from dashboard.views.explore.pair import pair
from dashboard.views.explore.selection import selection
from dashboard.views.explore.style import STYLE
from dashboard.views.explore.what_if import what_if
from dashboard.views.explore.why import why

TABS = {
    "Answer": says,
    "Why?": why,
    "Links": neighbourhood,
    "What if?": what_if,
    "Compare": pair,
}


def page(view: View) -> None:
    st.html(f"<style>{STYLE}</style>")
    # Keyed, so that the style sheet can lay them out: side by side, or below each other.
    with st.container(key="explore"):
        left, right = st.container(key="explore_map"), st.container(key="explore_node", gap="small")
    # What stands beside the map first: it is what somebody who has just clicked is waiting for.
    with right:
        if not selection(view):
            head(view)
            tabs = st.tabs(list(TABS), key="tab", bind="query-params")
            # Only the open tab is computed.
            for tab, draw in zip(tabs, TABS.values(), strict=True):
                if tab.open:
                    with tab:
                        draw(view)
    with left:
        with st.container(horizontal=True, vertical_alignment="center", key="explore_bar"):
            st.title("Where is the model unsure, and why?", anchor=False)
            shown = controls(view)
            with st.popover("Save", icon=":material/download:"):
                exports.downloads(view, {"This neighbourhood as a web page": _export})
        node_map(view, shown)


def _export(view: View) -> tuple[str, str, str]:
    return f"{view.run.key}-{view.node}.html", standalone_html(chosen_network(view)), "text/html"
