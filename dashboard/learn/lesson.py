"""What all lessons share: head, columns, questions before answers, charts and links."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dashboard.cache import graphs
from dashboard.classroom.guessing import guess, leads
from dashboard.classroom.question import LessonQuestion
from dashboard.components.into_view import into_view
from dashboard.learn import cases
from dashboard.learn.course import LESSONS as LESSONS
from dashboard.learn.course import Lesson as Lesson
from dashboard.learn.glossary import TERMS
from dashboard.session import run_link
from dashboard.session.navigation import Query, page_link
from dashboard.session.view import current_theme
from dashboard.ui.errors import show_errors
from dashboard.ui.streamlit_internals import DeltaGenerator

T = TypeVar("T")
STYLE = (Path(__file__).parent / "lesson.css").read_text(encoding="utf-8")


def top(title: str) -> None:
    """Draw the top of every page of the section: its title, and the switch for a projector.

    The router calls this, not the pages, so that the switch keeps its state between pages.
    """
    st.html(f"<style>{STYLE}</style>")
    with st.container(horizontal=True, horizontal_alignment="distribute", key="learn_top"):
        st.caption(f"Learn · {title}", width="content")
        st.toggle(
            "Large text", key="large", bind="query-params", help="For a projector.", width="content"
        )


def two_columns(wide: bool = False) -> tuple[DeltaGenerator, DeltaGenerator]:
    """A column for words and question, and a wider one for controls and figure."""
    with st.container(key="play_wide" if wide else "play"):
        left, right = st.columns([1, 2] if wide else [2, 3], gap="medium")
    return left, right


def lesson_page(name: str) -> Callable[[Callable[[Lesson], None]], Callable[[], None]]:
    """Make the page of a lesson from the function that draws what is below its head.

    That function runs as a fragment: a drag does not rebuild the page around it.
    """
    (lesson,) = [each for each in LESSONS if each.name == name]

    def decorate(body: Callable[[Lesson], None]) -> Callable[[], None]:
        @st.fragment
        @functools.wraps(body)
        def fragment() -> None:
            with show_errors():
                body(lesson)

        def page() -> None:
            with st.container(
                horizontal=True, horizontal_alignment="distribute", key="lesson_head"
            ):
                st.title(lesson.question, width="content")
                with st.container(horizontal=True, width="content"):
                    _link_neighbours(lesson)
            fragment()

        return page

    return decorate


def explain(word: str) -> None:
    """A button with a word of the glossary; it opens the meaning."""
    term = TERMS[word]
    with st.popover(word, type="tertiary", icon=":material/help:"):
        st.markdown(f"**{word}**" + (f" ${term.symbol}$" if term.symbol else ""))
        st.markdown(term.meaning)


def predict(
    lesson: Lesson,
    name: str,
    right: int,
    answer: Callable[[], Mapping[str, object]],
    key: str = "",
    usual: bool = True,
    **values: object,
) -> bool:
    """Ask a question of the lesson; whether the student has guessed and sees the answer.

    Args:
        name: of the question in the file of the lesson.
        right: index of the right option.
        answer: computes the numbers of the answer, once the student has guessed.
        key: of the widget, if it is not ``name``.
        usual: whether the lesson begins with the settings that the question is about. A class
            answers only such a question.
        values: the numbers of the question, its options and its replies.
    """
    key = key or name
    asked = lesson.asked(name, **values)
    with st.container(border=True, key=f"asked_{key}"):
        st.markdown(f":material/psychology_alt: **What do you expect?** {asked.words}")
        guessed = guess(LessonQuestion(key, asked.words, asked.options, right), usual)
        if guessed is None:
            return False
        with st.container(key=f"verdict_{key}"):
            explanation = lesson.text(f"Answer: {name}", **values | dict(answer()))
            if guessed == right:
                right_option = f"The answer is: {asked.options[right]}."
                reaction = right_option if leads() else "As you expected."
                st.markdown(f":green[:material/check_circle: {reaction}] {explanation}")
            else:
                reply = f"{asked.replies[guessed]} " if asked.replies[guessed] else ""
                guesser = "Most of you" if leads() else "You"
                st.markdown(
                    f":orange[:material/lightbulb: The answer is: {asked.options[right]}.] "
                    f"*{guesser} guessed: {asked.options[guessed]}.* {reply}{explanation}"
                )
            into_view(f"seen_{key}", guessed)
    return True


def one_of(label: str, titles: Mapping[T, str], key: str, **options: Any) -> T:
    """Buttons of which one is always chosen, at first the first; returns its key in ``titles``."""
    first = next(iter(titles))
    chosen = st.segmented_control(
        label,
        list(titles),
        default=first,
        required=True,
        key=key,
        format_func=titles.__getitem__,
        **options,
    )
    return first if chosen is None else chosen


def choose_graph(lesson: Lesson, key: str) -> tuple[Lesson, str]:
    """Offer Cora and the almanac; returns the lesson in words for the chosen one, and its name."""
    offered = {name: run_link.graph_label(name) for name in (cases.graph_name(), "almanac")}
    name = one_of("Graph", offered, key) if len(offered) > 1 else next(iter(offered))
    return dataclasses.replace(lesson, noun=graphs.graph(name).noun), name


def nearest(values: Sequence[float], value: float) -> int:
    """Index of the value nearest to another: which of the offered numbers is right."""
    return int(np.abs(np.array(values) - value).argmin())


Link = tuple[str, str, Query]
"""Words, the address of a page, and the parameters that open it at the right place."""


def end(lesson: Lesson, answered: bool, *links: Link) -> None:
    """Draw the summary, links into the dashboard, and the words that the lesson uses.

    The summary would reveal the answer, so it appears once the student has ``answered``.
    """
    if answered:
        st.info(f"**To keep.** {lesson.takeaway}", icon=":material/bookmark:")
    for label, address, query in links:
        page_link(address, label, ":material/open_in_new:", query)
    with st.container(horizontal=True, gap="small", key="words"):
        for word in lesson.words:
            explain(word)


def _link_neighbours(lesson: Lesson) -> None:
    for step, arrow in ((-1, ":material/arrow_back:"), (1, ":material/arrow_forward:")):
        other = lesson.number + step
        if 1 <= other <= len(LESSONS):
            neighbour = LESSONS[other - 1]
            page_link(neighbour.address, f"{other}. {neighbour.title}", arrow)
        elif step > 0:
            page_link("learn-tour", "A tour of the dashboard", arrow)


def chart(
    figure: go.Figure, key: str, caption: str = "", on_click: Callable[[], None] | None = None
) -> None:
    """A chart without zoom and toolbar: lessons have their own controls.

    ``on_click`` is called when the visitor clicks a point; the session state then names it.
    """
    config = {"displayModeBar": False, "scrollZoom": False}
    figure.update_layout(dragmode=False)
    st.plotly_chart(
        figure, width="stretch", theme=None, key=key, config=config,
        on_select=on_click or "ignore", selection_mode="points",
    )  # fmt: skip
    if caption:
        st.caption(caption)


theme = current_theme
