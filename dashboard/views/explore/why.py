"""What every linked paper did to the picked one's variance."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from bup.inspection import Inspection
from bup.methods import settings_of
from dashboard import shelf
from dashboard.figures.node import shares_figure
from dashboard.state import View
from dashboard.views import charts, exports


def why(view: View) -> None:
    if not view.has_variance:
        st.info(
            "This method passes plain numbers, so there is no message variance to explain. Choose "
            "BUP in the sidebar."
        )
        return
    seen = shelf.inspection(view.spec, view.node)
    s = settings_of(view.spec)
    ids = [view.graph.node_id(n) for n in view.graph.neighbours(view.node)]
    charts.chart(
        shares_figure(seen.steps, ids, view.theme),
        "shares",
        "Each bar is what one linked paper added to this paper's variance or took off it, averaged "
        "over the hidden dimensions; they sum exactly to the change.",
    )
    st.markdown(_formula(view, s, seen))
    rows = [
        {
            "step": number,
            "linked paper": paper,
            "degree": int(view.graph.degree[n]),
            "change of variance": float(change),
            "share of the variance before": float(change / step.before.mean()),
        }
        for number, step in enumerate(seen.steps, 1)
        for n, paper, change in zip(step.neighbours, ids, step.change.mean(axis=1), strict=True)
    ]
    if rows:
        exports.numbers(pd.DataFrame(rows), f"{view.spec.key}-{view.node}-shares", "why")


def _formula(view: View, s: Any, seen: Inspection) -> str:
    degree = int(view.graph.degree[view.node])
    near = view.graph.neighbours(view.node)
    if s.propagation == "paper":
        inverse = float((1 / view.graph.degree[near]).sum())
        return (
            "The paper's rule multiplies the variance of this paper, in every layer, by\n\n"
            rf"$$1-\frac{{1}}{{\lambda\,d_i}}\sum_{{j\in N(i)}}\frac{{1}}{{d_j}}"
            rf"=1-\frac{{1}}{{{s.lam:g}\cdot {degree}}}\cdot {inverse:.3f}={seen.factor:.3f}$$"
            "\n\nOnly degrees appear in it: **how sure the linked papers are does not matter**. "
            "Their variances cancel, although one would expect unsure neighbours to make a paper "
            "unsure. Under evidence propagation, in the method's settings, they do count."
        )
    if s.propagation == "evidence":
        step = seen.steps[-1]
        return (
            "Evidence propagation reads each linked paper as a measurement and adds precisions:\n\n"
            r"$$\frac{1}{v_i'}=\frac{1}{v_i}+\sum_{j\in N(i)}\frac{w}{v_j+q},\qquad "
            rf"w={s.evidence_weight:g},\ q={s.evidence_noise:g}$$"
            f"\n\nIn the second step the variance goes from {step.before.mean():.3f} to "
            f"{step.after.mean():.3f}. More linked papers, or surer ones, always mean less of it."
        )
    if s.propagation == "gcn":
        return (
            "Variances are averaged like messages, with the weights of a graph convolution: "
            "a neighbour can only add, and nothing makes a well-linked paper surer."
        )
    return "There is no propagation: the variance comes from this paper's own words alone."
