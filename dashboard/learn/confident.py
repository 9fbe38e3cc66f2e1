"""Lesson 1: a class is hidden, and the model answers all the same."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from bup import metrics
from bup.explanation import sentences
from bup.results.result import errors_from_left_out
from dashboard.cache import graphs
from dashboard.cache.run_cache import LoadedRun
from dashboard.figures.learn.thresholds import answers_figure
from dashboard.figures.reasons import reasons_figure
from dashboard.learn import cases, lesson
from dashboard.session.navigation import page_link
from dashboard.ui.markdown import escaped
from dashboard.ui.metric_row import metric_row
from dashboard.ui.numbers import percent


@lesson.lesson_page("confident")
def page(here: lesson.Lesson) -> None:
    left, right = lesson.two_columns()
    with left:
        here, name = lesson.choose_graph(here, "confident_graph")
        graph = graphs.graph(name)
        st.markdown(here.text("Introduction"))
        one, two = st.columns(2)
        hidden = one.selectbox(
            "Hide a class",
            range(graph.num_classes),
            graph.num_classes - 1,
            graph.class_names.__getitem__,
            key=f"hidden_class_{name}",
        )
        label = "Trust answers above this confidence"
        threshold = two.slider(label, 0.0, 1.0, 0.5, 0.01, key="believe", format="percent")
    case = cases.load_case(name, "gcn", (int(hidden),), **cases.CALIBRATED)
    answers = test_answers(case)
    confidence, correct, unseen = answers
    with left:
        answered = _question(here, case, answers)
    with right:
        _numbers(here, answers, threshold, answered)
        groups = {"known classes, right": (confidence[correct & ~unseen], False)}
        groups["known classes, wrong"] = (confidence[~correct & ~unseen], False)
        if answered:
            groups[f"{graph.class_names[hidden]}, never seen"] = (confidence[unseen], True)
        lesson.chart(
            answers_figure(groups, threshold, lesson.theme()),
            "answers",
            here.text("Chart" if answered else "Chart before the guess"),
        )
    with left:
        if answered:
            _examples(here, case, cases.load_case(name, "gcn", **cases.CALIBRATED))
        lesson.end(here, answered, ("This very run, node by node", "ood", cases.query(case)))


class Answers(NamedTuple):
    """The answers for the test papers."""

    confidence: np.ndarray  # [n]
    correct: np.ndarray  # [n] mask
    unseen: np.ndarray  # [n] mask: the class was hidden


def test_answers(case: LoadedRun) -> Answers:
    nodes, split = case.result.split.test, case.result.split
    labels = case.graph.labels[nodes]
    confidence = metrics.confidence(case.result.probs[nodes])
    return Answers(confidence, case.result.predicted[nodes] == labels, split.is_ood(labels))


def _question(here: lesson.Lesson, case: LoadedRun, answers: Answers) -> bool:
    confidence, correct, unseen = answers
    share = float((confidence[unseen] >= 0.5).mean())
    return lesson.predict(
        here,
        "expect_hidden",
        lesson.nearest((0.03, 0.25, 0.5, 0.95), share),
        lambda: {
            "share": share,
            "unseen": unseen.sum(),
            "confidence": confidence[unseen].mean(),
            "confidence_right": confidence[correct].mean(),
        },
        key=f"expect_hidden_{case.spec.left_out[0]}",
        usual=case.graph.name == cases.graph_name()
        and case.spec.left_out == (case.graph.num_classes - 1,),
        classes=len(case.result.split.classes),
    )


def _numbers(here: lesson.Lesson, answers: Answers, threshold: float, answered: bool) -> None:
    confidence, correct, unseen = answers
    trusted = confidence >= threshold
    known = trusted & ~unseen
    numbers = {
        here.say("Known papers trusted"): f"{trusted[~unseen].mean():.0%}",
        "of these, right": f"{correct[known].mean():.0%}" if known.any() else "none",
        here.say("Unseen papers trusted"): f"{trusted[unseen].mean():.0%}" if answered else "?",
    }
    metric_row(numbers, {here.say("Unseen papers trusted"): "All of these answers are wrong."})


def _examples(here: lesson.Lesson, without: LoadedRun, with_class: LoadedRun) -> None:
    """Mistakes of which nothing but the hiding is the cause, and the reason of the first one.

    Each opens on the map.
    """
    graph = without.graph
    nodes = errors_from_left_out(without.result, with_class.result, graph)[:3].tolist()
    if not nodes:
        return
    hidden = escaped(graph.class_names[without.spec.left_out[0]])
    st.markdown(here.text("Examples", hidden=hidden))
    for node in nodes:
        answer = escaped(graph.class_names[without.result.predicted[node]])
        before, after = (
            percent(case.result.probs[node].max(), 0) for case in (without, with_class)
        )
        name, query = escaped(graph.name_of(node)), cases.query(without, node=graph.node_id(node))
        words = f"{name}: “{answer}”, {before} sure; with the class, right: {after}"
        page_link("explore", words, ":material/hub:", query)
    reasons = without.reasons(nodes[0])
    because = sentences.because(reasons, lambda name: f"**{escaped(name)}**")
    st.markdown(here.text("Reason", because=because))
    metric_row(cases.supporters(reasons))
    figure = reasons_figure(reasons, lesson.theme(), most=5)
    lesson.chart(figure, "reason", here.text("Reason chart"))
