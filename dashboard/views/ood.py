"""What happens to papers of classes that the model was never shown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from bup import metrics
from bup.experiments import own_score
from bup.paper import published
from bup.scores import SCORES
from dashboard import columns
from dashboard.figures.ood import precision_recall_figure, roc_figure, score_histograms
from dashboard.links import link
from dashboard.state import View
from dashboard.views import charts, exports, picking
from dashboard.views.card import card

GALLERY = 12


def page(view: View) -> None:
    st.title("Does the model notice a class that it has never seen?")
    card(view)
    if not view.result.split.left_out:
        st.info(
            "Every class was shown in training. Leave one out to see what the model makes of it: "
            "choose it under *Classes never shown* in the sidebar, or start with the published "
            "choice.",
            icon=":material/help_center:",
        )
        last = view.graph.num_classes - 1
        st.button(
            f"Leave out {view.graph.class_names[last]}",
            type="primary",
            on_click=lambda: st.session_state.update(left_out=[last]),
        )
        return
    scores = columns.scores(view.table)
    score = st.selectbox(
        "Score",
        list(scores),
        index=list(scores).index(own_score(view.spec.method)),
        key="ood_score",
        format_func=lambda key: scores[key].label,
        bind="query-params",
        help="Which number should tell known from unknown.",
    )
    test = view.table[view.table.part == "test"]
    st.subheader("Known and unknown, by this score")
    charts.chart(
        score_histograms(test, score, view.theme),
        "histograms",
        f"{view.say(scores[score].meaning)} The less the distribution of classes never shown "
        "overlaps with that of right answers, the better the score tells them apart.",
    )
    _detection(view, score)
    if "ood" in view.known.report():
        _table(view)
    _gallery(view, test)
    exports.downloads(view)


def _detection(view: View, score: str) -> None:
    split = view.result.split
    nodes = split.test
    ood = split.is_ood(view.graph.labels[nodes])
    if not ood.any() or ood.all():
        st.warning(view.say("The test nodes are all of one kind: there is nothing to tell apart."))
        return
    doubt = view.result.uncertainties()[score][nodes]
    auroc, aupr, fpr = (f(doubt, ood) for f in (metrics.auroc, metrics.aupr, metrics.fpr_at_95))
    one, two, three = st.columns(3)
    for column, key, value in ((one, "auroc", auroc), (two, "aupr", aupr), (three, "fpr95", fpr)):
        metric = metrics.METRICS[key]
        column.metric(metric.label, f"{value:.1%}", help=view.say(metric.meaning))
    if view.rule is not None and score in SCORES and SCORES[score].of_var is not None:
        st.caption(f"**{view.rule.title}.** {view.say(view.rule.unseen)}")
    left, right = st.columns(2)
    with left:
        charts.chart(
            roc_figure(metrics.roc(doubt, ood), view.theme, auroc),
            "roc",
            view.say(
                "Flag nodes from the most doubted down: the share of unseen ones found against the "
                "share of known ones flagged by mistake. The diagonal is guessing."
            ),
        )
    with right:
        charts.chart(
            precision_recall_figure(
                metrics.precision_recall(doubt, ood), float(ood.mean()), view.theme
            ),
            "precision_recall",
            view.say(
                "Of the flagged nodes, how many are really of an unseen class, as more and more of "
                "them are found. The dashed line is guessing."
            ),
        )
    offered = columns.scores(view.table)
    rows = [
        {"score": offered[name].label}
        | {metrics.METRICS[key].label: found[key] for key in ("auroc", "aupr", "fpr95")}
        for name, found in view.known.report()["ood"]["scores"].items()
    ]
    exports.numbers(pd.DataFrame(rows), f"{view.run.key}-ood", "ood")


def _table(view: View) -> None:
    """The paper's second question for this run, its own figures beside ours."""
    st.subheader("The published table, for this run")
    found = view.known.report()["ood"]
    rows = [
        {
            "": "this run",
            "confidence, known": found["confidence"]["in"],
            "confidence, never shown": found["confidence"]["out"],
            "spread of probabilities, known": found["prob_std"]["in"],
            "spread of probabilities, never shown": found["prob_std"]["out"],
        }
    ]
    paper = published("q2", view.spec.graph, view.spec.per_class, protocol="", method="bup")
    if paper:
        keys = ("confidence_in", "confidence_out", "prob_std_in", "prob_std_out")
        values = ("BUP as published", *(paper[key] for key in keys))
        rows.append(dict(zip(rows[0], values, strict=True)))
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        column_config={k: st.column_config.NumberColumn(format="%.3f") for k in list(rows[0])[1:]},
    )
    classes = len(view.result.split.classes)
    least = (0.70 - 1 / classes) / np.sqrt(classes - 1)
    st.caption(
        "Both should be higher for known classes. Compare the direction only: a largest "
        f"probability of 0.70 among {classes} classes forces a standard deviation of at least "
        f"{least:.2f}, so "
        "the printed deviations cannot belong to the printed confidences."
    )


def _gallery(view: View, test: pd.DataFrame) -> None:
    left, right = st.columns(2)
    columns = ["true", "predicted", "confidence"]
    with left:
        st.subheader("Never shown, yet confident")
        worst = test[test.ood].nlargest(GALLERY, "confidence").index.tolist()
        picking.node_list(view, worst, columns, "confident_ood")
        st.caption(
            "The mistakes to worry about: sure answers on a class that the model does not know."
        )
    with right:
        st.subheader("Known, yet doubted")
        doubted = test[~test.ood].nsmallest(GALLERY, "confidence").index.tolist()
        picking.node_list(view, doubted, columns, "doubted_known")
        st.caption(
            view.say(
                "False alarms: nodes of learned classes that the model hardly dares to answer."
            )
        )
    link("explore", view.say("See the picked node and its neighbourhood"), ":material/hub:")
