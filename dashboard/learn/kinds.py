"""Lesson 9: ten networks are given more labels; where their doubt goes, and where it stays."""

import streamlit as st

from dashboard.cache import graphs
from dashboard.figures.learn.networks import NetworkAnswers, networks_figure
from dashboard.learn import lesson
from dashboard.learn.kinds_data import FIRST, GRAPH, HIDDEN, LABELS, SECOND, papers
from dashboard.session import run_link

FEW, MANY = LABELS[0], LABELS[-1]
AGREED = 0.2  # answers no further apart than this agree


@lesson.lesson_page("kinds")
def page(here: lesson.Lesson) -> None:
    names = graphs.graph(GRAPH).class_names
    left, right = lesson.two_columns()
    with left:
        st.markdown(
            here.text(
                "Introduction", first=names[FIRST], second=names[SECOND], hidden=names[HIDDEN]
            )
        )
        controls = st.container()  # above the question, which unlocks them
        answered = _question(here)
        with controls:
            labels = FEW
            if answered:
                labels = st.select_slider("Labels per topic", LABELS, FEW, key="kind_labels")
            else:
                st.caption(here.text("Before the guess"))
    with right:
        answers, classes = list(rows(labels).values()), (names[FIRST], names[SECOND])
        lesson.chart(
            networks_figure(answers, classes, lesson.theme()),
            "networks",
            here.text("Chart", labels=labels),
        )
    with left:
        if answered:
            with st.expander("Where these words are contested"):
                st.markdown(here.text("Contested"))
        query = {
            "graph": run_link.graph_label(GRAPH),
            "method": "GCN",
            "per_class": str(labels),
            "left_out": names[HIDDEN],
        }
        lesson.end(
            here,
            answered,
            ("Such a network in the dashboard", "ood", query),
            ("Torn things that you know: lesson 12", "learn-12-people", {}),
            (
                "A thing without links",
                "explore",
                {"graph": "Almanac", "node": "theremin"},
            ),
        )


def rows(labels: int) -> dict[str, NetworkAnswers]:
    """The answers for each paper when every network has so many labels per topic."""
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


def _question(here: lesson.Lesson) -> bool:
    papers_with_many = rows(MANY)
    agreed = [max(row.values) - min(row.values) <= AGREED for row in papers_with_many.values()]
    return lesson.predict(
        here,
        "expect_kinds",
        sum(agreed) - 1,
        lambda: {name: paper.span for name, paper in papers_with_many.items()},
        few=FEW,
        many=MANY,
    )
