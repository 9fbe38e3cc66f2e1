"""The controls of what the page of unseen classes looks for, and by the scores of which runs."""

import streamlit as st

from bup.experiments import epistemic_score
from bup.explanation import detection
from dashboard.charts.unseen import MISTAKES, UNSEEN, DetectionTask, Detector
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.link_choice import link_choice
from dashboard.views.comparison_runs import choose_runs, compared_views, label_of

MOST_RIVALS = 2
TARGETS = {UNSEEN: "Classes never shown", MISTAKES: "Mistakes"}


def choose_task(view: View) -> DetectionTask:
    """The controls: what to look for, by which score, beside which runs, at which false alarms."""
    one, two, three, four = st.columns([3, 2, 3, 2])
    target = link_choice(
        one.segmented_control,
        "Look for",
        TARGETS,
        "sought",
        default=UNSEEN,
        required=True,
        help=view.say("What the score should find among the test nodes."),
    )
    scores = {key: column.label for key, column in columns.score_columns(view.table).items()}
    score = link_choice(
        two.selectbox,
        "Score",
        scores,
        "ood_score",
        index=list(scores).index(epistemic_score(view.spec.method)),
        help="The number by which everything below is ranked.",
    )
    chosen = choose_runs(
        view,
        three.multiselect,
        "Compare with",
        "ood_rivals",
        max_selections=MOST_RIVALS,
        placeholder="up to two other methods",
    )
    percent = four.slider(
        "False alarms",
        1,
        50,
        5,
        key="alarms",
        format="%d%%",
        bind="query-params",
        help="Which share of the others a method may flag by mistake, the same for all methods.",
    )
    views = compared_views(view, chosen[:MOST_RIVALS])
    find = detection.mistakes if target == MISTAKES else detection.unseen
    return DetectionTask(
        str(target),
        find(views[0].result, view.graph),
        tuple(_detector(v, views[0], str(score)) for v in views),
        percent / 100,
    )


def _detector(run: View, view: View, score: str) -> Detector:
    """A run with the chosen score, or with its method's own where it lacks that score."""
    scores = run.result.uncertainties()
    used = score if score in scores else epistemic_score(run.spec.method)
    return Detector(label_of(run.spec, view), run, used, scores[used])
