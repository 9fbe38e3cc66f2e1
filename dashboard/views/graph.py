"""The graph in figures, before any model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.cache import graphs
from dashboard.components.chart import Mark
from dashboard.figures.summary import class_sizes_figure, degrees_figure
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.views import exports, tables
from dashboard.views.highlight import Highlights, NodeList, nodes_by
from dashboard.views.node_card import node_card

COLUMNS = ("true", "degree", "part")


def page(view: View) -> None:
    st.title("What does the graph look like?")
    node_card(view)
    graph = view.graph
    figures = graphs.description(graph)
    homophily = figures["homophily"]
    tables.metric_row(
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
    highlights, every = Highlights(view, "graph"), np.arange(graph.num_nodes)
    left, right = st.columns(2)
    with left:
        st.header(view.say("How many nodes does each class have?"))
        highlights.chart(
            class_sizes_figure(figures["class_sizes"], view.theme),
            "class_sizes",
            view.say(
                "A class of few nodes is harder to learn and easier to overlook. The colours are "
                "those of the map. Click a bar to see its nodes."
            ),
            {
                c: NodeList(f"of the class {escaped(graph.class_names[c])}", nodes, COLUMNS)
                for c, nodes in nodes_by(graph.labels, every).items()
                if c >= 0
            },
            [Mark(0.0, float(label)) for i in view.marked if (label := int(graph.labels[i])) >= 0],
        )
    counts = np.bincount(graph.degree)
    with right:
        st.header(view.say("How many links does a node have?"))
        highlights.chart(
            degrees_figure(counts, view.theme),
            "degrees",
            view.say(
                "A point for every number of links that occurs. Most nodes have few links, and a "
                "few have very many. Click a point to see its nodes."
            ),
            {
                k: NodeList(f"with {k:,} link{'s' if k != 1 else ''}", nodes, COLUMNS)
                for k, nodes in nodes_by(graph.degree, every).items()
            },
            [Mark(float(k + 1), float(counts[k])) for i in view.marked for k in (graph.degree[i],)],
        )
    highlights.show()
    degrees = np.flatnonzero(counts)
    rows = pd.DataFrame({"links": degrees, graph.noun.many: counts[degrees]})
    exports.show_numbers(rows, f"{view.spec.graph}-links", "degrees")
    exports.downloads(view)
