"""A page with nothing but two maps of one graph, for the browser tests; names may be hostile."""

import json

import numpy as np
import pandas as pd
import streamlit as st

from bup.graph import Graph, simple_edges
from dashboard.components.map import graph_map, lasso_corners, map_data
from dashboard.ui.theme import Theme
from dashboard.views.picking import clicked_node

st.set_page_config(layout="wide")
HOSTILE = '</script><img src="x" onerror="window.hit = 1"> <script>window.hit = 1</script>'
SIDE = 12
n = SIDE * SIDE + 3  # a lattice, and a triangle of its own
names = (HOSTILE, "right half") if "hostile" in st.query_params else ("left half", "right half")
where = np.stack([np.arange(n) % SIDE, np.arange(n) // SIDE], axis=1).astype(float)
where[-3:] = [[15, 2], [16, 2], [15.5, 3]]
right = np.flatnonzero((np.arange(n) % SIDE < SIDE - 1) & (np.arange(n) < n - 3))
edges = np.concatenate([[right, right + 1], [[n - 3, n - 2, n - 1], [n - 2, n - 1, n - 3]]], axis=1)
positions = ((where - where.mean(axis=0)) / 10).astype(np.float32)
labels = (where[:, 0] >= SIDE / 2).astype(int)
ids = tuple(f"{HOSTILE if 'hostile' in st.query_params else 'node'} {i}" for i in range(n))
graph = Graph("lattice", np.ones((n, 1), np.float32), simple_edges(*edges), labels, names, ids)
wrong = np.arange(n) % 7 == 0
said = np.where(wrong, 1 - labels, labels)
table = pd.DataFrame(
    {
        "id": ids,
        "true": np.array(names)[labels],
        "predicted": np.array(names)[said],
        "part": "test",
        "ood": np.arange(n) == 5,
        "correct": pd.array(~wrong, dtype="boolean"),
        "degree": graph.degree,
        "confidence": 1 - np.arange(n) / n,
    }
)

st.session_state.setdefault("node", 0)
colour = st.selectbox("Colour", ["confidence", "degree", "true"])
log = st.session_state.setdefault("log", {})
for column, key in zip(st.columns(2), ("one", "two"), strict=True):

    def on_pick(key: str = key) -> None:
        st.session_state.node = clicked_node(key)

    def on_group(key: str = key) -> None:
        log["group"] = np.flatnonzero(map_data.inside(positions, lasso_corners(key))).tolist()

    def on_range(key: str = key) -> None:
        log["range"] = st.session_state[key]["range"]

    theme = Theme(dark=st.context.theme.type == "dark")
    limits = map_data.own_limits(table, colour)
    with column:
        if key == "one" or st.toggle("Second map", value=True):
            graph_map(
                map_data.graph_parcel(graph, positions),
                map_data.layer_parcel(table, colour, names, np.ones(n, dtype=bool)),
                map_data.look(table, colour, names, theme, limits),
                st.session_state.node,
                key,
                on_pick,
                on_group,
                on_range,
                plain="plain" in st.query_params,
            )
st.text(json.dumps({"node": st.session_state.node, **log}))
