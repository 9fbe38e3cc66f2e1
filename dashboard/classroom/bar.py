"""The bar on top of every page for the members of a class."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.classroom import guessing, membership, polling
from dashboard.classroom.destination import Destination
from dashboard.classroom.links import PAGE
from dashboard.classroom.membership import Membership
from dashboard.classroom.register import LecturerKey, Register
from dashboard.components.news import Redirect, news
from dashboard.session import url
from dashboard.session.navigation import addresses, page_link, title
from dashboard.ui.errors import show_errors
from dashboard.ui.numbers import counted

STYLE = (Path(__file__).parent / "classroom.css").read_text(encoding="utf-8")


def bar(address: str) -> None:
    """Draw the bar for a member of a class; ``address`` is the page below."""
    here = membership.current()
    if here is not None:
        st.session_state.class_cookies = True
        if here.lecturer is not None:
            _lecturer_bar(address)
        else:
            _student_bar()
    elif code := membership.ended_class():
        with _row():
            _announce_end(code)
            _remove_cookies()
    elif st.session_state.pop("class_cookies", False):
        _remove_cookies()


def _remove_cookies() -> None:
    news("class_news", "", "", "", cookies=membership.NO_COOKIES)


def _look_for_news(here: Membership, audience: str, known: str, **options: Any) -> None:
    """Run the fragment around this again when the class has changed; keep the membership."""
    source, seconds = polling.source(here.code), membership.COOKIE_SECONDS
    news("class_news", source, audience, known, cookies=here.cookies, lasting=seconds, **options)


def _announce_end(code: str) -> None:
    """Say that the class has ended, until the student closes the message."""
    st.markdown(
        f":material/waving_hand: **Class {code} has ended.** Its guesses are deleted, and you may "
        "go on by yourself."
    )
    st.button("Close", key="class_close", type="tertiary", on_click=membership.change, args=(None,))


def _leave_ended_class(here: Membership) -> None:
    """Leave a class that has ended."""
    membership.end(here.code)
    st.rerun()


@st.fragment
def _student_bar() -> None:
    """Runs again when the browser has found news, but not while the student types."""
    here = membership.current()
    if here is None:
        st.rerun()
    with show_errors():
        room = Register().find(here.code)
        if room is None:
            _leave_ended_class(here)
            return
        place = Destination.read(room.place, addresses()) if room.place else None
        going = False
        if st.session_state.pop("class_has_news", False):
            st.session_state.class_news_seen = room.news
            going = place is not None and here.follows and room.step != here.step
            here = membership.record_step(here, room)
            if not going and guessing.has_new_answer(room):
                st.rerun()
        with _row():
            st.markdown(f":material/groups: **Class {here.code}**", width="content")
            st.toggle(
                "Follow",
                here.follows,
                key="class_follows",
                on_change=_follow,
                help="Go where your lecturer goes. Turn it off to look around on your own.",
                width="content",
            )
            if place is None:
                action = "lets you look around" if room.step else "will take you along"
                st.caption(f"Your lecturer {action}.", width="content")
            else:
                st.caption(f"Your lecturer is at: {title(place.address)}", width="content")
                going |= st.button(
                    "Go there", key="class_go", type="tertiary", icon=":material/east:"
                )
            st.button(
                "Leave",
                key="class_leave",
                type="tertiary",
                on_click=show_errors()(membership.leave_class),
            )
            redirect = _redirect_to(place) if going and place is not None else None
            known = st.session_state.get("class_news_seen", "")
            _look_for_news(here, polling.STUDENT, known, on_news=_on_news, go=redirect)


def _redirect_to(place: Destination) -> Redirect:
    st.session_state.class_redirects = st.session_state.get("class_redirects", 0) + 1
    root = Destination(".", place.query) if place.address == addresses()[0] else place
    return Redirect(st.session_state.class_redirects, str(root))


def _on_news() -> None:
    st.session_state.class_has_news = True


def _follow() -> None:
    membership.set_following(bool(st.session_state.class_follows))


@st.fragment
def _lecturer_bar(address: str) -> None:
    here = membership.current()
    if here is None or here.lecturer is None:
        st.rerun()
    with show_errors():
        room = Register().find(here.code)
        if room is None:
            _leave_ended_class(here)
            return
        with _row():
            students = counted(room.students, "student")
            label = f":material/cast_for_education: **Class {here.code}** · {students}"
            st.markdown(label, width="content")
            if address != PAGE:
                send = partial(_send_here, here.lecturer, address)
                _button("Send everybody here", ":material/campaign:", send)
            if room.place:
                where = title(room.place.partition("?")[0])
                st.caption(f"The class is at: {where}", width="content")
                _button(
                    "Let students browse",
                    ":material/pan_tool:",
                    partial(_release_class, here.lecturer),
                )
            if address != PAGE:
                page_link(PAGE, "Guesses and code", ":material/qr_code_2:")
            _look_for_news(here, polling.LEAD, str(room.version))


def _row() -> st.delta_generator.DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="center", gap="small", key="class_bar")


def _button(label: str, icon: str, run: Callable[[], None]) -> None:
    st.button(label, icon=icon, on_click=run, key=f"class_{label}")


@show_errors()
def _send_here(lead: LecturerKey, address: str) -> None:
    """Send the class to exactly what the lecturer sees: page and parameters."""
    Register().send(lead, str(Destination.of(address, url.pairs())))


@show_errors()
def _release_class(lead: LecturerKey) -> None:
    Register().send(lead, "")
