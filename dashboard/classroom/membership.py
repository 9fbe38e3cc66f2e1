"""This browser's membership in a class: none, a student's or the lecturer's.

It is stored in the session, and in cookies for a reload. The key of a lecturer's link leaves the
address bar at once, because a projector shows it to everybody.
"""

from dataclasses import dataclass, replace

import streamlit as st

import bup
from dashboard.classroom.links import JOIN_PARAMETER, LEAD_PARAMETER
from dashboard.classroom.register import (
    HOURS,
    Classroom,
    LecturerKey,
    Register,
    is_code,
    normalize_code,
)
from dashboard.network.visitor import client
from dashboard.session import url

LEAD_COOKIE, SEAT_COOKIE = "bup_lead", "bup_seat"
COOKIE_SECONDS = 3600 * HOURS


@dataclass(frozen=True)
class Membership:
    code: str
    student: str = ""  # a random number; the lecturer has none
    key: str = ""  # the lecturer's; a student has none
    step: int = -1  # the last step of the lecturer that a student followed
    follows: bool = True

    @property
    def lecturer(self) -> LecturerKey | None:
        return LecturerKey(self.code, self.key) if self.key else None

    @property
    def cookies(self) -> dict[str, str]:
        if self.key:
            return {LEAD_COOKIE: f"{self.code}.{self.key}"}
        return {SEAT_COOKIE: f"{self.code}.{self.student}.{self.step}.{self.follows:d}"}


NO_COOKIES = {LEAD_COOKIE: "", SEAT_COOKIE: ""}


def current() -> Membership | None:
    return st.session_state.get("class_membership")


def change(membership: Membership | None) -> None:
    """Make the browser a member of a class, or of none."""
    st.session_state.class_membership = membership
    st.session_state.ended_class = ""


def end(code: str) -> None:
    """Leave a class that has ended; the bar says so until the student closes the message."""
    change(None)
    st.session_state.ended_class = code


def ended_class() -> str:
    """The code of the class that ended while this visitor was in it, or ""."""
    return st.session_state.get("ended_class", "")


def restore() -> None:
    """Join the class that a link or a cookie names; called once a run, before any other use."""
    if "class_membership" not in st.session_state:
        change(_from_cookies())
        if current() is None and (code := _ended_class_of_cookies()):
            end(code)
    if link := url.pop(LEAD_PARAMETER):
        code, _, key = link.partition(".")
        if not Register().leads(LecturerKey(code, key)):
            raise bup.BupError("this link leads no class that is under way: start a new one")
        change(Membership(code, key=key))
    elif link := url.pop(JOIN_PARAMETER):
        join_class(link)


def start_class() -> None:
    lead = Register().start(client())
    change(Membership(lead.code, key=lead.key))


def join_class(code: str) -> None:
    before = current()
    student = before.student if before is not None and before.code == normalize_code(code) else ""
    change(Membership(normalize_code(code), Register().join(code, student, client())))


def leave_class() -> None:
    """Leave as a student; a lecturer ends the class instead."""
    here = current()
    change(None)
    if here is not None and here.student:
        Register().leave(here.code, here.student)


def record_step(here: Membership, room: Classroom) -> Membership:
    """Remember the last step of the lecturer that this student has followed."""
    here = replace(here, step=room.step)
    change(here)
    return here


def set_following(follows: bool) -> None:
    if (here := current()) is not None:
        change(replace(here, follows=follows))


def _from_cookies() -> Membership | None:
    """The membership of before a reload, if its class is still under way."""
    cookies = dict(st.context.cookies)
    code, _, key = cookies.get(LEAD_COOKIE, "").partition(".")
    if key and Register().leads(LecturerKey(code, key)):
        return Membership(code, key=key)
    code, student, step, follows, *_ = (cookies.get(SEAT_COOKIE, "") + "....").split(".")
    if student and Register().is_in(code, student):
        is_number = step.isascii() and step.isdigit() and len(step) < 9
        return Membership(
            normalize_code(code), student, "", int(step) if is_number else -1, follows != "0"
        )
    return None


def _ended_class_of_cookies() -> str:
    """The code of a class of before a reload that has ended meanwhile, or ""."""
    cookies = st.context.cookies
    code = (cookies.get(LEAD_COOKIE) or cookies.get(SEAT_COOKIE) or "").partition(".")[0]
    return code if is_code(code) and Register().find(code) is None else ""
