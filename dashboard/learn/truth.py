"""Lesson 7: on a synthetic graph the right confidence can be computed."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from bup import metrics
from bup.datasets import synthetic
from bup.datasets.synthetic import Parameters
from dashboard.cache.run_cache import LoadedRun
from dashboard.figures.learn.truth import truth_figure
from dashboard.learn import cases, lesson
from dashboard.learn.glossary import meaning

METHODS = {"bup": "BUP", "gcn": "GCN"}
SMALL = {"nodes": 800, "classes": 4, "words": 400}
STRENGTH = 1.4  # how informative words are, at first and in the question
HALF = 0.5  # the homophily that the question asks about
FEW, MANY = 20, 60  # labels per class


@dataclass(frozen=True, eq=False)
class TestAnswers:
    """Probabilities for the test nodes by networks and by the recipe, and the true labels."""

    learned: np.ndarray  # [n, c] by a network that reads words and links
    perceptron: np.ndarray  # [n, c] by one that reads words only, from the same labels
    truth: np.ndarray  # [n, c] from words, links and the training labels, by the recipe
    words_only: np.ndarray  # [n, c] from words alone, by the recipe
    labels: np.ndarray  # [n]

    def right(self, probs: np.ndarray) -> str:
        """The accuracy as text."""
        return f"{metrics.accuracy(probs, self.labels):.0%}"


@lesson.lesson_page("truth")
def page(here: lesson.Lesson) -> None:
    for method in ("gcn", "mlp"):  # the question's, while the page is read
        cases.request_training(_name(HALF, STRENGTH), method, FEW)
    left, right = lesson.two_columns()
    with left:
        st.markdown(here.text("Introduction"))
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
                method = lesson.one_of("Train", METHODS, "truth_method")
                numbers = {FEW: str(FEW), MANY: str(MANY)}
                labels = lesson.one_of("Labels per class", numbers, "truth_labels")
                st.form_submit_button("Draw and train", icon=":material/play_arrow:")
    case, answers = trained_answers(homophily, strength, method, labels)
    with right:
        _numbers(here, answers, METHODS[method])
        lesson.chart(
            truth_figure(
                metrics.confidence(answers.learned),
                true_of_predicted(answers),
                metrics.hits(answers.learned, answers.labels),
                lesson.theme(),
            ),
            "truth",
            here.text("Chart"),
        )
    with left:
        answered = _question(here)
        lesson.end(
            here, answered, ("This graph and this run, on the map", "explore", cases.query(case))
        )


def _name(homophily: float, strength: float) -> str:
    parameters = Parameters(**SMALL, homophily=float(homophily), feature_strength=float(strength))
    return synthetic.graph_name(parameters)


def trained_answers(
    homophily: float, strength: float, method: str, labels: int
) -> tuple[LoadedRun, TestAnswers]:
    """A network trained on such a graph, and its answers beside those of the recipe."""
    name = _name(homophily, strength)
    cases.request_training(name, "mlp", labels)
    case = cases.load_case(name, method, per_class=labels)
    perceptron = cases.load_case(name, "mlp", per_class=labels)
    nodes, train = case.result.split.test, case.result.split.train
    links, words = _posteriors(name, tuple(train.tolist()))
    return case, TestAnswers(
        case.result.probs[nodes],
        perceptron.result.probs[nodes],
        links[nodes],
        words[nodes],
        case.graph.labels[nodes],
    )


@st.cache_data(max_entries=24, show_spinner="Working out the truth ...")
def _posteriors(name: str, train: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    return (
        synthetic.true_posterior(name, links=True, known=np.array(train)),
        synthetic.true_posterior(name),
    )


def true_of_predicted(answers: TestAnswers) -> np.ndarray:
    """The true probability [n] of the class that the network predicts."""
    return answers.truth[np.arange(len(answers.labels)), answers.learned.argmax(axis=1)]


def _numbers(here: lesson.Lesson, answers: TestAnswers, method: str) -> None:
    rows = {
        f"{method}: right": answers.learned,
        "Perceptron": answers.perceptron,
        "Words, recipe known": answers.words_only,
        "Best possible": answers.truth,
    }
    for column, (title, probs) in zip(st.columns(len(rows)), rows.items(), strict=True):
        note = here.text(title) if title in here.texts.sections else None
        column.metric(title, answers.right(probs), help=note)
        column.caption(f"mean confidence {metrics.confidence(probs).mean():.0%}")
    distance = np.abs(metrics.confidence(answers.learned) - true_of_predicted(answers)).mean()
    st.markdown(here.text("Distance", method=method, points=100 * distance))


def _question(here: lesson.Lesson) -> bool:
    few = trained_answers(HALF, STRENGTH, "gcn", FEW)[1]

    def answer() -> dict[str, object]:
        many = trained_answers(HALF, STRENGTH, "gcn", MANY)[1]
        return {
            "total": FEW * SMALL["classes"],
            "perceptron": few.right(few.perceptron),
            "best": few.right(few.truth),
            "more_labels": MANY,
            "gcn_more": many.right(many.learned),
            "perceptron_more": many.right(many.perceptron),
        }

    gcn, perceptron, words = (
        metrics.accuracy(probs, few.labels)
        for probs in (few.learned, few.perceptron, few.words_only)
    )
    by_links = (perceptron - gcn) / (words - gcn)
    return lesson.predict(
        here,
        "expect_links",
        0 if by_links > 2 / 3 else 1 if by_links < 1 / 3 else 2,
        answer,
        homophily=HALF,
        strength=STRENGTH,
        labels=FEW,
        gcn=few.right(few.learned),
        words=few.right(few.words_only),
    )
