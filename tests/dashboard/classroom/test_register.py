"""Classes: who may do what, what is counted, and that two of them never mix."""

import contextlib
import csv
import io
import itertools
import multiprocessing
import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bup
from dashboard.classroom import database, register
from dashboard.classroom.destination import Destination
from dashboard.classroom.question import MOST_LETTERS, Guess, LessonQuestion, as_csv
from dashboard.classroom.register import HOURS, LecturerKey, Register, normalize_code
from dashboard.network.clients import Client

QUESTION = LessonQuestion("expect", "What will it be?", ("less", "the same", "more"), 1)
OTHER = LessonQuestion("expect", "What will it be now?", ("less", "more"), 0)


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(tmp_path, clock) -> Register:
    return Register(tmp_path / "classes.sqlite", clock)


def counts(desk: Register, lead: LecturerKey) -> dict[str, tuple[int, ...]]:
    return {tally.question.words: tally.counts for tally in desk.tallies(lead)}


def test_a_guess_is_counted_and_shown_to_the_lecturer_first(desk):
    lead = desk.start()
    students = [desk.join(lead.code) for _ in range(3)]
    for student, choice in zip(students, (0, 1, 1), strict=True):
        desk.guess(lead.code, student, QUESTION, choice)
    (tally,) = desk.tallies(lead)
    assert tally.counts == (1, 2, 0) and tally.guesses == 3 and not tally.revealed
    assert not desk.find(lead.code).shows_answer(QUESTION)
    desk.reveal(lead, QUESTION)
    assert desk.tallies(lead)[0].revealed and desk.find(lead.code).shows_answer(QUESTION)


def test_a_guess_may_change_until_its_answer_is_there(desk):
    lead = desk.start()
    student = desk.join(lead.code)
    for choice in (0, 2):
        desk.guess(lead.code, student, QUESTION, choice)
    assert counts(desk, lead) == {QUESTION.words: (0, 0, 1)}
    desk.reveal(lead, QUESTION)
    desk.guess(lead.code, student, QUESTION, 1)
    desk.guess(lead.code, desk.join(lead.code), QUESTION, 1)
    assert counts(desk, lead) == {QUESTION.words: (0, 0, 1)}
    assert desk.choice(lead.code, student, QUESTION) == 2


def test_where_answers_come_at_once_the_first_guess_counts(desk):
    lead = desk.start()
    desk.hold_answers(lead, False)
    student = desk.join(lead.code)
    assert desk.find(lead.code).shows_answer(QUESTION)
    for choice in (0, 1):
        desk.guess(lead.code, student, QUESTION, choice)
    assert counts(desk, lead) == {QUESTION.words: (1, 0, 0)}


def test_other_words_are_another_question(desk):
    lead = desk.start()
    student = desk.join(lead.code)
    desk.guess(lead.code, student, QUESTION, 0)
    desk.guess(lead.code, student, OTHER, 1)
    assert counts(desk, lead) == {OTHER.words: (0, 1), QUESTION.words: (1, 0, 0)}
    assert desk.tallies(lead)[0].question == OTHER, "the last one comes first"


def test_a_lecturer_sends_and_lets_go(desk):
    lead = desk.start()
    assert desk.find(lead.code).place == ""
    desk.send(lead, "learn-3-travel?graph=Cora")
    sent = desk.find(lead.code)
    assert sent.place == "learn-3-travel?graph=Cora"
    desk.send(lead, "learn-3-travel?graph=Cora")
    assert desk.find(lead.code).step > sent.step, "the same place again brings back who strayed"
    desk.send(lead, "")
    assert desk.find(lead.code).place == ""


def test_a_student_who_comes_back_has_the_same_seat(desk):
    lead = desk.start()
    student = desk.join(lead.code)
    assert desk.join(lead.code.lower(), student) == student
    assert desk.join(f" {lead.code[:2]}-{lead.code[2:]} ", "somebody") != "somebody"
    assert desk.find(lead.code).students == 2
    desk.leave(lead.code, student)
    assert not desk.is_in(lead.code, student) and desk.find(lead.code).students == 1


