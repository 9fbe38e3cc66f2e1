"""Does the model doubt what it should: unseen classes and mistakes?"""

import numpy as np
import pandas as pd
import streamlit as st

from bup.experiments import PAPERS_BUP
from bup.experiments.published import published_figures
from bup.metrics import METRICS
from bup.scores import SCORES
from dashboard.charts import unseen
from dashboard.charts.unseen import UNSEEN, DetectionTask
from dashboard.session import sidebar
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.views import charts, exports, tables
from dashboard.views.highlight import Highlights
from dashboard.views.node_card import node_card
from dashboard.views.ood import left_out_in_turn
from dashboard.views.ood.detection_task import choose_task
from dashboard.views.ood.lists import missed_groups, ranking, what_led_there


def page(view: View) -> None:
    st.title("Does the model notice what it does not know?")
    node_card(view)
    task = choose_task(view)
    if task.search.possible:
        highlights = Highlights(view, "ood")
        _metrics_and_summary(view, task)
        left, right = st.columns(2)
        with left:
            highlights.chart(unseen.distributions(task), header=False)
        with right:
            _curves(view, task)
        if len(task.detectors) > 1:
            highlights.chart(unseen.found_by(task))
        highlights.chart(unseen.confusion(task))
        highlighted = st.container()
        what_led_there(view, task)
        ranking(view, task)
        missed_groups(view, task, highlights)
        with highlighted:  # the lists below can be clicked as well
            highlights.show()
    elif task.target == UNSEEN and not view.result.split.left_out:
        _choose_class(view)
    else:
        st.warning(view.say("The test nodes are all of one kind: there is nothing to tell apart."))
    if task.target == UNSEEN:
        left_out_in_turn.grid(view, task.detectors)
        _published(view)
    exports.downloads(view)


def _metrics_and_summary(view: View, task: DetectionTask) -> None:
    """How well the score does, in figures and in a sentence."""
    run = task.first
    tables.show_metrics(view, task.measures(run))
    flagged = task.flags[run.label][task.search.positive]
    st.markdown(
        f"With {task.false_alarms:.0%} false alarms, **{escaped(run.title)}** finds "
        f"**{flagged.sum():,} of {len(flagged):,}** {view.graph.noun.many} {task.words}."
    )
    rule = view.rule
    if task.target == UNSEEN and rule and run.score in SCORES and SCORES[run.score].of_var:
        st.caption(f"**{rule.title}.** {view.say(rule.unseen)}")


def _curves(view: View, task: DetectionTask) -> None:
    """ROC and precision-recall curves of every method."""
    both = [unseen.roc(task), unseen.precision_recall(task)]
    for tab, chart in zip(st.tabs([chart.title for chart in both]), both, strict=True):
        with tab:
            charts.show(view, chart, header=False)
    rows = [
        {"method": d.label, "score": d.title}
        | {METRICS[key].label: value for key, value in task.measures(d).items()}
        | {"found": int(task.flags[d.label][task.search.positive].sum())}
        for d in task.detectors
    ]
    exports.show_numbers(pd.DataFrame(rows), f"{view.run.key}-{task.target}", "ood")


def _choose_class(view: View) -> None:
    st.info(
        "The model was trained on every class. Choose a class to leave out of its training, and "
        "see what it makes of that class; or look for mistakes instead.",
        icon=":material/help_center:",
    )

    def on_change() -> None:
        if (c := st.session_state.never_shown) is not None:
            sidebar.leave_out(c)

    st.pills(
        "Never show the model",
        range(view.graph.num_classes),
        format_func=view.graph.class_names.__getitem__,
        key="never_shown",
        on_change=on_change,
    )


def _published(view: View) -> None:
    """The published answer to the paper's second question, beside this run's."""
    paper = published_figures(
        "q2", view.spec.graph, view.spec.per_class, protocol="", method=PAPERS_BUP
    )
    measured = view.loaded_run.report().get("ood")
    if not paper or measured is None:
        return
    st.header("The published table, for this run")
    rows: dict[str, list] = {"": ["this run", "BUP as published"]}
    for key, what in (("confidence", "confidence"), ("prob_std", "spread of probabilities")):
        for side, which in (("in", "known"), ("out", "never shown")):
            rows[f"{what}, {which}"] = [measured[key][side], paper[f"{key}_{side}"]]
    number = st.column_config.NumberColumn(format="%.3f")
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        column_config=dict.fromkeys(list(rows)[1:], number),
        alt="Confidence and spread of probabilities, published and for this run",
    )
    classes = len(view.result.split.classes)
    least = (0.70 - 1 / classes) / np.sqrt(classes - 1)
    st.caption(
        "Both should be higher for known classes. Compare the direction only: a largest "
        f"probability of 0.70 among {classes} classes forces a standard deviation of at least "
        f"{least:.2f}, so the printed deviations cannot belong to the printed confidences."
    )
