"""The graph as a map, one node under the lens, its neighbourhood, what would change it."""

from __future__ import annotations

import streamlit as st

from dashboard.components.standalone import standalone_html
from dashboard.state import View
from dashboard.views import exports
from dashboard.views.explore.inspector import inspector
from dashboard.views.explore.map import controls, node_map
from dashboard.views.explore.neighbourhood import chosen_network, neighbourhood
from dashboard.views.explore.pair import pair
from dashboard.views.explore.selection import selection
from dashboard.views.explore.what_if import what_if
from dashboard.views.explore.why import why

TABS = {
    "Neighbourhood": neighbourhood,
    "Why this uncertainty?": why,
    "What if?": what_if,
    "Compare two": pair,
}


def page(view: View) -> None:
    # Keyed, so that the style sheet can lay them out: side by side, or below each other.
    with st.container(key="explore"):
        left, right = st.container(), st.container()
    # What stands beside the map first: it is what somebody who has just clicked is waiting for.
    with right:
        selection(view)
        inspector(view)
    with left:
        with st.container(horizontal=True, vertical_alignment="center", key="explore_bar"):
            st.title("Where is the model unsure, and why?", anchor=False)
            shown = controls(view)
        node_map(view, shown)
    with right:
        # Only the open tab is computed.
        tabs = dict(zip(TABS, st.tabs(list(TABS), key="tab", bind="query-params"), strict=True))
        for title, tab in tabs.items():
            if tab.open:
                with tab:
                    TABS[title](view)
        exports.downloads(view, {"This neighbourhood as a web page (works offline)": _export})


def _export(view: View) -> tuple[str, str, str]:
    return f"{view.spec.key}-{view.node}.html", standalone_html(chosen_network(view)), "text/html"
