"""Lesson 9: ten networks are given more labels; where their doubt goes, and where it stays."""

from __future__ import annotations

import streamlit as st

from dashboard.cache import graphs
from dashboard.figures.learn.networks import NetworkAnswers, networks_figure
from dashboard.learn import lesson
from dashboard.learn.kinds_table import FIRST, GRAPH, HIDDEN, LABELS, SECOND, papers
from dashboard.session import run_link

FEW, MANY = LABELS[0], LABELS[-1]
AGREED = 0.2  # answers no further apart than this agree


def page() -> None:
    here = lesson.begin(9)
    _lesson(here)


@lesson.played
def _lesson(here: lesson.Lesson) -> None:
    names = graphs.graph(GRAPH).class_names
    left, right = lesson.halves()
    with left:
        st.markdown(
            "**Aleatoric** doubt lies in the data: even somebody who knew everything would "
            "hesitate. **Epistemic** doubt lies in the model: it has not seen enough. Ten networks "
            f"learn to tell {names[FIRST]} from {names[SECOND]}, each from labelled papers of its "
            f"own; none is shown {names[HIDDEN]}. Every dot is the answer of one network: where "
            "dots lie apart, networks disagree."
        )
        controls = st.container()  # above the question, which brings them
        answered = _question()
        with controls:
            labels = FEW
            if answered:
                labels = st.select_slider("Labels per topic", LABELS, FEW, key="kind_labels")
            else:
                st.caption("You can give them more labels when you have made your guess.")
    with right:
        lesson.chart(
            networks_figure(
                list(rows(labels).values()), (names[FIRST], names[SECOND]), lesson.theme()
            ),
            "networks",
            f"Ten GCNs with {labels} labels per topic, on a drawn graph of 1,500 papers, so that "
            "the truth is known; trained ahead. The three papers are examples that show the three "
            "cases well; no network was told their classes.",
        )
    with left:
        if answered:
            _contested()
        query = {
            "graph": run_link.graph_label(GRAPH),
            "method": "GCN",
            "per_class": str(labels),
            "left_out": names[HIDDEN],
        }
        lesson.end(here, answered, [("Such a network in the dashboard", "ood", query)])


def rows(labels: int) -> dict[str, NetworkAnswers]:
    """What is shown of every paper when each network has so many labels per topic."""
    stranger = graphs.graph(GRAPH).class_names[HIDDEN]
    titles = {
        "clear": "A clear paper",
        "torn": "A torn paper",
        "stranger": f"A stranger ({stranger})",
    }
    return {
        name: NetworkAnswers(
            titles[name],
            paper.answers[labels],
            None if name == "stranger" else paper.truth[FIRST],
        )
        for name, paper in papers().items()
    }


def _contested() -> None:
    with st.expander("Where these words are contested"):
        st.markdown(
            "The two kinds are defined, not discovered: where the line runs depends on which "
            "models one averages over. Mutual information, the usual measure of disagreement, "
            "breaks rules that one would ask of epistemic doubt (Wimmer et al., 2023); in practice "
            "both parts go up and down together (Mucsányi et al., 2024); and schools of thought "
            "draw the line in different places (Kirchhof et al., 2025). Doubt that a better "
            "sensor would remove is epistemic to whoever can buy the sensor."
        )


def _question() -> bool:
    found = rows(MANY)
    agreed = [max(row.values) - min(row.values) <= AGREED for row in found.values()]

    def answer() -> str:
        clear, torn, stranger = (found[name].span for name in ("clear", "torn", "stranger"))
        return (
            f"With {MANY} labels per topic the ten answers lie at {clear} for the clear paper, "
            f"{torn} for the torn one and {stranger} for the stranger. Disagreement is epistemic "
            "doubt, and labels take it away. What stays with the torn paper is aleatoric: the "
            "truth itself is undecided. About the stranger all agree, and all are wrong: agreement "
            "is not knowledge. Pull the slider."
        )

    return lesson.predict(
        "expect_kinds",
        f"With {FEW} labels per topic the networks disagree about all three papers. Now each gets "
        f"{MANY} labels per topic. About which papers will they agree?",
        ["only the clear one", "the clear and the torn one", "all three"],
        sum(agreed) - 1,
        answer,
        [
            "It is the only one that they get right and are sure of. But agreeing is less than "
            "that.",
            "One would hope that networks differ about what none of them has seen.",
            "",
        ],
    )
