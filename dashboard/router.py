"""The router: what every page shares, then the page that the address names."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard import pages
from dashboard.cache import garbage, graphs
from dashboard.cache.run_cache import LoadedRun
from dashboard.classroom import bar, membership
from dashboard.components import chart
from dashboard.learn import lesson, tour
from dashboard.pages import Page
from dashboard.session import navigation, selected_node, sidebar
from dashboard.session.view import View, current_theme
from dashboard.ui import streamlit_internals
from dashboard.ui.errors import show_errors
from dashboard.views import picking, style, training

ICON = Path(__file__).parent / "shipped" / "icon.png"
SIDEBAR = 260  # pixels; what it does not take is the map's and the inspector's


def chosen_run() -> LoadedRun | None:
    """What the sidebar asks for; None, and a way to train it, where nobody has trained it yet.

    Not drawn by the pages, so that its widgets stay as they are from page to page.
    """
    with st.sidebar:
        graph = graphs.graph(sidebar.choose_graph())
        spec = sidebar.choose_run(graph)
    return training.load_or_train(spec, graph)


@st.fragment
def look(page: Page, loaded_run: LoadedRun, beside: st.delta_generator.DeltaGenerator) -> None:
    """The picked node, and the page about it: all that is drawn again when somebody clicks.

    Whatever else a page changes is only seen after ``st.rerun()``.
    """
    with beside:
        node, picked = selected_node.node_input(loaded_run.graph, loaded_run.result)
        steps = st.container()
    selected_node.limit_walk(None)
    with streamlit_internals.widgets_of_page(), show_errors():
        page.draw(View(loaded_run, node, current_theme(loaded_run.graph.noun), picked))
    with steps:  # they keep to what the page shows
        picking.walk_buttons(loaded_run.graph, st.session_state.walk_among)


def draw() -> None:
    """All that one run of the script shows."""
    st.set_page_config(
        page_title="BUP Explorer", page_icon=str(ICON), layout="wide", initial_sidebar_state=SIDEBAR
    )
    first = pages.PAGES[0]
    offered = {
        page: st.Page(
            page.draw,
            title=page.title,
            icon=page.icon,
            url_path=page.address if page is not first else "",
            default=page is first,
        )
        for page in pages.PAGES
    }
    menu: dict[str, list] = {}
    for page, entry in offered.items():
        menu.setdefault(page.section, []).append(entry)
    # The page at "/" has its name as an address, like every other.
    named = st.Page(
        first.draw, title=first.title, icon=first.icon, url_path=first.address, visibility="hidden"
    )
    menu[first.section].append(named)
    navigation.set_pages({page.address: entry for page, entry in offered.items()})
    opened = st.navigation(menu, position="top")
    page = next((page for page, entry in offered.items() if entry is opened), first)
    # On arrival the link says it; the switch that reads the link comes further down.
    style.page_style(bool(st.session_state.get("large", st.query_params.get("large") == "true")))
    with show_errors():
        membership.restore()
        bar.bar(page.address)
        tour.walk()

    if page.needs_run:
        loaded_run = None
        with show_errors():
            loaded_run = chosen_run()
        with st.sidebar:
            beside = st.container()
            st.toggle("Large text", key="large", bind="query-params", help="For a projector.")
        if loaded_run is not None:
            chart.library()
            look(page, loaded_run, beside)
            garbage.freeze_gc(page.address)
    else:
        if page.section == pages.LEARN:
            lesson.top(page.title)
        with show_errors():
            opened.run()
        garbage.freeze_gc(page.address)
