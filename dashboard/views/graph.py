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
from dashboard.views import charts, exports, highlight
from dashboard.views.highlight import NodeList
from dashboard.views.node_card import node_card

PAGE = "graph"
COLUMNS = ("true", "degree", "part")


def page(view: View) -> None:
    st.title("What does the graph look like?")
    node_card(view)
    graph = view.graph
    figures = graphs.description(graph)
    homophily = figures["homophily"]
    facts = {
        view.say("Nodes"): f"{figures['nodes']:,}",
        "Links": f"{figures['edges']:,}",
        "Features": f"{figures['features']:,}",
        "Classes": f"{figures['classes']}",
        "Homophily": "unknown" if homophily is None else f"{homophily:.2f}",
        "Components": f"{figures['components']['count']:,}",
    }
    for column, (label, value) in zip(st.columns(len(facts)), facts.items(), strict=True):
        column.metric(label, value)
    st.caption(
        view.say(
            "Homophily is the share of links that join two nodes of the same class. A component is "
            "a part of the graph that no link connects to the rest."
        )
    )
    for note in figures["notes"]:
        st.info(escaped(note))
    left, right = st.columns(2)
    with left:
        st.header(view.say("How many nodes does each class have?"))
        charts.clickable(
            class_sizes_figure(figures["class_sizes"], view.theme),
            "class_sizes",
            view.say(
                "A class of few nodes is harder to learn and easier to overlook. The colours are "
                "those of the map. Click a bar to see its nodes."
            ),
            lambda c: highlight.highlight(view, PAGE, f"class {c}", _of_class(view, c)),
            [Mark(0.0, float(own)) for i in view.marked if (own := int(graph.labels[i])) >= 0],
        )
    counts = np.bincount(graph.degree)
    with right:
        st.header(view.say("How many links does a node have?"))
        charts.clickable(
            degrees_figure(counts, view.theme),
            "degrees",
            view.say(
                "A point for every number of links that occurs. Most nodes have few links, and a "
                "few have very many. Click a point to see its nodes."
            ),
            lambda k: highlight.highlight(view, PAGE, f"links {k}", _with_links(view, k)),
            [Mark(float(k + 1), float(counts[k])) for i in view.marked for k in (graph.degree[i],)],
        )
    kind, _, number = (highlight.highlighted(PAGE) or "").partition(" ")
    if kind == "class" and int(number) < graph.num_classes:
        highlight.show_nodes(view, PAGE, _of_class(view, int(number)))
    elif kind == "links" and int(number) < len(counts):
        highlight.show_nodes(view, PAGE, _with_links(view, int(number)))
    found = np.flatnonzero(counts)
    rows = pd.DataFrame({"links": found, view.graph.noun.many: counts[found]})
    exports.numbers(rows, f"{view.spec.graph}-links", "degrees")
    exports.downloads(view)


def _of_class(view: View, c: int) -> NodeList:
    title = f"of the class {escaped(view.graph.class_names[c])}"
    return NodeList(title, np.flatnonzero(view.graph.labels == c), COLUMNS)


def _with_links(view: View, links: int) -> NodeList:
    title = f"with {links:,} link{'s' if links != 1 else ''}"
    return NodeList(title, np.flatnonzero(view.graph.degree == links), COLUMNS)
