"""The classes under way: one small SQLite file that every server process of a machine shares.

It holds no names and no addresses: a student is a random number, what bounds a browser and its
address is a keyed hash, and what a class did is deleted with it, some hours after it began.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import bup
from bup.io import files
from dashboard.classroom.database import connected, count
from dashboard.classroom.question import Guess, LessonQuestion, Tally
from dashboard.network.clients import BROWSERS_PER_ADDRESS, Client

HOURS = 4
"""How long a class lasts if nobody ends it."""
MOST_CLASSES = 200
MOST_STUDENTS = 500
MOST_QUESTIONS = 100
CLASSES_OF_ONE = 5  # that a browser may have under way
SEATS_AT_ADDRESS = 250  # of a class
SEATS_WITHOUT_COOKIE = 40  # of these, for browsers that cannot be told apart
LONGEST_PLACE = 4000
ALPHABET = "23456789BCDFGHJKMNPQRSTVWXZ"  # nothing that reads as something else, and no words
CODE_LENGTH = 5
LECTURER = ""
"""Who arrived to start a class, among the students who arrived."""


@dataclass(frozen=True)
class LecturerKey:
    """What makes somebody the lecturer of a class; the key is kept nowhere but in her browser."""

    code: str
    key: str


@dataclass(frozen=True)
class Classroom:
    """A class as everybody in it may see it."""

    code: str
    ends: float  # seconds since 1970
    place: str  # where the lecturer wants everybody, an address with its query; "" is anywhere
    step: int  # counts what the lecturer said about the place
    holds: bool  # answers wait until the lecturer shows them
    students: int
    asked: frozenset[str]  # ids of questions
    revealed: frozenset[str]  # those whose answers the lecturer has shown
    version: int  # counts everything that happens

    @property
    def news(self) -> str:
        """Changes with what a student has to know."""
        return f"{self.step}-{len(self.revealed)}-{self.holds:d}"

    def shows(self, question: LessonQuestion) -> bool:
        """Whether whoever has guessed may see the answer."""
        return not self.holds or question.id in self.revealed


def normalize_code(code: str) -> str:
    """A code as it is kept, however it was typed; what cannot be one becomes one that is not."""
    return "".join(c for c in code.upper()[:40] if c.isascii() and c.isalnum())[: CODE_LENGTH + 1]


def is_code(code: str) -> bool:
    """Whether a class may have this code."""
    return len(code) == CODE_LENGTH and set(code) <= set(ALPHABET)


class Register:
    """Every call is one short transaction on a connection of its own."""

    def __init__(
        self, path: Path | str | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.path = Path(path) if path is not None else files.cache_folder() / "classes.sqlite"
        self.clock = clock

    def start(self, client: Client | None = None) -> LecturerKey:
        """Open a class; where there are too many, one that nobody joined makes room.

        So it is among those of one ``client`` too.
        """
        key, now = secrets.token_urlsafe(24), self.clock()
        with self._writing() as db:
            if client is not None:
                _check_classes(db, client)
            if count(db, "SELECT count(*) FROM class") >= MOST_CLASSES:
                _make_room(db, "SELECT code FROM class")
            if count(db, "SELECT count(*) FROM class") >= MOST_CLASSES:
                raise bup.BupError(
                    f"{MOST_CLASSES} classes are under way here, which is as many as there may be: "
                    "wait until one of them ends"
                )
            code = ""
            while not code or count(db, "SELECT count(*) FROM class WHERE code = ?", code):
                code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
            db.execute(
                "INSERT INTO class (code, lock, started, ends) VALUES (?, ?, ?, ?)",
                (code, _lock(key), now, now + 3600 * HOURS),
            )
            if client is not None:
                _arrived(db, code, client, LECTURER)
        return LecturerKey(code, key)

    def find(self, code: str) -> Classroom | None:
        """The class of this code, unless there is none or it has ended."""
        with self._reading() as db:
            return self._find(db, code)

    def leads(self, lead: LecturerKey) -> bool:
        with self._reading() as db:
            return self._leads(db, lead)

    def join(self, code: str, student: str = "", client: Client | None = None) -> str:
        """Take a seat; a student who comes back has the same, and so has a ``client``, in however
        many tabs and however often it leaves. Returns who that is.
        """
        with self._writing() as db:
            room = self._room(db, code)
            if student and _is_in(db, room.code, student):
                return student
            if room.students >= MOST_STUDENTS:
                raise bup.BupError(
                    f"class {room.code} is full: it has {MOST_STUDENTS} students already"
                )
            student = _seat_of(db, room.code, client) if client is not None else ""
            if student and _is_in(db, room.code, student):
                return student
            student = student or secrets.token_urlsafe(12)
            db.execute("INSERT INTO student VALUES (?, ?)", (room.code, student))
            if client is not None:
                _arrived(db, room.code, client, student)
            _happened(db, room.code)
        return student

    def is_in(self, code: str, student: str) -> bool:
        with self._reading() as db:
            room = self._find(db, code)
            return room is not None and _is_in(db, room.code, student)

    def leave(self, code: str, student: str) -> None:
        """Her guesses stay: they are nobody's."""
        with self._writing() as db:
            db.execute(
                "DELETE FROM student WHERE code = ? AND student = ?",
                (normalize_code(code), _plain(student)),
            )

    def guess(self, code: str, student: str, question: LessonQuestion, choice: int) -> None:
        """Count a guess. It may change until its answer can be seen."""
        if not 0 <= choice < len(question.options):
            raise bup.BupError(
                f"a guess is one of {len(question.options)} options, got number {choice}"
            )
        with self._writing() as db:
            room = self._room(db, code)
            if not _is_in(db, room.code, student):
                raise bup.BupError(f"join class {room.code} before you guess")
            if question.id in room.revealed:
                return
            _note(db, room.code, question)
            again = "UPDATE SET choice = excluded.choice" if room.holds else "NOTHING"
            db.execute(
                f"INSERT INTO guess VALUES (?, ?, ?, ?) ON CONFLICT DO {again}",
                (room.code, question.id, student, choice),
            )
            _happened(db, room.code)

    def choice(self, code: str, student: str, question: LessonQuestion) -> int | None:
        """What a student guessed before."""
        with self._reading() as db:
            found = db.execute(
                "SELECT choice FROM guess WHERE code = ? AND question = ? AND student = ?",
                (normalize_code(code), question.id, _plain(student)),
            ).fetchone()
        return found[0] if found else None

    def tallies(self, lead: LecturerKey) -> list[Tally]:
        """What was guessed so far, the question that came last first."""
        with self._reading() as db:
            self._steer(db, lead)
            counts: dict[str, dict[int, int]] = {}
            for asked, choice, count in db.execute(
                "SELECT question, choice, count(*) FROM guess WHERE code = ? "
                "GROUP BY question, choice",
                (lead.code,),
            ):
                counts.setdefault(asked, {})[choice] = count
            return [
                Tally(
                    question,
                    tuple(
                        counts.get(question.id, {}).get(i, 0) for i in range(len(question.options))
                    ),
                    revealed,
                )
                for question, revealed in _questions(db, lead.code)
            ]

    def guesses(self, lead: LecturerKey) -> list[Guess]:
        """Every guess; students are numbered in the order of their random numbers."""
        with self._reading() as db:
            self._steer(db, lead)
            questions = {question.id: question for question, _ in _questions(db, lead.code)}
            rows = db.execute(
                "SELECT student, question, choice FROM guess WHERE code = ? ORDER BY student",
                (lead.code,),
            ).fetchall()
        numbers = {student: i for i, student in enumerate(dict.fromkeys(r[0] for r in rows), 1)}
        return [
            Guess(numbers[student], questions[asked], choice) for student, asked, choice in rows
        ]

    def ask(self, lead: LecturerKey, question: LessonQuestion) -> None:
        """Put a question to the class before anybody has guessed."""
        with self._steering(lead) as db:
            _note(db, lead.code, question)

    def reveal(self, lead: LecturerKey, question: LessonQuestion) -> None:
        """Show the answer to everybody who has guessed; from now on nothing is counted."""
        with self._steering(lead) as db:
            _note(db, lead.code, question)
            db.execute(
                "UPDATE question SET revealed = 1 WHERE code = ? AND id = ?",
                (lead.code, question.id),
            )

    def hold(self, lead: LecturerKey, holds: bool) -> None:
        """Whether answers wait until they are revealed, or come with the guess."""
        with self._steering(lead) as db:
            db.execute("UPDATE class SET holds = ? WHERE code = ?", (int(holds), lead.code))

    def send(self, lead: LecturerKey, place: str) -> None:
        """Bring everybody who follows to a place; "" lets go."""
        if len(place) > LONGEST_PLACE:
            raise bup.BupError(
                f"a link for a class has at most {LONGEST_PLACE:,} letters, got {len(place):,}"
            )
        if not place.isascii():
            raise bup.BupError("a link for a class is plain ASCII, as in the address bar")
        with self._steering(lead) as db:
            db.execute(
                "UPDATE class SET place = ?, step = step + 1 WHERE code = ?", (place, lead.code)
            )

    def end(self, lead: LecturerKey) -> None:
        """End the class and forget what it did."""
        with self._steering(lead) as db:
            db.execute("DELETE FROM class WHERE code = ?", (lead.code,))

    @contextlib.contextmanager
    def _steering(self, lead: LecturerKey) -> Iterator[sqlite3.Connection]:
        with self._writing() as db:
            self._steer(db, lead)
            yield db
            _happened(db, lead.code)

    def _steer(self, db: sqlite3.Connection, lead: LecturerKey) -> None:
        self._room(db, lead.code)
        if not self._leads(db, lead):
            raise bup.BupError(f"only its lecturer can steer class {normalize_code(lead.code)}")

    def _leads(self, db: sqlite3.Connection, lead: LecturerKey) -> bool:
        found = db.execute(
            "SELECT lock FROM class WHERE code = ? AND ends > ?", (_plain(lead.code), self.clock())
        ).fetchone()
        return found is not None and hmac.compare_digest(found[0], _lock(lead.key))

    def _room(self, db: sqlite3.Connection, code: str) -> Classroom:
        if not normalize_code(code):
            raise bup.BupError("type the code of the class: your lecturer's screen shows it")
        room = self._find(db, code)
        if room is None:
            raise bup.BupError(
                f"there is no class {normalize_code(code)} now: check the code, or ask for a new "
                "one (a class ends by itself)"
            )
        return room

    def _find(self, db: sqlite3.Connection, code: str) -> Classroom | None:
        row = db.execute(
            "SELECT code, ends, place, step, holds, version, "
            "(SELECT count(*) FROM student WHERE student.code = class.code), "
            "(SELECT group_concat(id) FROM question WHERE question.code = class.code), "
            "(SELECT group_concat(id) FROM question WHERE question.code = class.code AND revealed) "
            "FROM class WHERE code = ? AND ends > ?",
            (normalize_code(code), self.clock()),
        ).fetchone()
        if row is None:
            return None
        code, ends, place, step, holds, version, students, *questions = row
        asked, revealed = (frozenset((ids or "").split(",")) - {""} for ids in questions)
        return Classroom(code, ends, place, step, bool(holds), students, asked, revealed, version)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that sees no half of another; what has ended is forgotten on the way."""
        with connected(self.path) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                db.execute("DELETE FROM class WHERE ends <= ?", (self.clock(),))
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with connected(self.path) as db:
            db.execute("BEGIN")
            yield db


def _check_classes(db: sqlite3.Connection, client: Client) -> None:
    """Refuse a browser or an address that has enough classes under way."""
    own = "SELECT count(*) FROM arrival WHERE student = ? AND client = ?"
    if count(db, own, LECTURER, client.browser_id) >= CLASSES_OF_ONE:
        of = "SELECT code FROM arrival WHERE student = ? AND client = ?"
        _make_room(db, of, LECTURER, client.browser_id)
    if count(db, own, LECTURER, client.browser_id) >= CLASSES_OF_ONE:
        raise bup.BupError(
            f"you have started {CLASSES_OF_ONE} classes that are under way, which is as many as "
            "one may: end one of them first"
        )
    around = "SELECT count(*) FROM arrival WHERE student = ? AND address = ?"
    if count(db, around, LECTURER, client.address_id) >= BROWSERS_PER_ADDRESS * CLASSES_OF_ONE:
        raise bup.BupError(
            f"{BROWSERS_PER_ADDRESS * CLASSES_OF_ONE} classes from your network are under way, "
            "which is as many as there may be: wait until one of them ends"
        )


def _make_room(db: sqlite3.Connection, among: str, *values: str) -> None:
    """Delete one of these classes that nobody joined, if there is one: the oldest of those from the
    address that started most, so that nobody's classes make those of others go.
    """
    near = (
        "SELECT count(*) FROM arrival AS one JOIN arrival AS other USING (address, student) "
        f"WHERE one.code = class.code AND student = '{LECTURER}'"
    )
    db.execute(
        "DELETE FROM class WHERE code = (SELECT code FROM class WHERE code NOT IN (SELECT code "
        f"FROM student) AND code IN ({among}) ORDER BY ({near}) DESC, started LIMIT 1)",
        values,
    )


def _seat_of(db: sqlite3.Connection, code: str, client: Client) -> str:
    """The student that a browser is in a class; "" for one who comes for the first time.

    Of those that keep no cookie, whoever comes takes the seat of one who has left.
    """
    rows = db.execute(
        "SELECT student FROM arrival WHERE code = ? AND client = ? AND student <> ?",
        (code, client.browser_id, LECTURER),
    )
    seats = [student for (student,) in rows]
    for student in seats:
        if client.has_cookie or not _is_in(db, code, student):
            return student
    around = "SELECT count(*) FROM arrival WHERE code = ? AND address = ? AND student <> ?"
    if len(seats) >= SEATS_WITHOUT_COOKIE:
        raise bup.BupError(
            f"class {code} has {len(seats)} students from your network whose browsers keep no "
            "cookies, which is as many as there may be: allow cookies for this page, and join again"
        )
    if count(db, around, code, client.address_id, LECTURER) >= SEATS_AT_ADDRESS:
        raise bup.BupError(
            f"class {code} has {SEATS_AT_ADDRESS} students from your network, which is as many as "
            "there may be: join from another network, such as that of your phone"
        )
    return ""


def _arrived(db: sqlite3.Connection, code: str, client: Client, student: str) -> None:
    known = (code, client.browser_id, client.address_id, student)
    db.execute("INSERT OR IGNORE INTO arrival VALUES (?, ?, ?, ?)", known)


def _lock(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()


def _plain(text: str) -> str:
    """Text as SQLite can hold it; what has been changed is nobody's."""
    return text.encode(errors="replace").decode()