STEERING = {
    "ask": lambda desk, lead: desk.ask(lead, QUESTION),
    "reveal": lambda desk, lead: desk.reveal(lead, QUESTION),
    "hold": lambda desk, lead: desk.hold_answers(lead, False),
    "send": lambda desk, lead: desk.send(lead, "learn"),
    "end": lambda desk, lead: desk.end(lead),
    "tallies": lambda desk, lead: desk.tallies(lead),
    "guesses": lambda desk, lead: desk.guesses(lead),
}


@pytest.mark.parametrize("what", STEERING)
def test_only_the_lecturer_steers(desk, what):
    lead, other = desk.start(), desk.start()
    student = desk.join(lead.code)
    before = desk.find(lead.code)
    for key in ("", student, other.key, lead.key[:-1], "\udcff"):
        with pytest.raises(bup.BupError, match="only its lecturer"):
            STEERING[what](desk, LecturerKey(lead.code, key))
        assert not desk.leads(LecturerKey(lead.code, key))
    assert desk.find(lead.code) == before


def test_a_class_ends_by_itself_and_is_forgotten(desk, clock):
    lead = desk.start()
    desk.guess(lead.code, desk.join(lead.code), QUESTION, 0)
    clock.now += 3600 * HOURS - 1
    assert desk.find(lead.code) is not None
    clock.now += 1
    assert desk.find(lead.code) is None and not desk.leads(lead)
    with pytest.raises(bup.BupError, match="there is no class"):
        desk.tallies(lead)
    desk.start()
    assert rows(desk) == {"class": 1, "student": 0, "question": 0, "guess": 0}


def test_an_ended_class_leaves_nothing(desk):
    lead = desk.start()
    desk.guess(lead.code, desk.join(lead.code), QUESTION, 0)
    desk.end(lead)
    assert set(rows(desk).values()) == {0}


def rows(desk: Register) -> dict[str, int]:
    with contextlib.closing(sqlite3.connect(desk.path)) as db:
        return {
            table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("class", "student", "question", "guess")
        }


def test_the_file_does_not_hold_the_key(desk):
    lead = desk.start()
    held = b"".join(path.read_bytes() for path in desk.path.parent.iterdir())
    assert lead.code.encode() in held and lead.key.encode() not in held


def test_it_survives_a_restart(desk):
    lead = desk.start()
    student = desk.join(lead.code)
    desk.guess(lead.code, student, QUESTION, 1)
    again = Register(desk.path, desk.clock)
    assert again.leads(lead) and again.is_in(lead.code, student)
    assert again.find(lead.code) == desk.find(lead.code)
    assert again.tallies(lead) == desk.tallies(lead)


def test_everything_is_bounded(desk, monkeypatch):
    monkeypatch.setattr(register, "MOST_STUDENTS", 2)
    monkeypatch.setattr(register, "MOST_QUESTIONS", 2)
    monkeypatch.setattr(register, "MOST_CLASSES", 2)
    lead, empty = desk.start(), desk.start()
    student, _ = desk.join(lead.code), desk.join(lead.code)
    with pytest.raises(bup.BupError, match="is full"):
        desk.join(lead.code)
    for number in range(2):
        desk.guess(lead.code, student, LessonQuestion(f"{number}", "?", ("a", "b"), 0), 0)
    with pytest.raises(bup.BupError, match="asked 2 questions"):
        desk.guess(lead.code, student, QUESTION, 0)
    newest = desk.start()
    assert desk.find(empty.code) is None, "nobody was there"
    desk.join(newest.code)
    with pytest.raises(bup.BupError, match="2 classes are under way"):
        desk.start()
    with pytest.raises(bup.BupError, match="at most 4,000 letters"):
        desk.send(lead, "x" * 4001)


def test_a_full_or_broken_file_is_one_line(tmp_path, monkeypatch):
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"this is no database" * 100)
    with pytest.raises(bup.BupError, match="cannot be used") as told:
        Register(broken).start()
    assert "\n" not in str(told.value)
    monkeypatch.setattr(database, "MOST_BYTES", 16 * 4096)
    desk = Register(tmp_path / "small.sqlite")
    lead = desk.start()
    student = desk.join(lead.code)
    with pytest.raises(bup.BupError, match="full"):
        for number in range(100):
            words = f"{number}".ljust(1500, "?")
            desk.guess(lead.code, student, LessonQuestion("q", words, ("a", "b"), 0), 0)
    assert desk.find(lead.code) is not None


SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
HOSTILE = st.text(max_size=60) | st.sampled_from(
    [
        "",
        "'; DROP TABLE class; --",
        "\0",
        "\udcff",
        "K" * 10_000,
        "..",
        "%00",
        "１２３４５",
        "ſſſſſ",
    ]
)


@settings(deadline=None)
@given(HOSTILE)
def test_no_code_is_more_than_a_code(text):
    assert all(c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" for c in normalize_code(text))
    assert normalize_code(normalize_code(text)) == normalize_code(text)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
@given(HOSTILE, HOSTILE, st.integers(-3, 9))
def test_hostile_codes_and_guesses_change_nothing(desk, code, student, choice):
    lead = desk.start()
    desk.join(lead.code)
    for attempt in (
        lambda: desk.find(code),
        lambda: desk.join(code, student),
        lambda: desk.is_in(lead.code, student),
        lambda: desk.leave(lead.code, student),
        lambda: desk.guess(lead.code, student, QUESTION, choice),
        lambda: desk.choice(lead.code, student, QUESTION),
        lambda: desk.leads(LecturerKey(code, student)),
        lambda: desk.end(LecturerKey(code, student)),
        lambda: desk.end(LecturerKey(lead.code, student)),
        lambda: desk.send(lead, student),
    ):
        with contextlib.suppress(bup.BupError):
            attempt()
    assert desk.find(lead.code).students == 1
    assert counts(desk, lead) == {}
    desk.end(lead)


STEPS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 4), st.integers(0, 1), st.integers(0, 1)),
    max_size=40,
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30
)
@given(STEPS)
def test_two_classes_never_mix(desk, steps):
    """Whatever is guessed and shown in two classes, each is what it would be on its own."""
    leads = [desk.start(), desk.start()]
    students = [[desk.join(lead.code) for _ in range(4)] for lead in leads]
    expected: list[dict[tuple[int, int], int]] = [{}, {}]
    shown: list[set[int]] = [set(), set()]
    questions = (QUESTION, OTHER)
    for room, student, asked, choice in steps:
        if student == 4:
            desk.reveal(leads[room], questions[asked])
            shown[room].add(asked)
            continue
        desk.guess(leads[room].code, students[room][student], questions[asked], choice)
        if asked not in shown[room]:
            expected[room][student, asked] = choice
        with pytest.raises(bup.BupError, match="join class"):
            desk.guess(leads[1 - room].code, students[room][student], questions[asked], choice)
    for room, lead in enumerate(leads):
        wanted = {
            questions[asked].words: tuple(
                sum(1 for (_, a), c in expected[room].items() if (a, c) == (asked, option))
                for option in range(len(questions[asked].options))
            )
            for asked in {a for _, a in expected[room]} | shown[room]
        }
        assert counts(desk, lead) == wanted
        assert desk.find(lead.code).revealed_ids == {questions[a].id for a in shown[room]}
        desk.end(lead)


def _play(path: str, code: str, choices: list[int]) -> str:
    """One student in a process of her own."""
    desk = Register(path)
    student = desk.join(code)
    for choice in choices:
        desk.guess(code, student, QUESTION, choice)
    return student


def test_processes_write_at_once(tmp_path):
    """Several make the file, take seats and guess at the same moment; nothing is lost."""
    path = str(tmp_path / "classes.sqlite")
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.starmap(_look, [(path,)] * 8, chunksize=1)
        desk = Register(path)
        leads = [desk.start(), desk.start()]
        plays = [(path, leads[i % 2].code, [0, 1, i % 3]) for i in range(24)]
        students = pool.starmap(_play, plays, chunksize=1)
    assert len(set(students)) == 24
    for room, lead in enumerate(leads):
        assert desk.find(lead.code).students == 12
        ends = [i % 3 for i in range(room, 24, 2)]
        assert counts(desk, lead) == {QUESTION.words: tuple(map(ends.count, range(3)))}


