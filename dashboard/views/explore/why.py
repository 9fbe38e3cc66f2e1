"""What every linked node did to the picked one's variance."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bup.methods import METHODS
from dashboard.figures.class_tables import breakdown_table
from dashboard.figures.node import shares_figure
from dashboard.session.view import View
from dashboard.views import charts, exports, picking


def why(view: View) -> None:
    if not view.explains.shares:
        able = ", ".join(m.short for m in METHODS.values() if m.explains.shares)
        st.info(
            "This method does not pass variances along links, so there is no share of a linked "
            f"{view.graph.noun.one} to show. Choose {able} in the sidebar."
        )
        return
    seen = view.loaded_run.inspection(view.node)
    who = [view.graph.node_id(n) for n in seen.steps[0].neighbours]
    charts.clickable(
        shares_figure(seen.steps, who, view.theme),
        "shares",
        view.say(
            "Each bar is what one linked node added to this node's variance or took off it, "
            "averaged over the hidden dimensions; they sum exactly to the change. Click a bar to "
            "walk to its node."
        ),
        lambda neighbour: picking.pick_node(view, neighbour),
    )
    for found in seen.breakdowns:
        st.markdown(
            f"**{view.say(found.title)}**", help="The line in each bar is the mean over the graph."
        )
        st.html(breakdown_table(found, view.theme))
    if seen.formula is not None:
        st.markdown(view.say(seen.formula.words))
        if seen.formula.latex:
            st.latex(seen.formula.latex)
        st.markdown(view.say(seen.formula.meaning))
    rows = [
        {
            "step": number,
            view.say("linked node"): linked,
            "degree": int(view.graph.degree[n]),
            "change of variance": float(change),
            "share of the variance before": _share(change, step.before.mean()),
        }
        for number, step in enumerate(seen.steps, 1)
        for n, linked, change in zip(step.neighbours, who, step.change.mean(axis=1), strict=True)
    ]
    if rows:
        exports.numbers(pd.DataFrame(rows), f"{view.run.key}-{view.node}-shares", "why")


def _share(change: float, before: float) -> float:
    """Nothing, of a variance that is no more."""
    return float(change / before) if before > 0 else 0.0
