"""A page with nothing but the network component, for the browser tests."""

import json

import numpy as np
import pandas as pd
import streamlit as st

import bup
from dashboard.components.network import network
from dashboard.components.network.ego import ego_network, legend
from dashboard.components.network.standalone import standalone_html
from dashboard.ui.theme import Theme
from dashboard.views.picking import clicked_node

st.set_page_config(layout="wide")


@st.cache_resource
def cora() -> tuple[bup.Graph, pd.DataFrame]:
    """Cora with made-up predictions: what a model would say is not the point here."""
    graph = bup.load_graph("cora")
    names = np.array(graph.class_names)
    ood = graph.labels == 6
    wrong = (np.arange(graph.num_nodes) % 7 == 0) & ~ood
    correct = pd.array(~wrong, dtype="boolean")
    correct[ood] = pd.NA
    degree = graph.looped_degree
    columns = {
        "id": graph.ids,
        "true": names[graph.labels],
        "predicted": names[(graph.labels + wrong) % 6],
        "part": "test",
        "ood": ood,
        "correct": correct,
        "degree": graph.degree,
        "message_std": 1 / np.sqrt(degree),
        "confidence": 1 - 1 / (1 + degree),
    }
    return graph, pd.DataFrame(columns)


HOSTILE = '</script><img src="x" onerror="window.hit = 1"> href=<script>window.hit = 1</script>'


def walk() -> None:
    node = clicked_node("ego")
    if node is not None:
        st.session_state.node = node


def go_home() -> None:
    st.session_state.node = 0


graph, table = cora()
st.session_state.setdefault("node", int(st.query_params.get("node", 0)))
if "hostile" in st.query_params:
    table = table.assign(id=HOSTILE + table["id"], title=HOSTILE, true=HOSTILE, predicted=HOSTILE)
theme = Theme(dark=st.context.theme.type == "dark")
left, right = st.columns(2)
hops = left.selectbox("Hops", [1, 2, 3], index=1)
score = right.selectbox("Colour", ["message_std", "confidence"])
node = st.session_state.node
ego = ego_network(graph, table, node, hops, score, theme)
network(ego, key="ego", on_pick=walk, height=560)
st.caption(legend(ego))
st.text(json.dumps({"node": node, "shown": len(ego.nodes), "hidden": ego.hidden}))
st.button("Home", on_click=go_home)
st.download_button("Export", lambda: standalone_html(ego), "network.html", "text/html")
