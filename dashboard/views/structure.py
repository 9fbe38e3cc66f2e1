"""Does uncertainty follow the links?"""

import pandas as pd
import streamlit as st

from dashboard.charts import structure
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.link_choice import link_choice
from dashboard.views import charts, exports
from dashboard.views.node_card import node_card


def page(view: View) -> None:
    st.title(view.say("Is a well-linked node a certain node?"))
    node_card(view)
    labels = {key: column.label for key, column in columns.score_columns(view.table).items()}
    score = link_choice(st.selectbox, "Score", labels, "structure_score")
    rows = []
    for column, (axis, label) in zip(st.columns(2), structure.AXES.items(), strict=True):
        chart, correlation = structure.against(view, axis, score)
        with column:
            charts.show(view, chart)
        if correlation is not None:
            numbers = {"low": correlation.low, "high": correlation.high}
            numbers[view.graph.noun.many] = correlation.count
            rows.append({"against": view.say(label), "Spearman": correlation.value} | numbers)
    exports.show_numbers(pd.DataFrame(rows), f"{view.run.key}-structure", "structure")
    if (rule := structure.factor(view)) is not None:
        charts.show(view, rule)
    exports.downloads(view)
