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
    figures = graphs.description(view.spec.graph)
    homophily = figures["homophily"]
    facts = {
        "Papers": f"{figures['nodes']:,}",
        "Links": f"{figures['edges']:,}",
        "Words": f"{figures['features']:,}",
        "Classes": f"{figures['classes']}",
        "Homophily": "unknown" if homophily is None else f"{homophily:.2f}",
        "Components": f"{figures['components']['count']:,}",
    }
    for column, (label, value) in zip(st.columns(len(facts)), facts.items(), strict=True):
        column.metric(label, value)
    st.caption(
        "Homophily is the share of links that join two papers of the same class. A component is a "
        "part of the graph that no link connects to the rest."
    )
    for note in figures["notes"]:
        st.info(escaped(note))
    left, right = st.columns(2)
    with left:
        st.subheader("How many papers does each class have?")
        charts.chart(
            class_sizes_figure(figures["class_sizes"], view.theme),
            "class_sizes",
            "A class of few papers is harder to learn and easier to overlook. The colours are "
            "those of the map.",
        )
    with right:
        st.subheader("How many links does a paper have?")
        charts.chart(
            degrees_figure(figures["degrees"], view.theme),
            "degrees",
            "Most papers have few links and a few have very many. A paper's degree counts itself, "
            "so that a paper without links has degree 1.",
        )
    exports.numbers(pd.DataFrame(figures["degrees"]), f"{view.spec.graph}-degrees", "degrees")
    exports.downloads(view)
