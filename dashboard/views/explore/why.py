"""The tab Why?: what every linked node did to the picked node's variance."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bup.methods import METHODS
from dashboard.figures.class_tables import breakdown_table
from dashboard.figures.node import shares_figure
from dashboard.session.view import View
from dashboard.views import charts, exports


def why(view: View) -> None:
    if not view.explains.shares:
        able = ", ".join(m.short for m in METHODS.values() if m.explains.shares)
        st.info(
            "This method does not pass variances along links, so there is no share of a linked "
            f"{view.graph.noun.one} to show. Choose {able} in the sidebar."
        )
        return
    inspection = view.loaded_run.inspection(view.node)
    names = [view.graph.name_of(n) for n in inspection.steps[0].neighbours]
    charts.node_chart(
        view,
        shares_figure(inspection.steps, names, view.theme),
        "shares",
        view.say(
            "Each bar is what one linked node added to this node's variance or took off it, "
            "averaged over the hidden dimensions; the bars sum exactly to the change. Click a bar "
            "to pick its node."
        ),
    )
    for breakdown in inspection.breakdowns:
        st.markdown(
            f"**{view.say(breakdown.title)}**",
            help="The line in each bar is the mean over the graph.",
        )
        st.html(breakdown_table(breakdown, view.theme))
    if inspection.formula is not None:
        st.markdown(view.say(inspection.formula.words))
        if inspection.formula.latex:
            st.latex(inspection.formula.latex)
        st.markdown(view.say(inspection.formula.meaning))
    rows = []
    for number, step in enumerate(inspection.steps, 1):
        before = step.before.mean()
        for n, name, change in zip(step.neighbours, names, step.change.mean(axis=1), strict=True):
            rows.append(
                {
                    "step": number,
                    view.say("linked node"): name,
                    "degree": int(view.graph.degree[n]),
                    "change of variance": float(change),
                    "share of the variance before": float(change / before) if before > 0 else 0.0,
                }
            )
    if rows:
        exports.show_numbers(pd.DataFrame(rows), f"{view.run.key}-{view.node}-shares", "why")
