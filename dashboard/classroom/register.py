"""The classes under way: one small SQLite file that every server process of a machine shares.

It holds no names and no addresses: a student is a random number, what bounds a browser and its
address is a keyed hash, and what a class did is deleted with it, some hours after it began.
"""

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
from dashboard.classroom.database import connect, query_number
from dashboard.classroom.question import Guess, LessonQuestion, Tally
from dashboard.network.clients import BROWSERS_PER_ADDRESS, Client

HOURS = 4
"""How long a class lasts unless its lecturer ends it."""
MOST_CLASSES = 200
MOST_STUDENTS = 500
MOST_QUESTIONS = 100
CLASSES_PER_BROWSER = 5  # that a browser may have under way
STUDENTS_PER_ADDRESS = 250  # of a class
STUDENTS_WITHOUT_COOKIE = 40  # of these, for browsers that cannot be told apart
LONGEST_DESTINATION = 4000
ALPHABET = "23456789BCDFGHJKMNPQRSTVWXZ"  # nothing that reads as something else, and no words
CODE_LENGTH = 5
LECTURER = ""
"""The ``student`` of an arrival that started a class."""


@dataclass(frozen=True)
class LecturerKey:
    """The right to lead a class; only the lecturer's browser stores the key."""

    code: str
    key: str


@dataclass(frozen=True)
class Classroom:
    """A class, as its students and its lecturer may see it."""

    code: str
    ends: float  # seconds since 1970
    place: str  # where the lecturer sends everybody, an address with its query; "" is anywhere
    step: int  # number of times that the lecturer sent or released the class
    holds_answers: bool  # until the lecturer shows them
    students: int
    question_ids: frozenset[str]
    revealed_ids: frozenset[str]  # of questions whose answers the lecturer has shown
    second_vote_ids: frozenset[str]  # of questions on which the class votes again
    version: int  # number of changes of the class

    @property
    def news(self) -> str:
        """A text that changes whenever something changes for a student."""
        votes = len(self.revealed_ids) + len(self.second_vote_ids)
        return f"{self.step}-{votes}-{self.holds_answers:d}"

    def shows_answer(self, question: LessonQuestion) -> bool:
        """Whether a student who has guessed may see the answer."""
        return not self.holds_answers or question.id in self.revealed_ids


def normalize_code(code: str) -> str:
    """A typed code as the database stores it; other text becomes a code that no class has."""
    return "".join(c for c in code.upper()[:40] if c.isascii() and c.isalnum())[: CODE_LENGTH + 1]


def is_code(code: str) -> bool:
    """Whether this is the form of a code."""
    return len(code) == CODE_LENGTH and set(code) <= set(ALPHABET)


