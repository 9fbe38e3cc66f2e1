"""The app's frame: what every page shares, then the page."""

from pathlib import Path

import streamlit as st

import bup
from dashboard import data, learn, state
from dashboard.components import chart
from dashboard.views import frame

ICON = Path(__file__).parent.parent / "assets" / "icon.png"

st.set_page_config(page_title="BUP Explorer", page_icon=str(ICON), layout="wide")

reproduce = st.Page("views/reproduce.py", title="Reproduce", icon=":material/fact_check:")
page = st.navigation(
    {
        "": [
            st.Page("views/explore/page.py", title="Explore", icon=":material/hub:", default=True),
            st.Page("views/reliability.py", title="Reliability", icon=":material/verified:"),
            st.Page(
                "views/ood.py",
                title="Unseen classes",
                icon=":material/help_center:",
                url_path="ood",
            ),
            st.Page("views/structure.py", title="Structure", icon=":material/account_tree:"),
            st.Page("views/compare.py", title="Compare", icon=":material/compare:"),
            st.Page("views/graph.py", title="The graph", icon=":material/dataset:"),
            reproduce,
        ],
        "Learn": learn.pages(),
    },
    position="top",
)
# On arrival the link says it; the switch that reads the link comes further down.
frame.page_style(bool(st.session_state.get("large", st.query_params.get("large") == "true")))

# Lessons bring their own data, and tables show many runs: neither needs a chosen one.
lesson = page.url_path.startswith(learn.PATH)
if lesson or page == reproduce:
    if lesson:
        learn.top(page.title)
    try:
        page.run()
    except bup.BupError as error:
        frame.problem(error)
    st.stop()

try:
    with st.sidebar:
        name = state.choose_graph()
        graph = data.graph(name)
        spec = state.choose_run(graph)
        result = frame.result_or_training(spec, graph)
        node = state.choose_node(graph, result) if result is not None else None
        frame.walk(graph, result)
        st.toggle("Large text", key="large", bind="query-params", help="For a projector.")
except bup.BupError as error:
    frame.problem(error)
    st.stop()

if result is None:
    try:
        frame.training_panel(spec, graph)
    except bup.BupError as error:
        frame.problem(error)
else:
    st.session_state.view = state.View(spec, graph, result, data.table(spec), node, state.theme())
    chart.library()
    try:
        page.run()
    except bup.BupError as error:
        frame.problem(error)
    data.spare_the_collector()
