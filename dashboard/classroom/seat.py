"""This browser's seat in a class: none, a student's or the lecturer's.

It is kept for the session, and in cookies for a reload. The key of a lecturer's link leaves the
address bar at once, because a projector shows it to everybody.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

import bup
from dashboard.classroom.register import HOURS, Lead, Register, Room, is_code, tidy
from dashboard.network.visitor import client

LEAD, JOIN = "lead", "code"
"""What a lecturer's and a student's link carry."""
LEAD_COOKIE, SEAT_COOKIE = "bup_lead", "bup_seat"
SECONDS = 3600 * HOURS


@dataclass(frozen=True)
class Seat:
    code: str
    student: str = ""  # a random number; the lecturer has none
    key: str = ""  # the lecturer's; a student has none
    step: int = -1  # how far a student has gone along
    follows: bool = True

    @property
    def lead(self) -> Lead | None:
        return Lead(self.code, self.key) if self.key else None

    @property
    def cookies(self) -> dict[str, str]:
        if self.key:
            return {LEAD_COOKIE: f"{self.code}.{self.key}"}
        return {SEAT_COOKIE: f"{self.code}.{self.student}.{self.step}.{self.follows:d}"}


NO_COOKIES = {LEAD_COOKIE: "", SEAT_COOKIE: ""}


def register() -> Register:
    return Register()


def mine() -> Seat | None:
    return st.session_state.get("seat")


def take(seat: Seat | None) -> None:
    """Sit down here, or nowhere."""
    st.session_state.seat = seat
    st.session_state.ended_class = ""


def stand_up(code: str) -> None:
    """The class of this code has ended; who sat in it is told until they have read it."""
    take(None)
    st.session_state.ended_class = code


def ended() -> str:
    """The code of a class that has ended under this visitor; "" if none has."""
    return st.session_state.get("ended_class", "")


def arrive() -> None:
    """Take the seat that a link or a cookie gives; once a run, before anything asks for it."""
    if "seat" not in st.session_state:
        take(_remembered())
        if mine() is None and (code := _forgotten()):
            stand_up(code)
    if link := _taken_from_link(LEAD):
        code, _, key = link.partition(".")
        if not register().leads(Lead(code, key)):
            raise bup.BupError("this link leads no class that is under way: start a new one")
        take(Seat(code, key=key))
    elif link := _taken_from_link(JOIN):
        join(link)


def _taken_from_link(name: str) -> str:
    value = st.query_params.get(name, "")
    if value:
        del st.query_params[name]
    return value


def start() -> None:
    lead = register().start(client())
    take(Seat(lead.code, key=lead.key))


def join(code: str) -> None:
    before = mine()
    known = before.student if before is not None and before.code == tidy(code) else ""
    take(Seat(tidy(code), register().join(code, known, client())))


def leave() -> None:
    """A student's way out; a lecturer ends the class."""
    here = mine()
    take(None)
    if here is not None and here.student:
        register().leave(here.code, here.student)


def went_along(here: Seat, room: Room) -> Seat:
    """Remember how far a student has gone along, or was told to."""
    here = replace(here, step=room.step)
    take(here)
    return here


def follow(follows: bool) -> None:
    if (here := mine()) is not None:
        take(replace(here, follows=follows))


def _remembered() -> Seat | None:
    """The seat of before a reload, if its class is still under way."""
    kept = dict(st.context.cookies)
    code, _, key = kept.get(LEAD_COOKIE, "").partition(".")
    if key and register().leads(Lead(code, key)):
        return Seat(code, key=key)
    code, student, step, follows, *_ = (kept.get(SEAT_COOKIE, "") + "....").split(".")
    if student and register().is_in(code, student):
        known = step.isascii() and step.isdigit() and len(step) < 9
        return Seat(tidy(code), student, "", int(step) if known else -1, follows != "0")
    return None


def _forgotten() -> str:
    """The class of before a reload that has ended meanwhile."""
    kept = st.context.cookies
    code = (kept.get(LEAD_COOKIE) or kept.get(SEAT_COOKIE) or "").partition(".")[0]
    return code if is_code(code) and register().find(code) is None else ""
