"""What every page shares, then the page that the address names."""

import gc
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st

from dashboard import pages
from dashboard.cache import graphs
from dashboard.cache.run_cache import LoadedRun
from dashboard.classroom import bar, membership
from dashboard.components import chart
from dashboard.learn import lesson, tour
from dashboard.pages import Page
from dashboard.session import navigation, selected_node, sidebar, url
from dashboard.session.view import View, current_theme
from dashboard.ui import streamlit_internals
from dashboard.ui.errors import show_errors
from dashboard.views import picking, style, training

ICON = Path(__file__).parent / "shipped" / "icon.png"
SIDEBAR = 260  # pixels


def chosen_run() -> LoadedRun | None:
    """The run that the sidebar chooses, or a way to train it.

    Drawn before the page, so that the widgets keep their values from page to page.
    """
    with st.sidebar:
        graph = graphs.graph(sidebar.choose_graph())
        spec = sidebar.choose_run(graph)
    return training.load_or_train(spec, graph)


@st.fragment
def look(page: Page, loaded_run: LoadedRun, beside: st.delta_generator.DeltaGenerator) -> None:
    """Draw the picked node and the page about it: all that a click draws again.

    What else depends on the page's changes is drawn only after ``st.rerun()``.
    """
    with beside:
        node, picked = selected_node.node_input(loaded_run.graph, loaded_run.result)
        steps = st.container()
    selected_node.limit_walk(None)
    with streamlit_internals.widgets_of_page(), show_errors():
        page.draw(View(loaded_run, node, current_theme(loaded_run.graph.noun), picked))
    with steps:  # drawn last, because the page decides which nodes they lead to
        picking.walk_buttons(loaded_run.graph, st.session_state.walk_among)


def choose_page() -> tuple[Page, streamlit_internals.Page]:
    """The page that the address names, and what draws it; draws the menu."""
    first = pages.PAGES[0]
    # The first page is at "/" and at its own address: the menu lists the one that is open.
    at_root = not urlsplit(st.context.url or "").path.endswith(f"/{first.address}")
    menu: dict[str, list[streamlit_internals.Page]] = {}
    entries: dict[streamlit_internals.Page, Page] = {}

    def add(page: Page, url_path: str, visible: bool = True) -> None:
        entry = st.Page(
            page.draw,
            title=page.title,
            icon=page.icon,
            url_path=url_path,
            default=not url_path,
            visibility="visible" if visible else "hidden",
        )
        menu.setdefault(page.section, []).append(entry)
        entries[entry] = page

    add(first, first.address, not at_root)
    add(first, "", at_root)
    for page in pages.PAGES[1:]:
        add(page, page.address)
    navigation.set_pages({page.address: entry for entry, page in entries.items()})
    opened = st.navigation(menu, position="top")
    return entries.get(opened, first), opened


def draw() -> None:
    """Draw the menu, the sidebar and the page: one run of the script."""
    st.set_page_config(
        page_title="BUP Explorer", page_icon=str(ICON), layout="wide", initial_sidebar_state=SIDEBAR
    )
    page, opened = choose_page()
    # The first run of the script reads the link: the switch that does so is drawn further down.
    style.page_style(bool(st.session_state.get("large", url.get("large") == "true")))
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
        if loaded_run is None:
            return
        chart.library()
        look(page, loaded_run, beside)
    else:
        if page.section == pages.LEARN:
            lesson.top(page.title)
        with show_errors():
            opened.run()
    freeze_gc(page.address)


@st.cache_resource(show_spinner=False)
def freeze_gc(page: str) -> None:
    """Keep the objects that a page has loaded out of later garbage collections.

    Streamlit collects garbage after every run of the script; over all objects of the libraries that
    takes a quarter of a second, in which no other visitor is served.
    """
    gc.collect()
    gc.freeze()
