"""Lesson 7: on a graph that we drew ourselves, the right confidence is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from bup import metrics
from bup.datasets import synthetic
from bup.datasets.synthetic import Parameters
from dashboard.figures.learn.truth import truth_figure
from dashboard.learn import cases, lesson
from dashboard.learn.glossary import meaning

METHODS = {"bup": "BUP", "gcn": "GCN"}
SMALL = {"nodes": 800, "classes": 4, "words": 400}
STRENGTH = 1.4  # how informative words are, at first and in the question
HALF = 0.5  # the homophily that the question asks about
FEW, MANY = 20, 60  # labels per class


@dataclass(frozen=True, eq=False)
class Judged:
    """Test nodes: what networks say, what can be known, and what is so."""

    learned: np.ndarray  # [n, c] by a network that reads words and links
    perceptron: np.ndarray  # [n, c] by one that reads words only, from the same labels
    truth: np.ndarray  # [n, c] from words, links and the training labels, by the recipe
    words_only: np.ndarray  # [n, c] from words alone, by the recipe
    labels: np.ndarray  # [n]

    def right(self, probs: np.ndarray) -> str:
        """How many are answered rightly, as it is written on the page."""
        return f"{metrics.accuracy(probs, self.labels):.0%}"


def page() -> None:
    here = lesson.begin(7)
    _lesson(here)


@lesson.played
def _lesson(here: lesson.Lesson) -> None:
    for method in ("gcn", "mlp"):  # the question's, while the page is read
        cases.ask(_name(HALF, STRENGTH), method, per_class=FEW)
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
                "How informative words are", 0.0, 3.0, STRENGTH, 0.1, key="strength",
                help="A class uses its own words 1 + this times as often as others; 0: no hint.",
            )  # fmt: skip
            with st.container(horizontal=True, vertical_alignment="bottom"):
                method = st.segmented_control(
                    "Train", list(METHODS), default="bup", required=True, key="truth_method",
                    format_func=METHODS.__getitem__,
                )  # fmt: skip
                labels = st.segmented_control(
                    "Labels per class", (FEW, MANY), default=FEW, required=True, key="truth_labels"
                )
                st.form_submit_button("Draw and train", icon=":material/play_arrow:")
    case, judged = judged_at(homophily, strength, method or "bup", labels or FEW)
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


def _name(homophily: float, strength: float) -> str:
    parameters = Parameters(**SMALL, homophily=float(homophily), feature_strength=float(strength))
    return synthetic.graph_name(parameters)


def judged_at(
    homophily: float, strength: float, method: str, labels: int
) -> tuple[cases.Case, Judged]:
    """A network, trained on a graph drawn like this, beside what can be known of its test nodes."""
    name = _name(homophily, strength)
    cases.ask(name, "mlp", per_class=labels)
    case = cases.case(name, method, per_class=labels)
    perceptron = cases.case(name, "mlp", per_class=labels)
    nodes, train = case.result.split.test, case.result.split.train
    links, words = _known(name, tuple(train.tolist()))
    return case, Judged(
        case.result.probs[nodes],
        perceptron.result.probs[nodes],
        links[nodes],
        words[nodes],
        case.graph.labels[nodes],
    )


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
        f"{method}: right": judged.learned,
        "Perceptron": judged.perceptron,
        "Words, recipe known": judged.words_only,
        "Best possible": judged.truth,
    }
    notes = {
        "Perceptron": "A network that reads a node's words and no links, trained on the same "
        "labels.",
        "Words, recipe known": "No training: Bayes' rule on a node's own words, by somebody who "
        "knows the recipe.",
        "Best possible": "The same with links and training labels. Worked out by belief "
        "propagation, which is very nearly exact on a graph of this size; no method can do better "
        "on average.",
    }
    for column, (words, probs) in zip(st.columns(len(rows)), rows.items(), strict=True):
        column.metric(words, judged.right(probs), help=notes.get(words))
        column.caption(f"mean confidence {metrics.confidence(probs).mean():.0%}")
    off = np.abs(metrics.confidence(judged.learned) - true_of_predicted(judged)).mean()
    st.markdown(f"On average {method}'s confidence is **{100 * off:.0f} points** off the truth.")


def _question() -> bool:
    def answer() -> str:
        few, many = (judged_at(HALF, STRENGTH, "gcn", labels)[1] for labels in (FEW, MANY))
        told = FEW * SMALL["classes"]
        return (
            f"From {told} labels the GCN is right on {few.right(few.learned)} of the test nodes. A "
            f"perceptron, which links cannot mislead, learns from the same labels and is right on "
            f"{few.right(few.perceptron)}: what lies between the two is all that links can have "
            f"cost. Both are far below {few.right(few.words_only)}, because {told} labels do not "
            f"tell the recipe. With {MANY} labels per class they reach "
            f"{many.right(many.learned)} and {many.right(many.perceptron)}. And links still help "
            f"whoever knows the recipe: {few.right(few.truth)}."
        )

    few = judged_at(HALF, STRENGTH, "gcn", FEW)[1]
    gcn, perceptron, known = (
        metrics.accuracy(probs, few.labels)
        for probs in (few.learned, few.perceptron, few.words_only)
    )
    by_links = (perceptron - gcn) / (known - gcn)
    return lesson.predict(
        "expect_links",
        f"Let half of the links lead to another class: homophily {HALF}, words as informative as "
        f"at the start ({STRENGTH}), {FEW} labels per class. A GCN, which averages over links, is "
        f"then right on {few.right(few.learned)} of the nodes; words alone, read by somebody who "
        f"knows the recipe, give {few.right(few.words_only)}. What makes most of that gap?",
        ["links that mislead", "too few labels to learn from", "about half each"],
        0 if by_links > 2 / 3 else 1 if by_links < 1 / 3 else 2,
        answer,
        [
            "They look guilty, and averaging over them does blur a node's own words. But compare "
            "the GCN with the perceptron, which never sees a link.",
            "",
            "Both do their part. But compare the GCN with the perceptron, which never sees a link.",
        ],
    )
