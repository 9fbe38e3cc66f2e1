"""Guesses before answers: alone, as one of a class, or before it."""

import streamlit as st

from bup.graph.noun import Noun
from dashboard.classroom import membership, polling
from dashboard.classroom.membership import Membership
from dashboard.classroom.question import LessonQuestion, Tally
from dashboard.classroom.register import Classroom, LecturerKey, Register
from dashboard.classroom.tally import tally_bars
from dashboard.components.news import news
from dashboard.ui.errors import show_errors

SECONDS = 1.0
"""Between two looks of a lecturer's browser for guesses."""


def guess(question: LessonQuestion, usual: bool = True) -> int | None:
    """The visitor's guess; None as long as the answer must stay hidden.

    A visitor alone sees the answer at once. In a class the guess is counted and its answer waits
    for the lecturer, who sees the number of guesses and, later, what most of the class guessed. A
    question that is not ``usual``, because a student changed the settings of a lesson, counts for
    the class only if the lecturer has changed them too.
    """
    here = membership.current()
    if here is None:
        return _radio(question)
    if here.lecturer is not None:
        return _room_guess(here.lecturer, question)
    with show_errors():
        return _counted_guess(here, question, usual)
    return None


def count_answer(question: LessonQuestion, choice: int) -> None:
    """Count an answer to a question without a right one, if the visitor is a student of a class."""
    here = membership.current()
    if here is not None and here.lecturer is None:
        Register().guess(here.code, here.student, question, choice)


def class_answers() -> dict[str, tuple[int, ...]]:
    """How often a lecturer's class chose each option of such questions so far, by their names.

    The fragment around this runs again whenever the class changes.
    """
    here = membership.current()
    if here is None or here.lecturer is None:
        return {}
    watch(here.lecturer, "watch_class_answers")
    tallies = Register().tallies(here.lecturer)
    return {t.question.name: t.counts for t in tallies if t.question.right is None and t.guesses}


def leads() -> bool:
    """Whether this is the screen of a lecturer."""
    here = membership.current()
    return here is not None and here.lecturer is not None


def _awaited() -> set[str]:
    """The questions whose answers this session waits for."""
    return st.session_state.setdefault("awaited_answers", set())


def has_new_answer(room: Classroom) -> bool:
    """Whether an answer that this session waited for can be seen now, or is voted on again."""
    again = st.session_state.setdefault("second_votes", set())
    asked_again = _awaited() & room.second_vote_ids - again
    again |= asked_again
    answered = _awaited() if not room.holds_answers else _awaited() & room.revealed_ids
    _awaited().difference_update(set(answered))
    return bool(answered or asked_again)


def _radio(question: LessonQuestion, hint: str = "Choose one to see the answer.") -> int | None:
    if (before := st.session_state.get(question.name)) is not None:
        # Marked again: the browser forgot it while a wait replaced the question.
        st.session_state[question.name] = before
    chosen = st.radio(
        question.words,
        range(len(question.options)),
        None,
        question.options.__getitem__,
        question.name,
        label_visibility="collapsed",
    )
    if chosen is None:
        st.caption(hint)
    return chosen


def _counted_guess(here: Membership, question: LessonQuestion, usual: bool) -> int | None:
    register = Register()
    room = register.find(here.code)
    if room is None:
        return _radio(question)
    if not usual and question.id not in room.question_ids:
        st.caption("You changed the settings: this guess is yours alone and not your class's.")
        return _radio(question)
    stored: dict[tuple[str, str], int | None] = st.session_state.setdefault("stored_guesses", {})
    key = here.code, question.id
    if key not in stored:
        stored[key] = register.choice(here.code, here.student, question)
        st.session_state.setdefault(question.name, stored[key])  # after a reload
    hint = "Choose one. The answer shows when your lecturer reveals it."
    chosen = _radio(question) if room.shows_answer(question) else _radio(question, hint)
    if chosen is None:
        return None
    if chosen != stored[key]:
        register.guess(here.code, here.student, question, chosen)
        stored[key] = chosen
    if room.shows_answer(question):
        _awaited().discard(question.id)
        return chosen
    _awaited().add(question.id)
    if question.id in room.second_vote_ids:
        st.markdown(
            ":material/forum: **Second vote:** talk to your neighbours, then keep your guess or "
            "change it."
        )
    st.caption(
        ":material/hourglass_empty: Your guess is in, and you may change it. The answer shows when "
        "your lecturer reveals it."
    )
    return None


def _room_guess(lead: LecturerKey, question: LessonQuestion) -> int | None:
    """Draw the lecturer's view; return None until the answer is shown.

    Then it is what more than half of the class guessed, or the right option without a majority.
    """
    with show_errors():
        tally = _get_tally(lead, question)
        if not tally.revealed:
            _live(lead, question)
            return None
        show_guesses(lead, tally)
        most = max(tally.counts)
        return tally.counts.index(most) if 2 * most > tally.guesses else question.right
    return None


def _get_tally(lead: LecturerKey, question: LessonQuestion) -> Tally:
    register = Register()
    answered = [tally for tally in register.tallies(lead) if tally.question == question]
    if answered:
        return answered[0]
    register.ask(lead, question)
    return Tally(question, (0,) * len(question.options), revealed=False)


@st.fragment
def _live(lead: LecturerKey, question: LessonQuestion) -> None:
    with show_errors():
        watch(lead, f"watch_{question.id}")
        tally = _get_tally(lead, question)
        if show_guesses(lead, tally) or tally.revealed:
            st.rerun()


def _caption_hits(tally: Tally) -> None:
    right = tally.question.right
    assert right is not None
    first = ""
    if tally.before:
        first = f" In the first vote (thin bars): {tally.before[right]} of {sum(tally.before)}."
    st.caption(f"{tally.counts[right]} of {tally.guesses} guessed right.{first}")


def watch(lead: LecturerKey, key: str) -> None:
    """Run the fragment around this again whenever the class changes."""
    room = Register().find(lead.code)
    known = polling.OVER if room is None else str(room.version)
    news(key, polling.source(lead.code), polling.LEAD, known, seconds=SECONDS)


def show_guesses(lead: LecturerKey, tally: Tally) -> bool:
    """Draw the guesses on the lecturer's screen; return whether she has just shown the answer.

    Before that there is a number only: a projector would tell the class what most of it expects.
    """
    question = tally.question
    if question.right is None:  # nothing to give away
        st.html(tally_bars(tally))
        return False
    if tally.revealed:
        st.html(tally_bars(tally))
        _caption_hits(tally)
        return False
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Show the answer",
            icon=":material/visibility:",
            key=f"reveal_{question.id}",
            type="primary",
        )
        st.caption(f"{Noun('guess', 'guesses').count(tally.guesses)} so far.", width="content")
        if tally.before:
            st.caption("Second vote; thin bars show the first.", width="content")
        elif tally.guesses:
            st.button(
                "Vote again",
                icon=":material/forum:",
                key=f"again_{question.id}",
                on_click=show_errors()(lambda: Register().vote_again(lead, question)),
                help="After a discussion in pairs. Each student keeps the guess or changes it; "
                "thin bars then show the first vote.",
            )
        shown = st.toggle(
            "Show guesses",
            key=f"guesses_{question.id}",
            help="Everyone who sees this screen sees them.",
            width="content",
        )
    if shown:
        st.html(tally_bars(tally))
    if pressed:
        Register().reveal(lead, question)
    return pressed
