"""Charts of the page of unseen classes; a click on a bar or a cell lists its nodes."""

import pandas as pd
import streamlit as st

from bup.metrics import METRICS
from bup.scores import SCORES
from dashboard.charts import unseen
from dashboard.charts.chart import Chart
from dashboard.charts.unseen import UNSEEN, DetectionTask
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.views import charts, exports, tables
from dashboard.views.highlight import Highlights


def metrics_and_summary(view: View, task: DetectionTask) -> None:
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


def curves(view: View, task: DetectionTask) -> None:
    """ROC and precision-recall curves of every method."""
    both = [unseen.roc(task), unseen.precision_recall(task)]
    for tab, chart in zip(st.tabs([chart.title for chart in both]), both, strict=True):
        with tab:
            charts.show(view, chart)
    rows = [
        {"method": d.label, "score": d.title}
        | {METRICS[key].label: value for key, value in task.measures(d).items()}
        | {"found": int(task.flags[d.label][task.search.positive].sum())}
        for d in task.detectors
    ]
    exports.show_numbers(pd.DataFrame(rows), f"{view.run.key}-{task.target}", "ood")


def with_title(highlights: Highlights, chart: Chart) -> None:
    st.header(chart.title)
    highlights.chart(chart)