class Register:
    """Every call is one short transaction on a connection of its own."""

    def __init__(
        self, path: Path | str | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.path = Path(path) if path is not None else files.cache_folder() / "classes.sqlite"
        self.clock = clock

    def start(self, client: Client | None = None) -> LecturerKey:
        """Start a class.

        Where there are too many, in all or of one ``client``, a class without students is deleted.
        """
        key, now = secrets.token_urlsafe(24), self.clock()
        with self._writing() as db:
            if client is not None:
                _check_classes(db, client)
            if not _make_room(db, MOST_CLASSES, "SELECT code FROM class"):
                raise bup.BupError(
                    f"{MOST_CLASSES} classes are under way here, which is as many as there may be: "
                    "wait until one of them ends"
                )
            code = ""
            while not code or query_number(db, "SELECT count(*) FROM class WHERE code = ?", code):
                code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
            db.execute(
                "INSERT INTO class (code, lock, started, ends) VALUES (?, ?, ?, ?)",
                (code, _hash_key(key), now, now + 3600 * HOURS),
            )
            if client is not None:
                _record_arrival(db, code, client, LECTURER)
        return LecturerKey(code, key)

    def find(self, code: str) -> Classroom | None:
        """The class of this code, unless there is none or it has ended."""
        with self._reading() as db:
            return self._find(db, code)

    def leads(self, lead: LecturerKey) -> bool:
        with self._reading() as db:
            return self._leads(db, lead)

    def join(self, code: str, student: str = "", client: Client | None = None) -> str:
        """Add a student to the class and return its random number.

        A student who comes back has the same number, and so has a ``client`` in several tabs.
        """
        with self._writing() as db:
            room = self._get(db, code)
            if student and _is_in(db, room.code, student):
                return student
            if room.students >= MOST_STUDENTS:
                raise bup.BupError(
                    f"class {room.code} is full: it has {MOST_STUDENTS} students already"
                )
            student = _student_of_client(db, room.code, client) if client is not None else ""
            if student and _is_in(db, room.code, student):
                return student
            student = student or secrets.token_urlsafe(12)
            db.execute("INSERT INTO student VALUES (?, ?)", (room.code, student))
            if client is not None:
                _record_arrival(db, room.code, client, student)
            _count_change(db, room.code)
        return student

    def is_in(self, code: str, student: str) -> bool:
        with self._reading() as db:
            room = self._find(db, code)
            return room is not None and _is_in(db, room.code, student)

    def leave(self, code: str, student: str) -> None:
        """Remove a student; the guesses stay, because they hold no name."""
        with self._writing() as db:
            db.execute(
                "DELETE FROM student WHERE code = ? AND student = ?",
                (normalize_code(code), _replace_surrogates(student)),
            )

    def guess(self, code: str, student: str, question: LessonQuestion, choice: int) -> None:
        """Count a guess. The student may change it until the answer is shown."""
        if not 0 <= choice < len(question.options):
            raise bup.BupError(
                f"a guess is one of {len(question.options)} options, got number {choice}"
            )
        with self._writing() as db:
            room = self._get(db, code)
            if not _is_in(db, room.code, student):
                raise bup.BupError(f"join class {room.code} before you guess")
            if question.id in room.revealed_ids:
                return
            _add_question(db, room.code, question)
            again = "UPDATE SET choice = excluded.choice" if room.holds_answers else "NOTHING"
            db.execute(
                f"INSERT INTO guess VALUES (?, ?, ?, ?) ON CONFLICT DO {again}",
                (room.code, question.id, student, choice),
            )
            _count_change(db, room.code)

    def choice(self, code: str, student: str, question: LessonQuestion) -> int | None:
        """The option that a student guessed before."""
        with self._reading() as db:
            found = db.execute(
                "SELECT choice FROM guess WHERE code = ? AND question = ? AND student = ?",
                (normalize_code(code), question.id, _replace_surrogates(student)),
            ).fetchone()
        return found[0] if found else None

    def tallies(self, lead: LecturerKey) -> list[Tally]:
        """The guesses so far, by question; the latest question comes first."""
        with self._reading() as db:
            self._check_lecturer(db, lead)
            rows = db.execute(
                "SELECT question, choice, count(*) FROM guess WHERE code = ? "
                "GROUP BY question, choice",
                (lead.code,),
            )
            counts = {(question_id, choice): number for question_id, choice, number in rows}
            before: dict[str, tuple[int, ...]] = {}
            for question_id, number in db.execute(
                "SELECT question, number FROM first_vote WHERE code = ? ORDER BY question, choice",
                (lead.code,),
            ):
                before[question_id] = (*before.get(question_id, ()), number)
            return [
                Tally(
                    q,
                    tuple(counts.get((q.id, i), 0) for i in range(len(q.options))),
                    revealed,
                    before.get(q.id, ()),
                )
                for q, revealed in _questions(db, lead.code)
            ]

    def guesses(self, lead: LecturerKey) -> list[Guess]:
        """Every guess; students are numbered in the order of their random numbers."""
        with self._reading() as db:
            self._check_lecturer(db, lead)
            questions = {question.id: question for question, _ in _questions(db, lead.code)}
            rows = db.execute(
                "SELECT student, question, choice FROM guess WHERE code = ? ORDER BY student",
                (lead.code,),
            ).fetchall()
        numbers = {student: i for i, student in enumerate(dict.fromkeys(r[0] for r in rows), 1)}
        return [
            Guess(numbers[student], questions[question_id], choice)
            for student, question_id, choice in rows
        ]

    def ask(self, lead: LecturerKey, question: LessonQuestion) -> None:
        """Put a question to the class before the first guess."""
        with self._changing(lead) as db:
            _add_question(db, lead.code, question)

    def vote_again(self, lead: LecturerKey, question: LessonQuestion) -> None:
        """Count the guesses so far as a first vote; each student may keep or change the guess."""
        with self._changing(lead) as db:
            for choice in range(len(question.options)):
                where = lead.code, question.id, choice
                db.execute(
                    "INSERT OR IGNORE INTO first_vote SELECT ?, ?, ?, count(*) FROM guess "
                    "WHERE code = ? AND question = ? AND choice = ?",
                    where * 2,
                )

    def reveal(self, lead: LecturerKey, question: LessonQuestion) -> None:
        """Show the answer to all students who have guessed; from now on no guess is counted."""
        with self._changing(lead) as db:
            _add_question(db, lead.code, question)
            db.execute(
                "UPDATE question SET revealed = 1 WHERE code = ? AND id = ?",
                (lead.code, question.id),
            )

    def hold_answers(self, lead: LecturerKey, holds: bool) -> None:
        """Let answers wait until the lecturer shows them, or come with the guess."""
        with self._changing(lead) as db:
            db.execute("UPDATE class SET holds = ? WHERE code = ?", (int(holds), lead.code))

    def send(self, lead: LecturerKey, place: str) -> None:
        """Send all students who follow to a place; "" releases them."""
        if len(place) > LONGEST_DESTINATION:
            raise bup.BupError(
                f"a link for a class has at most {LONGEST_DESTINATION:,} letters, "
                f"got {len(place):,}"
            )
        if not place.isascii():
            raise bup.BupError("a link for a class is plain ASCII, as in the address bar")
        with self._changing(lead) as db:
            db.execute(
                "UPDATE class SET place = ?, step = step + 1 WHERE code = ?", (place, lead.code)
            )

    def end(self, lead: LecturerKey) -> None:
        """End the class and delete everything about it."""
        with self._changing(lead) as db:
            db.execute("DELETE FROM class WHERE code = ?", (lead.code,))

    @contextlib.contextmanager
    def _changing(self, lead: LecturerKey) -> Iterator[sqlite3.Connection]:
        with self._writing() as db:
            self._check_lecturer(db, lead)
            yield db
            _count_change(db, lead.code)

    def _check_lecturer(self, db: sqlite3.Connection, lead: LecturerKey) -> None:
        self._get(db, lead.code)
        if not self._leads(db, lead):
            raise bup.BupError(f"only its lecturer can steer class {normalize_code(lead.code)}")

    def _leads(self, db: sqlite3.Connection, lead: LecturerKey) -> bool:
        found = db.execute(
            "SELECT lock FROM class WHERE code = ? AND ends > ?",
            (_replace_surrogates(lead.code), self.clock()),
        ).fetchone()
        return found is not None and hmac.compare_digest(found[0], _hash_key(lead.key))

    def _get(self, db: sqlite3.Connection, code: str) -> Classroom:
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
            "(SELECT group_concat(id) FROM question WHERE question.code = class.code AND revealed),"
            "(SELECT group_concat(DISTINCT question) FROM first_vote WHERE code = class.code) "
            "FROM class WHERE code = ? AND ends > ?",
            (normalize_code(code), self.clock()),
        ).fetchone()
        if row is None:
            return None
        code, ends, place, step, holds, version, students, *questions = row
        asked, revealed, again = (frozenset((ids or "").split(",")) - {""} for ids in questions)
        return Classroom(
            code, ends, place, step, bool(holds), students, asked, revealed, again, version
        )

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction for changes; it also deletes the classes that have ended."""
        with connect(self.path) as db:
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
        with connect(self.path) as db:
            db.execute("BEGIN")
            yield db


def _check_classes(db: sqlite3.Connection, client: Client) -> None:
    """Refuse a browser or an address that has enough classes under way."""
    own = "SELECT code FROM arrival WHERE student = ? AND client = ?"
    if not _make_room(db, CLASSES_PER_BROWSER, own, LECTURER, client.browser_id):
        raise bup.BupError(
            f"you have started {CLASSES_PER_BROWSER} classes that are under way, which is the most "
            "for one browser: end one of them first"
        )
    around = "SELECT count(*) FROM arrival WHERE student = ? AND address = ?"
    most = BROWSERS_PER_ADDRESS * CLASSES_PER_BROWSER
    if query_number(db, around, LECTURER, client.address_id) >= most:
        raise bup.BupError(
            f"{most} classes from your network are under way, which is as many as there may be: "
            "wait until one of them ends"
        )


def _make_room(db: sqlite3.Connection, most: int, among: str, *values: str) -> bool:
    """Whether these classes are fewer than ``most``.

    If they are not, one without students is deleted first: the oldest of those from the address
    that started most, so that one visitor cannot push out the classes of others.
    """
    count = f"SELECT count(*) FROM ({among})"
    if query_number(db, count, *values) < most:
        return True
    near = (
        "SELECT count(*) FROM arrival AS one JOIN arrival AS other USING (address, student) "
        f"WHERE one.code = class.code AND student = '{LECTURER}'"
    )
    db.execute(
        "DELETE FROM class WHERE code = (SELECT code FROM class WHERE code NOT IN (SELECT code "
        f"FROM student) AND code IN ({among}) ORDER BY ({near}) DESC, started LIMIT 1)",
        values,
    )
    return query_number(db, count, *values) < most


def _student_of_client(db: sqlite3.Connection, code: str, client: Client) -> str:
    """The student that a browser is in a class; "" if it comes for the first time.

    A browser that keeps no cookie takes the number of a student who has left.
    """
    rows = db.execute(
        "SELECT student FROM arrival WHERE code = ? AND client = ? AND student <> ?",
        (code, client.browser_id, LECTURER),
    )
    students = [student for (student,) in rows]
    for student in students:
        if client.has_cookie or not _is_in(db, code, student):
            return student
    around = "SELECT count(*) FROM arrival WHERE code = ? AND address = ? AND student <> ?"
    if len(students) >= STUDENTS_WITHOUT_COOKIE:
        raise bup.BupError(
            f"class {code} has {len(students)} students from your network whose browsers keep no "
            "cookies, which is as many as there may be: allow cookies for this page, and join again"
        )
    if query_number(db, around, code, client.address_id, LECTURER) >= STUDENTS_PER_ADDRESS:
        raise bup.BupError(
            f"class {code} has {STUDENTS_PER_ADDRESS} students from your network, which is as "
            "many as there may be: join from another network, such as that of your phone"
        )
    return ""


def _record_arrival(db: sqlite3.Connection, code: str, client: Client, student: str) -> None:
    arrival = (code, client.browser_id, client.address_id, student)
    db.execute("INSERT OR IGNORE INTO arrival VALUES (?, ?, ?, ?)", arrival)


def _hash_key(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()


def _replace_surrogates(text: str) -> str:
    """Text that SQLite can store; a changed text matches no row."""
    return text.encode(errors="replace").decode()


def _is_in(db: sqlite3.Connection, code: str, student: str) -> bool:
    query = "SELECT count(*) FROM student WHERE code = ? AND student = ?"
    return bool(query_number(db, query, code, _replace_surrogates(student)))


def _count_change(db: sqlite3.Connection, code: str) -> None:
    db.execute("UPDATE class SET version = version + 1 WHERE code = ?", (code,))


def _add_question(db: sqlite3.Connection, code: str, question: LessonQuestion) -> None:
    """Store the words of a question unless they are stored."""
    query = "SELECT count(*) FROM question WHERE code = ?"
    if query_number(db, f"{query} AND id = ?", code, question.id):
        return
    number = query_number(db, query, code)
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
    questions = []
    for content, revealed in rows:
        name, words, options, right = json.loads(content)
        questions.append((LessonQuestion(name, words, tuple(options), right), bool(revealed)))
    return questions
