"""Lesson 7: on a graph that we drew ourselves, the right confidence is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from bup import metrics
from bup.datasets import synthetic
from bup.datasets.synthetic import Knobs
from dashboard.figures.learn.truth import truth_figure
from dashboard.learn import cases, lesson
from dashboard.learn.glossary import meaning

METHODS = {"bup": "BUP", "gcn": "GCN"}
SMALL = {"nodes": 800, "classes": 4, "words": 400}


@dataclass(frozen=True, eq=False)
class Judged:
    """Test nodes: what a network says, what can be known, and what is so."""

    learned: np.ndarray  # [n, c]
    truth: np.ndarray  # [n, c] from words, links and the training labels
    words_only: np.ndarray  # [n, c] from words alone
    labels: np.ndarray  # [n]


def page() -> None:
    here = lesson.begin(7)
    _lesson(here)


@lesson.played
def _lesson(here: lesson.Lesson) -> None:
    left, right = lesson.halves()
    with left:
        st.markdown(
            "On real data nobody knows how sure one *should* be. So we draw a graph ourselves, by "
            "a recipe that we know, and work out by Bayes' rule what words, links and known labels "
            "really tell. Then we train a network that does not know the recipe."
        )
        with st.form("knobs"):
            one, two = st.columns(2)
            homophily = one.slider(
                "Homophily", 0.3, 0.95, 0.8, 0.05, key="homophily", help=meaning("homophily")
            )
            strength = two.slider(
                "How telling words are", 0.0, 3.0, 1.4, 0.1, key="strength",
                help="A class uses its own words 1 + this times as often as others; 0: no hint.",
            )  # fmt: skip
            with st.container(horizontal=True, vertical_alignment="bottom"):
                method = st.segmented_control(
                    "Train", list(METHODS), default="bup", required=True, key="truth_method",
                    format_func=METHODS.__getitem__,
                )  # fmt: skip
                st.form_submit_button("Draw and train", icon=":material/play_arrow:")
    name = synthetic.graph_name(
        Knobs(**SMALL, homophily=float(homophily), feature_strength=float(strength))
    )
    case = cases.case(name, method or "bup")
    judged = judge(case)
    with right:
        _numbers(judged, METHODS[method or "bup"])
        lesson.chart(
            truth_figure(
                metrics.confidence(judged.learned),
                true_of_predicted(judged),
                metrics.hits(judged.learned, judged.labels),
                lesson.theme(),
            ),
            "truth",
            "Every point is a test node. Above the diagonal the network could be surer, below it "
            "is too sure.",
        )
    with left:
        answered = _question()
        lesson.end(
            here,
            answered,
            [("This graph and this run, on the map", "explore", cases.query(case))],
        )


def judge(case: cases.Case) -> Judged:
    """What the network learned beside what can be known, on the test nodes."""
    nodes, train = case.result.split.test, case.result.split.train
    links, words = _known(case.spec.graph, tuple(train.tolist()))
    return Judged(case.result.probs[nodes], links[nodes], words[nodes], case.graph.labels[nodes])


@st.cache_data(max_entries=24, show_spinner="Working out the truth ...")
def _known(name: str, train: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    return (
        synthetic.true_posterior(name, links=True, known=np.array(train)),
        synthetic.true_posterior(name),
    )


def true_of_predicted(judged: Judged) -> np.ndarray:
    """The true probability [n] of the class that the network predicts."""
    return judged.truth[np.arange(len(judged.labels)), judged.learned.argmax(axis=1)]


def _numbers(judged: Judged, method: str) -> None:
    rows = {
        f"{method} learned": judged.learned,
        "Best possible": judged.truth,
        "Words alone": judged.words_only,
    }
    notes = {
        "Best possible": "Predict the class of the largest true probability, from words, links and "
        "training labels. Worked out by belief propagation, which is very nearly exact on a graph "
        "of this size; no method can do better on average.",
        "Words alone": "The same without links: Bayes' rule on a node's own words, by somebody who "
        "knows the recipe.",
    }
    for column, (words, probs) in zip(st.columns(3), rows.items(), strict=True):
        column.metric(
            f"{words}: right",
            f"{metrics.accuracy(probs, judged.labels):.0%}",
            help=notes.get(words),
        )
        column.caption(f"mean confidence {metrics.confidence(probs).mean():.0%}")
    off = np.abs(metrics.confidence(judged.learned) - true_of_predicted(judged)).mean()
    st.markdown(f"On average {method}'s confidence is **{100 * off:.0f} points** off the truth.")


def _question() -> bool:
    def answer() -> str:
        name = synthetic.graph_name(Knobs(**SMALL, homophily=0.5))
        judged = judge(cases.case(name, "gcn"))
        learned, best, words = (
            metrics.accuracy(probs, judged.labels)
            for probs in (judged.learned, judged.truth, judged.words_only)
        )
        return (
            f"At homophily 0.5 the GCN is right on {learned:.0%} of the test nodes, words alone "
            f"(with the recipe known) give {words:.0%}. Averaging mixes every node with neighbours "
            "of other classes and blurs its own words. The links are not to blame: who knows the "
            f"recipe still gains from them ({best:.0%}). Set the slider and see."
        )

    return lesson.predict(
        "expect_links",
        "Let half of the links lead to another class (homophily 0.5), with words as telling as at "
        "the start (1.4). A GCN, which always averages over links, will be",
        ["better than words alone", "about as good as words alone", "worse than words alone"],
        2,
        answer,
        [
            "Links are information, so more should be known with them, and whoever knows the "
            "recipe does gain. But set homophily to 0.5, train the GCN, and compare the first "
            "number with the third: it can only average.",
            "What half of the links add, the other half seems to take away. Set homophily to 0.5, "
            "train the GCN, and compare the first number with the third.",
            "",
        ],
    )
