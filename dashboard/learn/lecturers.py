"""A plan for a lecture, with the pages in their order and questions to ask."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dashboard.learn import lesson
from dashboard.links import link


@dataclass(frozen=True)
class Part:
    minutes: int
    address: str
    label: str
    do: str
    ask: tuple[str, ...]


def _lesson(number: int, minutes: int, do: str, *ask: str) -> Part:
    each = lesson.LESSONS[number - 1]
    return Part(minutes, each.address, f"Lesson {number}: {each.title}", do, ask)


PLAN = (
    _lesson(
        1,
        6,
        "Let the room vote on the guess, then reveal. Raise the bar with the slider until hardly "
        "any unseen paper is believed, and read out how many known ones are lost.",
        "Why can the model not say “none of these”?",
        "Which is worse in your field: a confident mistake, or no answer?",
    ),
    _lesson(
        2,
        6,
        "Drag one mean past another, then widen one curve only.",
        "Can a class with the smaller mean win more often? Try three classes and one very wide "
        "curve.",
        "What is the difference between an unsure answer and an unsure probability?",
    ),
    _lesson(
        3,
        11,
        "The heart of the hour. Both guesses by show of hands, then do them live in the drawing: "
        "set the variance of B, then pull A's plus onto the hub.",
        "What would you want an unsure neighbour to do to you?",
        "Find a graph in which GCN averaging makes a node less sure than all its neighbours.",
        "Which of the three rules would you put in a product, and what would you check first?",
    ),
    _lesson(
        4,
        6,
        "Start at margin 1, walk to −1 and stop at 0. Then go from two classes to seven.",
        "Why is the product never above the exact probability?",
        "What would happen in training if doubt were always free?",
    ),
    _lesson(
        5,
        7,
        "Fill the diagram slowly and let the room call out each bar. Then the temperature.",
        "Why may the temperature not be chosen on the test papers?",
        "Take 20 bins and 60 papers: what is wrong with this ECE?",
    ),
    _lesson(
        6,
        5,
        "Guess, reveal, then drag the threshold and let the curve draw itself for both doubts.",
        "What would a message variance have to depend on to notice an unseen class?",
    ),
    _lesson(
        7,
        4,
        "Train once at homophily 0.8 and once at 0.5.",
        "Why is the network worse than words alone when links mislead?",
        "On real data there is no truth to hold against. What is left to do?",
    ),
)


def page() -> None:
    total = sum(part.minutes for part in PLAN)
    st.title(f"How do I teach this in {total} minutes?")
    st.markdown(
        "Turn on **Large text** above for the projector; the setting travels in the address, so "
        "links that you prepare keep it. The first visit to lessons 1, 5, 6 and 7 trains a model "
        "for a second or two: open them once before the lecture. Every guess hides its answer "
        "until somebody has chosen, and a reload of the page starts afresh."
    )
    clock = 0
    for part in PLAN:
        with st.container(border=True):
            st.markdown(f"**Minute {clock} to {clock + part.minutes}**")
            link(part.address, part.label, ":material/arrow_forward:")
            st.markdown(f"*Do.* {part.do}\n\n*Ask.*\n" + "\n".join(f"- {q}" for q in part.ask))
        clock += part.minutes
    st.markdown(
        "**Less time?** Lessons 1, 3 and 5 make a whole of 25 minutes. **More?** Send the students "
        "on the tour, in pairs, with one question: find a paper whose confidence surprises you, "
        "and say why it is so sure."
    )
    link("learn-tour", "The tour", ":material/route:")