def _is_in(db: sqlite3.Connection, code: str, student: str) -> bool:
    asked = "SELECT count(*) FROM student WHERE code = ? AND student = ?"
    return bool(count(db, asked, code, _plain(student)))


def _happened(db: sqlite3.Connection, code: str) -> None:
    db.execute("UPDATE class SET version = version + 1 WHERE code = ?", (code,))


def _note(db: sqlite3.Connection, code: str, question: LessonQuestion) -> None:
    """Remember the words of a question, once."""
    known = "SELECT count(*) FROM question WHERE code = ?"
    if count(db, f"{known} AND id = ?", code, question.id):
        return
    number = count(db, known, code)
    if number >= MOST_QUESTIONS:
        raise bup.BupError(
            f"class {code} was asked {number} questions, which is as many as there may be"
        )
    content = json.dumps([question.name, question.words, question.options, question.right])
    db.execute(
        "INSERT INTO question (code, id, content, number) VALUES (?, ?, ?, ?)",
        (code, question.id, content, number),
    )


def _questions(db: sqlite3.Connection, code: str) -> list[tuple[LessonQuestion, bool]]:
    """The questions of a class and whether their answers were shown, the last first."""
    rows = db.execute(
        "SELECT content, revealed FROM question WHERE code = ? ORDER BY number DESC", (code,)
    )
    found = []
    for content, revealed in rows:
        name, words, options, right = json.loads(content)
        found.append((LessonQuestion(name, words, tuple(options), right), bool(revealed)))
    return found