def _look(path: str) -> None:
    assert Register(path).find("22222") is None


def test_guesses_as_a_sheet():
    tricky = LessonQuestion("q", '=HYPERLINK("http://x")', ("+1", "-1", "@a", "b, c"), 3)
    text = as_csv([Guess(1, tricky, choice) for choice in range(4)])
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["student", "question", "guess", "right answer", "right"]
    assert [row[2] for row in rows[1:]] == ["'+1", "'-1", "'@a", "b, c"]
    assert [row[4] for row in rows[1:]] == ["no", "no", "no", "yes"]
    assert not any(cell.startswith(tuple("=+-@\t\r")) for row in rows for cell in row)
    asked = LessonQuestion("q", "Where?", ("a", "b"), None)
    assert as_csv([Guess(1, asked, 1)]).splitlines()[1] == "1,Where?,b,,"


def test_the_sheet_has_a_number_for_a_student_and_nothing_else(desk):
    lead = desk.start()
    students = [desk.join(lead.code) for _ in range(2)]
    for student in students:
        for question in (QUESTION, OTHER):
            desk.guess(lead.code, student, question, 0)
    text = as_csv(desk.guesses(lead))
    assert not any(student in text for student in students)
    assert sorted(guess.student for guess in desk.guesses(lead)) == [1, 1, 2, 2]


def test_a_question_without_a_right_answer_is_kept_as_one(desk):
    lead, asked = desk.start(), LessonQuestion("chess", "Where?", ("a", "b"), None)
    desk.guess(lead.code, desk.join(lead.code), asked, 1)
    (tally,) = desk.tallies(lead)
    assert tally.question == asked and tally.counts == (0, 1)


@pytest.mark.parametrize(
    "parts",
    [("q", "?", ("a",), 0), ("q", "?", ("a",) * 13, 0), ("q", "?", ("a", "b"), 2),
     ("q", "?" * MOST_LETTERS, ("a", "b"), 0), ("q", "?", ("a", "b" * MOST_LETTERS), 0)],
)  # fmt: skip
def test_a_question_that_is_none_is_refused(parts):
    with pytest.raises(bup.BupError):
        LessonQuestion(*parts)


PAGES = ["explore", "ood", "learn-3-travel"]


def test_a_place_is_any_link_of_the_app():
    for link in ("ood", "/ood", "http://host:8501/ood", "https://a.b/base/path/ood/"):
        assert Destination.read(link, PAGES) == Destination("ood")
    for link in ("", "/", "http://host/", "http://host"):
        assert Destination.read(link, PAGES) == Destination("explore")
    place = Destination.read(
        "/ood?graph=Cora&left_out=a&left_out=b+c&large=true&lead=X.y&code=X", PAGES
    )
    assert place.query == (("graph", "Cora"), ("left_out", "a"), ("left_out", "b c"))
    assert str(place) == "ood?graph=Cora&left_out=a&left_out=b+c"
    assert Destination.read(str(place), PAGES) == place


@settings(deadline=None)
@given(st.text(max_size=80))
def test_no_link_leads_out_of_the_app(text):
    with contextlib.suppress(bup.BupError):
        place = Destination.read(text, PAGES)
        assert place.address in PAGES and str(place).isascii()
        assert Destination.read(str(place), PAGES) == place


@pytest.mark.parametrize("link", ["javascript:alert(1)", "//evil/x", "http://[", "ood/../x"])
def test_a_link_elsewhere_is_refused(link):
    with pytest.raises(bup.BupError):
        Destination.read(link, PAGES)


def student(number: int, address: str = "10.0.0.1") -> Client:
    return Client(f"student{number}", address)


def test_one_browser_is_one_student_however_often_it_joins_and_leaves(desk):
    lead = desk.start()
    for choice in (0, 1, 2, 1):
        seat = desk.join(lead.code, client=student(1))
        assert desk.join(lead.code, client=student(1)) == seat, "in another tab"
        desk.guess(lead.code, seat, QUESTION, choice)
        desk.leave(lead.code, seat)
    assert counts(desk, lead) == {QUESTION.words: (0, 1, 0)} and desk.find(lead.code).students == 0
    desk.join(lead.code, client=student(1))
    assert desk.find(lead.code).students == 1


