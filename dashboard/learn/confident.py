"""Lesson 1: a class is hidden, and the model answers all the same."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bup import metrics
from bup.results.result import errors_from_left_out
from dashboard.cache import graphs
from dashboard.figures.card import confidence_text
from dashboard.figures.learn.thresholds import answers_figure
from dashboard.learn import cases, lesson
from dashboard.learn.cases import Case
from dashboard.session.navigation import page_link
from dashboard.ui.markdown import escaped


def page() -> None:
    here = lesson.begin(1)
    _lesson(here)


@lesson.played
def _lesson(here: lesson.Lesson) -> None:
    name = cases.graph_name()
    graph = graphs.graph(name)
    left, right = lesson.halves()
    with left:
        st.markdown(
            "A network learns to sort scientific papers by subject, but we hide one subject: it "
            "never sees a paper of it and has no word for it. Then we show it such papers. Every "
            "answer must be wrong. Does it know?"
        )
        one, two = st.columns(2)
        hidden = one.selectbox(
            "Hide a class",
            range(graph.num_classes),
            graph.num_classes - 1,
            format_func=graph.class_names.__getitem__,
            key="hidden_class",
        )
        threshold = two.slider(
            "Trust answers above this confidence",
            0.0,
            1.0,
            0.5,
            0.01,
            key="believe",
            format="percent",
        )
    case = cases.case(name, "gcn", (int(hidden),), **cases.CALIBRATED)
    confidence, right_answer, unseen = test_answers(case)
    with left:
        answered = _question(case, confidence, right_answer, unseen)
    with right:
        _believed(confidence, right_answer, unseen, threshold, answered)
        groups = {"known classes, right": (confidence[right_answer & ~unseen], False)}
        groups["known classes, wrong"] = (confidence[~right_answer & ~unseen], False)
        if answered:
            groups[f"{graph.class_names[hidden]}, never seen"] = (confidence[unseen], True)
        lesson.chart(
            answers_figure(groups, threshold, lesson.theme()),
            "answers",
            "Solid: trusted. Raise the bar and fewer wrong answers pass, but fewer right ones too."
            + ("" if answered else " The hidden class appears when you have made your guess."),
        )
    with left:
        if answered:
            _gallery(case, cases.case(name, "gcn", **cases.CALIBRATED))
        lesson.end(here, answered, [("This very run, node by node", "ood", cases.query(case))])


def test_answers(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confidence, whether it is right, and whether the class was hidden, for every test paper."""
    nodes = case.result.split.test
    labels = case.graph.labels[nodes]
    unseen = case.result.split.is_ood(labels)
    return (
        metrics.confidence(case.result.probs[nodes]),
        case.result.predicted[nodes] == labels,
        unseen,
    )


def _question(
    case: Case, confidence: np.ndarray, right_answer: np.ndarray, unseen: np.ndarray
) -> bool:
    share = float((confidence[unseen] >= 0.5).mean())
    options = ["hardly any", "about a quarter", "half of them or so", "nearly all"]
    nearest = int(np.abs(np.array([0.03, 0.25, 0.5, 0.95]) - share).argmin())
    classes = len(case.result.split.classes)

    def answer() -> str:
        return (
            f"On {share:.0%} of the {unseen.sum():,} papers of the hidden class the model is at "
            "least 50% sure, and all of these answers are wrong. It does hesitate: its confidence "
            f"is {confidence[unseen].mean():.0%} on average, and "
            f"{confidence[right_answer].mean():.0%} where it is right about a known class. But "
            f"softmax must share out 100% among the {classes} classes it knows: “none of these” "
            "is not on offer."
        )

    return lesson.predict(
        f"expect_hidden_{case.spec.left_out[0]}",
        f"The model has learned {classes} classes and must answer with one of them. On how many "
        "papers of the hidden class will it be at least 50% sure of its (wrong) answer?",
        options,
        nearest,
        answer,
        [
            "A good model would hesitate more. But look at the lowest panel: some known class "
            "always wins.",
            "Set the bar to 50% and compare the solid share of the lowest panel with your guess. "
            "It depends on how close the hidden class is to a known one: hide another.",
            "Set the bar to 50% and look at the lowest panel: its papers lean to one side, "
            "because they share words with a class that the model knows.",
            "Networks are known to be over-confident. But the lowest panel lies further left than "
            "the first: the model does hesitate, only not enough.",
        ],
        usual=case.spec.left_out == (case.graph.num_classes - 1,),
    )


def _believed(
    confidence: np.ndarray,
    right_answer: np.ndarray,
    unseen: np.ndarray,
    threshold: float,
    answered: bool,
) -> None:
    sure = confidence >= threshold
    one, two, three = st.columns(3)
    one.metric("Known papers trusted", f"{sure[~unseen].mean():.0%}")
    right_share = right_answer[sure & ~unseen].mean() if (sure & ~unseen).any() else float("nan")
    two.metric("of these, right", "none" if np.isnan(right_share) else f"{right_share:.0%}")
    three.metric(
        "Unseen papers trusted",
        f"{sure[unseen].mean():.0%}" if answered else "?",
        help="All of these answers are wrong.",
    )


def _gallery(hidden: Case, shown: Case) -> None:
    """Mistakes of which nothing but the hiding is the cause; each opens on the map."""
    graph, without, told = hidden.graph, hidden.result, shown.result
    found = errors_from_left_out(without, told, graph)[:3].tolist()
    if not found:
        return
    name = escaped(graph.class_names[hidden.spec.left_out[0]])
    st.markdown(f"**Wrong only because {name} was hidden:** shown it, the same network is right.")
    for node in found:
        said = escaped(graph.class_names[without.predicted[node]])
        before, after = (confidence_text(r.probs[node].max()) for r in (without, told))
        id_ = escaped(graph.node_id(node))
        words = f"{id_}: “{said}”, {before} sure; shown it, right: {after}"
        query = cases.query(hidden, node=graph.node_id(node))
        page_link("explore", words, ":material/hub:", query)
