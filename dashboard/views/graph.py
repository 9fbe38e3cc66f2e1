"""First page: which graph is loaded, and what it looks like in figures."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import bup
from bup.datasets import citation
from bup.graph import describe


@st.cache_resource(max_entries=4, show_spinner="Loading the graph ...")
def figures_of(name: str) -> dict:
    return describe(bup.load_graph(name))


st.title("What does the graph look like?")
names = [*citation.CITATION_GRAPHS, "synthetic"]
name = st.selectbox("Graph", names, format_func=lambda n: f"{n}: {bup.GRAPHS[n]}")
try:
    figures = figures_of(name)
except bup.BupError as error:
    st.error(str(error))
    st.stop()

facts = {
    "Papers": f"{figures['nodes']:,}",
    "Citations": f"{figures['edges']:,}",
    "Words": f"{figures['features']:,}",
    "Classes": f"{figures['classes']}",
    "Homophily": f"{figures['homophily']:.2f}",
    "Components": f"{figures['components']['count']:,}",
}
for column, (label, value) in zip(st.columns(len(facts)), facts.items(), strict=True):
    column.metric(label, value)
st.caption(
    "Homophily is the share of citations that join two papers of the same class. A component is a "
    "part of the graph that no citation connects to the rest."
)
for note in figures["notes"]:
    st.info(note)

left, right = st.columns(2)
with left:
    st.subheader("How many papers does each class have?")
    sizes = pd.DataFrame(
        {"class": figures["class_sizes"].keys(), "papers": figures["class_sizes"].values()}
    )
    st.plotly_chart(
        go.Figure(go.Bar(x=sizes["papers"], y=sizes["class"], orientation="h"))
        .update_yaxes(autorange="reversed")
        .update_xaxes(title="papers")
        .update_layout(height=360, margin={"l": 10, "r": 10, "t": 10, "b": 10}),
        width="stretch",
    )
with right:
    st.subheader("How many links does a paper have?")
    degrees = pd.DataFrame(figures["degrees"])
    st.plotly_chart(
        go.Figure(go.Bar(x=degrees["degree"], y=degrees["nodes"]))
        .update_xaxes(title="degree (the self-loop counted, as in the paper)", type="category")
        .update_yaxes(title="papers")
        .update_layout(height=360, margin={"l": 10, "r": 10, "t": 10, "b": 10}),
        width="stretch",
    )