def test_a_class_behind_one_address_gets_in_and_one_address_never_fills_a_class(desk):
    lead = desk.start()
    seats = {desk.join(lead.code, client=student(n)) for n in range(register.STUDENTS_PER_ADDRESS)}
    assert len(seats) == register.STUDENTS_PER_ADDRESS >= 30
    for known in ("", *seats):
        desk.leave(lead.code, known)
    with pytest.raises(bup.BupError, match="students from your network"):
        desk.join(lead.code, client=student(-1))
    assert desk.join(lead.code, client=student(0)) in seats, "who was there comes back"
    assert desk.join(lead.code, client=student(-1, "10.0.0.2"))


def test_thirty_browsers_without_cookies_get_in_and_one_votes_once(desk):
    lead = desk.start()
    tabs = (Client(f"~tab{number}", "10.0.0.1") for number in itertools.count())
    for choice in (0, 1, 2):
        seat = desk.join(lead.code, client=next(tabs))
        desk.guess(lead.code, seat, QUESTION, choice)
        desk.leave(lead.code, seat)
    assert counts(desk, lead) == {QUESTION.words: (0, 0, 1)}
    assert len({desk.join(lead.code, client=next(tabs)) for _ in range(30)}) == 30
    with pytest.raises(bup.BupError, match="allow cookies"):
        for _ in range(register.STUDENTS_WITHOUT_COOKIE):
            desk.join(lead.code, client=next(tabs))


def test_one_browser_starts_few_classes_and_an_address_not_all(desk, clock):
    def lead(number: int, address: str = "10.0.0.1") -> LecturerKey:
        clock.now += 1
        return desk.start(Client(f"lecturer{number}", address))

    first, *others = (lead(0) for _ in range(register.CLASSES_PER_BROWSER))
    another = lead(1, "10.0.0.2")
    newest = lead(0)
    assert desk.find(first.code) is None, "the oldest that nobody joined"
    for one in (*others, newest):
        assert desk.leads(one)
        desk.join(one.code)
    with pytest.raises(bup.BupError, match="end one of them first"):
        lead(0)
    desk.end(newest)
    assert desk.leads(lead(0))
    with pytest.raises(bup.BupError, match="classes from your network"):
        for number in range(2, register.MOST_CLASSES):
            desk.join(lead(number).code)
    assert desk.leads(another) and desk.leads(lead(3, "10.0.0.2"))


def test_what_bounds_a_browser_is_no_name_and_goes_with_the_class(desk, clock):
    lead = desk.start(Client("ann", "10.0.0.1"))
    desk.join(lead.code, client=Client("bob", "10.0.0.1"))
    content = b"".join(path.read_bytes() for path in desk.path.parent.glob(f"{desk.path.name}*"))
    assert not any(word in content for word in (b"10.0.0.1", b"ann", b"bob"))
    clock.now += 3600 * HOURS + 1
    desk.start()
    with contextlib.closing(sqlite3.connect(desk.path)) as db:
        assert db.execute("SELECT count(*) FROM arrival").fetchone() == (0,)


def test_a_file_of_before_opens_with_its_class(desk, monkeypatch):
    with monkeypatch.context() as before:
        begin, _, _ = database._SCHEMA.partition("CREATE TABLE IF NOT EXISTS arrival")
        schema = f"{begin}PRAGMA user_version = 1; COMMIT;"
        before.setattr(database, "_SCHEMA", schema)
        before.setattr(database, "VERSION", 1)
        lead = desk.start()
        seat = desk.join(lead.code)
    assert desk.leads(lead) and desk.is_in(lead.code, seat)
    assert desk.join(lead.code, client=student(1)) != seat
    assert desk.find(lead.code).students == 2


def test_classes_of_a_few_addresses_do_not_make_those_of_others_go(desk, monkeypatch):
    monkeypatch.setattr(register, "MOST_CLASSES", 10)
    ann = desk.start(Client("ann", "here"))
    for n in range(30):
        desk.start(Client(f"eve{n}", f"there{n % 3}"))
    assert desk.find(ann.code) is not None
