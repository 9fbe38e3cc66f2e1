"""For lecturers: plans of 45 and 90 minutes, what to say, and the wrong answers to expect."""

from pathlib import Path

import streamlit as st

from dashboard.learn.course import LESSONS, Lesson
from dashboard.learn.lesson import one_of
from dashboard.learn.texts import read_text
from dashboard.session.navigation import page_link

NOTEBOOK = Path(__file__).parent.parent / "shipped" / "starter.ipynb"

PLANS = {
    "45 minutes": ((1, 8), (2, 6), (3, 14), (5, 10), (6, 7)),
    "90 minutes": ((1, 9), (2, 8), (3, 15), (8, 10), (5, 12), (6, 10), (10, 9), (9, 9), (11, 8)),
}
"""Lessons in their order, and how many minutes each takes."""


def page() -> None:
    texts = read_text("lecturers.md")
    st.title("How do I teach this?")
    st.markdown(texts.text("Introduction"))
    with st.container(horizontal=True):
        page_link("class", "Start a class", ":material/groups:")
        page_link("learn-tour", "A tour for lecturers", ":material/route:")
    with st.container(key="plan"):
        chosen = one_of("Plan", {name: name for name in PLANS}, "minutes", bind="query-params")
    clock = 0
    plan = PLANS[chosen]
    for number, minutes in plan:
        _notes(LESSONS[number - 1], f"Minute {clock} to {clock + minutes}")
        clock += minutes
    with st.expander("If there is time: the other lessons"):
        for lesson in LESSONS:
            if lesson.number not in dict(plan):
                _notes(lesson, f"Lesson {lesson.number}")
    with st.container(border=True, key="exercises"):
        st.markdown(texts.text("Exercises"))
        st.code("bup exercises -o sheet.html --seed 0", language="sh")
        st.markdown(texts.text("Notebook"))
        st.download_button(
            "The notebook",
            NOTEBOOK.read_bytes,
            NOTEBOOK.name,
            "application/x-ipynb+json",
            icon=":material/download:",
            key="notebook",
        )
        st.caption(texts.text("Seminar"))


def _notes(lesson: Lesson, when: str) -> None:
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{when}**", width="content")
            page_link(
                lesson.address, f"{lesson.number}. {lesson.title}", ":material/arrow_forward:"
            )
        left, right = st.columns(2, gap="large")
        left.markdown(notes_text(lesson, ("do", "say")))
        right.markdown(notes_text(lesson, ("ask", "usual", "reply")))


FORMATS = {
    "do": "**Do.** {}",
    "say": "\n\n**Say.** {}",
    "ask": "\n\n**Ask.** {}",
    "usual": "  \n*Usual:* “{}”",
    "reply": "  \n*Reply:* {}",
}


def notes_text(lesson: Lesson, names: tuple[str, ...]) -> str:
    """The notes of these kinds for a lesson: what to do, to say and to ask."""
    fields = lesson.texts.section("For lecturers").fields
    return "".join(FORMATS[name].format(text) for name, text in fields if name in names).strip()
