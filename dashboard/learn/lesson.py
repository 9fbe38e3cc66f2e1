"""What all lessons share: their order, their frame, questions before answers, the way onward."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st

from dashboard import state
from dashboard.learn.glossary import TERMS
from dashboard.links import Query, link
from dashboard.problems import explained


@dataclass(frozen=True)
class Lesson:
    number: int
    name: str  # in its address
    title: str
    question: str
    takeaway: str  # what to keep, in one sentence
    icon: str

    @property
    def address(self) -> str:
        return f"learn-{self.number}-{self.name}"


LESSONS = (
    Lesson(
        1,
        "confident",
        "Confident and wrong",
        "What does a model say about something it has never seen?",
        "A classifier has to answer with a class it knows, so its confidence can be high where "
        "every answer is wrong.",
        ":material/sentiment_very_satisfied:",
    ),
    Lesson(
        2,
        "message",
        "A message is a distribution",
        "What changes if a node says how sure it is of what it says?",
        "Means say which class is ahead, variances say how much that lead is worth.",
        ":material/waves:",
    ),
    Lesson(
        3,
        "travel",
        "How certainty travels",
        "Does an unsure neighbour make you unsure?",
        "Under the paper's rule the neighbours' variances cancel and only degrees count; under "
        "evidence propagation a surer neighbour always adds more certainty.",
        ":material/share:",
    ),
    Lesson(
        4,
        "loss",
        "A loss that punishes doubt",
        "What does training gain from being sure?",
        "A Gaussian likelihood charges for doubt when the model is right and rewards it when the "
        "model is wrong; cross-entropy sees no doubt at all.",
        ":material/landscape_2:",
    ),
    Lesson(
        5,
        "calibration",
        "Is 80 % really 80 %?",
        "How would you check a confidence?",
        "Calibration compares confidence with how often it is right, and one temperature can "
        "repair much of it without changing a single answer.",
        ":material/verified:",
    ),
    Lesson(
        6,
        "unseen",
        "Knowing what you have not seen",
        "Which number notices an unknown class?",
        "Class probabilities notice an unseen class to a degree; the variance of the message under "
        "the paper's rule does not, because it follows the links and not the class. A rule that "
        "asks what explains a node finds unseen groups, if they are large enough.",
        ":material/visibility_off:",
    ),
    Lesson(
        7,
        "truth",
        "The truth, for once",
        "How sure should one be?",
        "On a graph drawn from a known model the right confidence can be computed, and a trained "
        "network is some way off it.",
        ":material/balance:",
    ),
)


def top(title: str) -> None:
    """Above every page of the section: where one is, and the switch for a projector.

    Called by the router and not by the pages, so that the switch stays as it is from page to page.
    """
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        st.caption(f"Learn · {title}", width="content")
        st.toggle(
            "Large text", key="large", bind="query-params", help="For a projector.", width="content"
        )


def begin(number: int, words: Sequence[str] = ()) -> Lesson:
    """The head of a lesson; ``words`` are terms of the glossary that it uses."""
    lesson = LESSONS[number - 1]
    st.title(lesson.question)
    if words:
        with st.container(horizontal=True, gap="small", key="words"):
            for word in words:
                explain(word)
    return lesson


def played(body: Callable[[Lesson], None]) -> Callable[[Lesson], None]:
    """Run the playing part of a lesson on its own: a drag does not rebuild the page around it."""

    @st.fragment
    @functools.wraps(body)
    def guarded(lesson: Lesson) -> None:
        with explained():
            body(lesson)

    return guarded


def explain(word: str) -> None:
    """A word of the glossary that opens its meaning."""
    term = TERMS[word]
    with st.popover(word, type="tertiary", icon=":material/help:"):
        st.markdown(f"**{word}**" + (f" ${term.symbol}$" if term.symbol else ""))
        st.markdown(term.meaning)


def predict(
    key: str, question: str, options: Sequence[str], right: int, answer: Callable[[], str]
) -> bool:
    """A question; the answer is worked out and shown once the student has committed to one."""
    with st.container(border=True):
        st.markdown(f":material/psychology_alt: **What do you expect?** {question}")
        chosen = st.radio(
            question,
            range(len(options)),
            None,
            options.__getitem__,
            key,
            label_visibility="collapsed",
        )
        if chosen is None:
            st.caption("Choose one to see the answer.")
            return False
        verdict = (
            ":green[:material/check_circle: As you expected.]"
            if chosen == right
            else f":orange[:material/lightbulb: The answer is: {options[right]}.]"
        )
        st.markdown(f"{verdict} {answer()}")
    return True


Link = tuple[str, str, Query]
"""Words, the address of a page, and the parameters that open it at the right place."""


def end(lesson: Lesson, answered: bool, links: Sequence[Link]) -> None:
    """What to keep, where to see it in the real dashboard, and the neighbouring lessons.

    The summary would give the answer away, so it waits until the student has ``answered``.
    """
    if answered:
        st.info(f"**To keep.** {lesson.takeaway}", icon=":material/bookmark:")
    st.markdown("**In the real dashboard**")
    for words, address, query in links:
        link(address, words, ":material/open_in_new:", query)
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        for step, arrow in ((-1, ":material/arrow_back:"), (1, ":material/arrow_forward:")):
            other = lesson.number + step
            if 1 <= other <= len(LESSONS):
                beside = LESSONS[other - 1]
                link(beside.address, f"{other}. {beside.title}", arrow)
            elif step > 0:
                link("learn-tour", "A tour of the dashboard", arrow)


def chart(figure: go.Figure, key: str, caption: str = "") -> None:
    """A chart that stands still under the finger: lessons have their own controls."""
    config = {"displayModeBar": False, "scrollZoom": False}
    figure.update_layout(dragmode=False)
    st.plotly_chart(figure, width="stretch", theme=None, key=key, config=config)
    if caption:
        st.caption(caption)


theme = state.theme
