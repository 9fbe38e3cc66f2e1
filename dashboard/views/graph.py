"""The graph in figures, before any model."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.cache import graphs
from dashboard.charts.chart import Chart, NodeList, make_chart, nodes_by
from dashboard.components.chart import Mark
from dashboard.figures.summary import class_sizes_figure, degrees_figure
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.ui.metric_row import metric_row
from dashboard.ui.numbers import counted
from dashboard.views import exports
from dashboard.views.highlight import Highlights
from dashboard.views.node_card import node_card

COLUMNS = ("true", "degree", "part")


def page(view: View) -> None:
    st.title("What does the graph look like?")
    node_card(view)
    graph = view.graph
    figures = graphs.description(graph)
    homophily = figures["homophily"]
    metric_row(
        {
            view.say("Nodes"): f"{figures['nodes']:,}",
            "Links": f"{figures['edges']:,}",
            "Features": f"{figures['features']:,}",
            "Classes": f"{figures['classes']}",
            "Homophily": "unknown" if homophily is None else f"{homophily:.2f}",
            "Components": f"{figures['components']['count']:,}",
        }
    )
    st.caption(
        view.say(
            "Homophily is the share of links that join two nodes of the same class. A component is "
            "a part of the graph that no link connects to the rest."
        )
    )
    for note in figures["notes"]:
        st.info(escaped(note))
    counts = np.bincount(graph.degree)
    highlights = Highlights(view, "graph")
    left, right = st.columns(2)
    with left:
        highlights.chart(_class_sizes(view, figures["class_sizes"]))
    with right:
        highlights.chart(_degrees(view, counts))
    highlights.show()
    degrees = np.flatnonzero(counts)
    rows = pd.DataFrame({"links": degrees, graph.noun.many: counts[degrees]})
    exports.show_numbers(rows, f"{view.spec.graph}-links", "degrees")
    exports.downloads(view)


def _class_sizes(view: View, sizes: Mapping[str, int]) -> Chart:
    names, labels = view.graph.class_names, view.graph.labels
    lists = {
        c: NodeList(f"of the class {names[c]}", nodes, COLUMNS)
        for c, nodes in nodes_by(labels, np.arange(len(labels))).items()
        if c >= 0
    }
    marks = [Mark(0.0, float(labels[i])) for i in view.marked if labels[i] >= 0]
    return make_chart(view, "class_sizes", class_sizes_figure(sizes, view.theme), lists, marks)


def _degrees(view: View, counts: np.ndarray) -> Chart:
    degree = view.graph.degree
    lists = {
        k: NodeList(f"with {counted(k, 'link')}", nodes, COLUMNS)
        for k, nodes in nodes_by(degree, np.arange(len(degree))).items()
    }
    marks = [Mark(float(degree[i] + 1), float(counts[degree[i]])) for i in view.marked]
    return make_chart(view, "degrees", degrees_figure(counts, view.theme), lists, marks)
