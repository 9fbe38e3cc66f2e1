"""What a model should doubt, and whether it does: unseen classes and mistakes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from bup.experiments import PAPERS_BUP
from bup.experiments.published import published_figures
from dashboard.session import sidebar
from dashboard.session.view import View
from dashboard.views import exports, highlight
from dashboard.views.node_card import node_card
from dashboard.views.ood import charts, left_out_in_turn
from dashboard.views.ood.charts import PAGE, Groups
from dashboard.views.ood.detection_task import UNSEEN, chosen
from dashboard.views.ood.lists import groups_missed, ranking


def page(view: View) -> None:
    st.title("Does the model notice what it does not know?")
    node_card(view)
    task = chosen(view)
    groups: Groups = {}
    if task.search.possible:
        charts.numbers(view, task)
        left, right = st.columns(2)
        with left:
            charts.distributions(view, task, groups)
        with right:
            charts.curves(view, task)
        if len(task.detectors) > 1:
            charts.who_catches_what(view, task, groups)
        charts.matrix(view, task, groups)
        below = st.container()
        ranking(view, task)
        groups_missed(view, task, groups)
        if (name := highlight.highlighted(PAGE)) in groups:
            with below:
                highlight.show_nodes(view, PAGE, groups[str(name)])
    elif task.what == UNSEEN and not view.result.split.left_out:
        _choose_class(view)
    else:
        st.warning(view.say("The test nodes are all of one kind: there is nothing to tell apart."))
    if task.what == UNSEEN:
        left_out_in_turn.grid(view, task.detectors)
        _published(view)
    exports.downloads(view)


def _choose_class(view: View) -> None:
    st.info(
        "Every class was shown in training. Choose one that the model shall never see, and look at "
        "what it makes of it; or look for mistakes instead.",
        icon=":material/help_center:",
    )
    names = view.graph.class_names

    def leave_out() -> None:
        if (c := st.session_state.never_shown) is not None:
            sidebar.leave_out(c)

    st.pills(
        "Never show the model",
        range(len(names)),
        format_func=names.__getitem__,
        key="never_shown",
        on_change=leave_out,
    )


def _published(view: View) -> None:
    """The publication's second question for this run, where it was asked of this graph."""
    paper = published_figures(
        "q2", view.spec.graph, view.spec.per_class, protocol="", method=PAPERS_BUP
    )
    found = view.loaded_run.report().get("ood")
    if not paper or found is None:
        return
    st.header("The published table, for this run")
    keys = ("confidence_in", "confidence_out", "prob_std_in", "prob_std_out")
    titles = [
        f"{what}, {who}"
        for what in ("confidence", "spread of probabilities")
        for who in ("known", "never shown")
    ]
    own = [found[what][side] for what in ("confidence", "prob_std") for side in ("in", "out")]
    rows = pd.DataFrame(
        [["this run", *own], ["BUP as published", *(paper[key] for key in keys)]],
        columns=["", *titles],
    )
    st.dataframe(
        rows,
        hide_index=True,
        width="stretch",
        column_config={k: st.column_config.NumberColumn(format="%.3f") for k in titles},
        alt="Confidence and spread of probabilities, published and for this run",
    )
    classes = len(view.result.split.classes)
    least = (0.70 - 1 / classes) / np.sqrt(classes - 1)
    st.caption(
        "Both should be higher for known classes. Compare the direction only: a largest "
        f"probability of 0.70 among {classes} classes forces a standard deviation of at least "
        f"{least:.2f}, so the printed deviations cannot belong to the printed confidences."
    )
