"""Lesson 12: things that people file differently, and whether the model doubts them too."""

import tomllib
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from bup import metrics
from dashboard.cache.run_cache import LoadedRun
from dashboard.classroom import guessing
from dashboard.classroom.question import LessonQuestion
from dashboard.figures.class_tables import compared_table
from dashboard.figures.learn.people import Filed, people_figure
from dashboard.learn import cases, lesson
from dashboard.ui.errors import show_errors
from dashboard.ui.markdown import escaped

GRAPH = "almanac"
AUTHORS = tomllib.loads(Path(__file__).with_name("people.toml").read_text(encoding="utf-8"))
"""How the authors split each thing among the classes."""
DISPUTED = 0.4  # of the answers, or more, differ from the most frequent one
SURE = 0.8
CHART = "people_chart"


@dataclass(frozen=True, eq=False)
class Thing:
    """A thing with the shares of people, and the probabilities of the model, for each class."""

    node: int
    name: str
    people: np.ndarray
    model: np.ndarray

    @property
    def disagreement(self) -> float:
        return float(1 - self.people.max())

    @property
    def doubt(self) -> float:
        return float(1 - self.model.max())

    @property
    def agrees(self) -> bool:
        """Whether the model's answer is one that as many people give as any other."""
        return bool(self.people[self.model.argmax()] == self.people.max())


@lesson.lesson_page("people")
def page(here: lesson.Lesson) -> None:
    left, right = lesson.two_columns()
    case = cases.load_case(GRAPH, "bup", propagation="doubt")
    authors = things(case)
    room = guessing.class_answers()
    shown = [thing for thing in things(case, room) if thing.name in room] or authors
    with left:
        st.markdown(here.text("Introduction"))
        chosen = _file(case, authors)
        answered = _question(here, authors)
    with right:
        shown.sort(key=lambda thing: -thing.disagreement)
        whose = here.text("The class" if room else "The authors")
        lesson.chart(
            people_figure(
                [
                    Filed(t.name, case.graph.about(t.node), t.disagreement, t.doubt, t.agrees)
                    for t in shown
                ],
                "your class" if room else "the authors",
                answered,
                lesson.theme(),
            ),
            CHART,
            here.text("Chart" if answered else "Chart before the guess", whose=whose),
            partial(_look, [thing.name for thing in shown]),
        )
    with left:
        if answered:
            _compare(case, next((t for t in shown if t.name == chosen.name), chosen), bool(room))
        lesson.end(
            here,
            answered,
            ("This thing on the map", "explore", cases.query(case, node=chosen.name)),
        )


def things(case: LoadedRun, room: dict[str, tuple[int, ...]] | None = None) -> list[Thing]:
    """The things whose class the model was not told, split as by the authors or by a class."""
    graph, told = case.graph, set(case.result.split.train.tolist())
    found = []
    for name, split in AUTHORS.items():
        node = graph.find(name)
        counts = (room or {}).get(name) or [split.get(c, 0.0) for c in graph.class_names]
        if node not in told:
            people = np.array(counts, dtype=float)
            found.append(Thing(node, name, people / people.sum(), case.result.probs[node]))
    return found


def filing(case: LoadedRun, name: str) -> LessonQuestion:
    """The question where to file a thing; nobody's answer is the right one."""
    return LessonQuestion(name, f"Where would you file {name}?", case.graph.class_names, None)


def _file(case: LoadedRun, offered: list[Thing]) -> Thing:
    """Let the visitor choose a thing and a class for it; returns the thing."""
    by_name = {thing.name: thing for thing in offered}
    with st.container(border=True, key="filing"):
        name = st.selectbox("Which thing?", list(by_name), key="people_thing")
        thing = by_name[name]
        st.caption(escaped(case.graph.about(thing.node)))
        question, key = filing(case, name), f"file_{name}"
        st.pills(
            "Where would **you** file it?",
            range(len(question.options)),
            format_func=question.options.__getitem__,
            key=key,
            on_change=show_errors()(partial(_count, question, key)),
        )
        names = list(by_name)
        st.button(
            "Next thing",
            icon=":material/arrow_forward:",
            on_click=partial(_show, names[(names.index(name) + 1) % len(names)]),
        )
    return thing


def _count(question: LessonQuestion, key: str) -> None:
    if (choice := st.session_state[key]) is not None:
        guessing.count_answer(question, choice)


def _show(name: str) -> None:
    st.session_state.people_thing = name


def _look(names: list[str]) -> None:
    """Choose the thing whose bar was clicked."""
    if points := st.session_state[CHART]["selection"]["points"]:
        _show(names[int(points[0]["y"])])


def _compare(case: LoadedRun, thing: Thing, room: bool) -> None:
    """How people split a thing beside how the model does."""
    st.markdown(f"**{escaped(thing.name)}**, for people and for the model")
    labels = ("the model", "your class" if room else "the authors")  # coloured as in the chart
    both, names = (thing.model, thing.people), case.graph.class_names
    st.html(compared_table(both, labels, names, lesson.theme(), "|"))


def _question(here: lesson.Lesson, asked: list[Thing]) -> bool:
    disputed = [thing for thing in asked if thing.disagreement >= DISPUTED]
    sure = sum(thing.doubt < 1 - SURE for thing in disputed)
    return lesson.predict(
        here,
        "expect_people",
        lesson.nearest((0.05, 0.5, 0.85), sure / len(disputed)),
        lambda: {
            "count": sure,
            "correlation": metrics.spearman(
                np.array([thing.disagreement for thing in asked]),
                np.array([thing.doubt for thing in asked]),
                resamples=2,
            ).value,
            "other": sum(not thing.agrees for thing in asked),
            "things": len(asked),
        },
        disputed=len(disputed),
        sure=SURE,
    )
