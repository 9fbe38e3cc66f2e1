"""The graph in figures, before any model."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import graphs
from dashboard.figures.summary import class_sizes_figure, degrees_figure
from dashboard.markdown import escaped
from dashboard.state import View
from dashboard.views import charts, exports


def page(view: View) -> None:
    st.title("What does the graph look like?")
    figures = graphs.description(view.graph)
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
        st.subheader(view.say("How many nodes does each class have?"))
        charts.chart(
            class_sizes_figure(figures["class_sizes"], view.theme),
            "class_sizes",
            view.say(
                "A class of few nodes is harder to learn and easier to overlook. The colours are "
                "those of the map."
            ),
        )
    with right:
        st.subheader(view.say("How many links does a node have?"))
        charts.chart(
            degrees_figure(figures["degrees"], view.theme),
            "degrees",
            view.say(
                "Most nodes have few links, and a few have very many. The degree of a node counts "
                "the node itself, so that one without links has degree 1."
            ),
        )
    exports.numbers(pd.DataFrame(figures["degrees"]), f"{view.spec.graph}-degrees", "degrees")
    exports.downloads(view)
