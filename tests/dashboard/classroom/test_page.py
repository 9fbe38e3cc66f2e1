"""A class on its pages, without a browser: a lecturer and a student side by side."""

import json
from types import SimpleNamespace

import pytest
import streamlit as st
from starlette.requests import Request
from streamlit.testing.v1 import AppTest

import bup
from bup.training.fitting import run_of
from dashboard.cache.run_cache import LoadedRun
from dashboard.classroom import guessing, polling
from dashboard.classroom.qr import qr_picture
from dashboard.classroom.question import LessonQuestion, Tally
from dashboard.classroom.register import LecturerKey, Register
from dashboard.classroom.tally import tally_bars
from dashboard.learn import cases
from dashboard.network import interfaces
from tests.support import ROOT

LESSON = "learn-2-message"
KEY = "expect_width"


@pytest.fixture
def opened(stocked_cache, monkeypatch, go_to):
    """Opens a page as another visitor."""
    monkeypatch.setenv("BUP_CACHE", str(stocked_cache))
    monkeypatch.chdir(ROOT)
    polling._read.cache_clear()

    def open_page(address: str, cookies: dict[str, str] | None = None, **query: str) -> AppTest:
        kept = property(lambda _: cookies or {})
        monkeypatch.setattr(type(st.context), "cookies", kept)
        app = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=120)
        app.query_params.update(query)
        go_to(app, address)
        assert not app.exception, app.exception
        return app

    return open_page


@pytest.fixture
def lecturer(opened) -> AppTest:
    app = opened("class")
    app.button("class_start").click().run()
    assert not app.exception and not app.error
    return app


@pytest.fixture
def lead(lecturer) -> LecturerKey:
    return lecturer.session_state.class_membership.lecturer


def texts(app: AppTest) -> str:
    return "\n".join(str(e.value) for e in [*app.title, *app.markdown, *app.caption, *app.info])


def labels(app: AppTest) -> set[str]:
    return {button.label for button in app.button}


def html(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html"))


def test_a_class_is_started_and_shows_its_way_in(lecturer, lead):
    assert lead.code in lecturer.title[0].value
    assert Register().leads(lead)
    assert 'class="qr"' in html(lecturer)
    assert lecturer.code and not any(lead.key in code.value for code in lecturer.code)
    lecturer.toggle("class_lead_link").set_value(True).run()
    assert any(lead.key in code.value for code in lecturer.code)


@pytest.fixture
def at(monkeypatch, opened):
    """Opens the page of a class at an address, of a server that others reach by some."""

    def open_at(url: str, *others: str) -> AppTest:
        monkeypatch.setattr(type(st.context), "url", property(lambda _: f"{url}/class"))
        monkeypatch.setattr(interfaces, "network_addresses", lambda: list(others))
        app = opened("class")
        app.button("class_start").click().run()
        assert not app.exception
        return app

    return open_at


LAPTOP = "http://localhost:8501"


def test_a_phone_gets_an_address_that_leads_here(at):
    app = at(LAPTOP, "192.168.1.7:8501")
    assert "open **http://192.168.1.7:8501/class**" in texts(app) and 'class="qr"' in html(app)
    app = at(f"{LAPTOP}/explorer", "192.168.1.7:8501", "10.0.0.3:8501")
    app.selectbox("class_address").set_value("http://10.0.0.3:8501/explorer").run()
    assert "open **http://10.0.0.3:8501/explorer/class**" in texts(app)


@pytest.mark.parametrize("url", ["https://explorer.example.org", "http://192.168.1.7:8501"])
def test_an_address_that_others_know_stays(at, url):
    app = at(url, "172.17.0.1:8501")
    assert f"open **{url}/class**" in texts(app) and "class_address" not in app.session_state


def test_a_bare_name_is_offered_after_the_addresses(at):
    app = at("http://laptop:8501", "192.168.1.7:8501")
    assert app.selectbox("class_address").options[1] == "http://laptop:8501"
    assert "open **http://192.168.1.7:8501/class**" in texts(app)


@pytest.mark.parametrize(
    ("listens", "said"),
    [
        ("127.0.0.1 8501", "bup dashboard --shared\n"),
        ("127.0.0.1 9000", "bup dashboard --shared --port 9000\n"),
        ("0.0.0.0 8501", "in no network"),
        ("", "bup dashboard --shared\n"),
    ],
)
def test_an_app_that_no_phone_reaches_says_what_to_do(at, monkeypatch, listens, said):
    monkeypatch.setenv(interfaces.LISTENER, listens)
    app = at(LAPTOP)
    assert said in "".join(e.value for e in [*app.error, *app.code])
    assert 'class="qr"' not in html(app)


def test_a_student_guesses_and_the_lecturer_reveals(lecturer, lead, opened, go_to):
    student = opened(LESSON, code=lead.code.lower())
    assert "code" not in student.query_params
    assert f"Class {lead.code}" in texts(student)
    student.radio(KEY).set_value(2).run()
    assert "Your guess is in" in texts(student) and "As long as all curves" not in texts(student)

    go_to(lecturer, LESSON)
    assert not lecturer.radio and "1 guess so far" in texts(lecturer)
    assert 'class="tally"' not in html(lecturer), "a projector would tell the room"
    next(t for t in lecturer.toggle if t.label == "Show guesses").set_value(True).run()
    assert 'class="tally"' in html(lecturer) and 'class="right"' not in html(lecturer)
    next(b for b in lecturer.button if b.label == "Show the answer").click().run()
    assert not lecturer.exception
    assert "0 of 1 guessed right" in texts(lecturer) and 'class="right"' in html(lecturer)
    assert "As long as all curves" in texts(lecturer)

    student.run()
    assert "As long as all curves" in texts(student) and not student.exception


def test_a_class_votes_again_after_a_discussion(lecturer, lead, opened, go_to):
    students = [opened(LESSON, code=lead.code) for _ in range(3)]
    for student, choice in zip(students, (0, 0, 2), strict=True):
        student.radio(KEY).set_value(choice).run()
    go_to(lecturer, LESSON)
    before = Register().find(lead.code).news
    next(b for b in lecturer.button if b.label == "Vote again").click().run()
    assert Register().find(lead.code).news != before
    assert not lecturer.exception and "Second vote;" in texts(lecturer)
    assert "Vote again" not in labels(lecturer) and 'class="tally"' not in html(lecturer)
    changed, kept, _ = students
    room = Register().find(lead.code)
    assert room.second_vote_ids and "talk to your neighbours" in texts(changed.run())
    changed.radio(KEY).set_value(2).run()
    assert "Second vote" in texts(kept.run())
    next(b for b in lecturer.button if b.label == "Show the answer").click().run()
    (tally,) = Register().tallies(lead)
    right = tally.question.right
    assert (tally.counts, tally.before) == ((1, 0, 2), (2, 0, 1))
    said = f"{tally.counts[right]} of 3 guessed right. In the first vote (thin bars): "
    assert f"{said}{tally.before[right]} of 3." in texts(lecturer)
    assert '<u style="width:66.7%">' in html(lecturer)


def test_a_second_vote_is_news_for_those_who_have_guessed_and_only_once(monkeypatch):
    room = SimpleNamespace(holds_answers=True, revealed_ids=set(), second_vote_ids={"asked"})
    for awaited, news in (({"asked"}, [True, False]), ({"other"}, [False, False])):
        state = SimpleNamespace(session_state={"awaited_answers": awaited})
        monkeypatch.setattr(guessing, "st", state)
        assert [guessing.has_new_answer(room) for _ in range(2)] == news


def test_a_student_cannot_steer(lead, opened):
    for page in ("class", LESSON):
        student = opened(page, code=lead.code)
        assert not labels(student) & {
            "Send everybody here",
            "Let students browse",
            "Send",
            "Show the answer",
            "Vote again",
        }
        assert student.session_state.class_membership.lecturer is None


def test_follow_me_and_let_go(lecturer, lead, go_to):
    go_to(lecturer, LESSON)
    lecturer.query_params["large"] = "true"
    next(b for b in lecturer.button if b.label == "Send everybody here").click().run()
    assert Register().find(lead.code).place == LESSON
    assert "The class is at: 2. A message is a distribution" in texts(lecturer)
    next(b for b in lecturer.button if b.label == "Let students browse").click().run()
    assert Register().find(lead.code).place == ""


def test_a_page_can_be_sent(lecturer, lead):
    lecturer.selectbox("class_place").set_value("ood")
    lecturer.button("class_send").click().run()
    assert Register().find(lead.code).place == "ood"
    assert "The class is at: Unseen classes" in texts(lecturer)


def test_a_reload_keeps_the_seat_and_the_guess(lead, opened):
    student = opened(LESSON, code=lead.code)
    student.radio(KEY).set_value(1).run()
    again = opened(LESSON, cookies=student.session_state.class_membership.cookies)
    assert again.session_state.class_membership == student.session_state.class_membership
    assert again.radio(KEY).value == 1 and "Your guess is in" in texts(again)
    lecturer = opened(LESSON, cookies={"bup_lead": f"{lead.code}.{lead.key}"})
    assert lecturer.session_state.class_membership.lecturer == lead


def test_a_key_leaves_the_address_bar(lead, opened):
    app = opened("class", lead=f"{lead.code}.{lead.key}")
    assert app.session_state.class_membership.lecturer == lead and "lead" not in app.query_params


@pytest.mark.parametrize(
    "cookies",
    [{"bup_seat": value} for value in ("", ".", "x.y.z", "AAAAA.\udcff.9.1", "...." * 99)]
    + [{"bup_lead": value} for value in ("AAAAA.", "AAAAA.\udcff", "." * 99)],
)
def test_a_strange_cookie_is_no_seat(opened, cookies):
    assert opened("class", cookies=cookies).session_state.class_membership is None


def test_a_wrong_code_is_explained(opened):
    for query in ({"code": "<b>"}, {"lead": "AAAAA.key"}):
        app = opened("class", **query)
        assert app.error and app.session_state.class_membership is None


@pytest.mark.parametrize(("code", "said"), [("", "type the code"), ("QQQQQ", "no class QQQQQ")])
def test_a_code_that_was_mistyped_can_be_typed_again(opened, code, said):
    app = opened("class")
    app.text_input[0].set_value(code)
    next(b for b in app.button if b.label == "Join").click().run()
    assert said in app.error[0].value and app.session_state.class_membership is None
    assert "class_start" in {b.key for b in app.button}, "the page is all there"


def test_leaving_and_the_end(lecturer, lead, opened):
    student = opened(LESSON, code=lead.code)
    student.button("class_leave").click().run()
    assert (
        student.session_state.class_membership is None and Register().find(lead.code).students == 0
    )
    assert "Choose one to see the answer." in texts(student), "alone again"
    other = opened(LESSON, code=lead.code)
    lecturer.button("class_end").click().run()
    assert "Teach with guesses" in texts(lecturer) and Register().find(lead.code) is None
    cookies = other.session_state.class_membership.cookies
    other.run()
    assert other.session_state.class_membership is None and not other.exception
    for app in (other, opened("reliability", cookies=cookies)):
        assert f"Class {lead.code} has ended" in texts(app)
        app.button("class_close").click().run()
        assert "has ended" not in texts(app)


def test_the_bar_says_what_is_true(lecturer, lead, opened):
    student = opened(LESSON, code=lead.code)
    assert "Your lecturer will take you along" in texts(student)
    assert "The answer shows when your lecturer reveals it" in texts(student)
    lecturer.selectbox("class_place").set_value("ood")
    lecturer.button("class_send").click().run()
    next(b for b in lecturer.button if b.label == "Let students browse").click().run()
    assert "Your lecturer lets you look around" in texts(student.run())
    lecturer.toggle("class_holds").set_value(False).run()
    assert "Choose one to see the answer." in texts(student.run())


@pytest.mark.parametrize(
    ("choices", "said"),
    [((2, 2, 0), "Most of you guessed"), ((0, 2), "The answer is"), ((0, 0), "The answer is")],
)
def test_the_lecturer_is_told_what_most_of_the_room_guessed(
    lecturer, lead, opened, go_to, choices, said
):
    for choice in choices:
        opened(LESSON, code=lead.code).radio(KEY).set_value(choice).run()
    go_to(lecturer, LESSON)
    next(b for b in lecturer.button if b.label == "Show the answer").click().run()
    assert not lecturer.exception and said in texts(lecturer)
    assert "You guessed" not in texts(lecturer) and "As you expected" not in texts(lecturer)
    assert ("Most of you" in texts(lecturer)) == (choices.count(2) == 2)


def briefly_trained(spec, graph) -> LoadedRun:
    result = bup.fit(graph, "gcn", left_out=spec.left_out, epochs=3)
    return LoadedRun(run_of(spec, graph), graph, result)


def test_a_class_files_things_and_the_lecturer_sees_how(lecturer, lead, opened, go_to, monkeypatch):
    monkeypatch.setattr(cases, "load_or_wait", briefly_trained)
    for choice in (2, 2, 7):
        student = opened("learn-12-people", code=lead.code)
        student.pills("file_chess").set_value(choice).run()
        assert not student.exception and "by our own judgement" in texts(student)
        assert "your class has filed" not in texts(student), "only the lecturer sees it"
    go_to(lecturer, "learn-12-people")
    assert not lecturer.exception and "your class has filed" in texts(lecturer)
    (chart,) = lecturer.get("plotly_chart")
    (bars,) = json.loads(chart.proto.spec)["data"]
    assert bars["name"] == "your class" and "chess" in bars["hovertext"][0]
    go_to(lecturer, "class")
    assert "Where would you file chess?" in texts(lecturer)
    assert 'class="tally"' in html(lecturer) and 'class="right"' not in html(lecturer)
    assert "Show the answer" not in labels(lecturer), "there is none"


def test_the_settings_of_a_student_open_no_other_question(
    lecturer, lead, opened, go_to, monkeypatch
):
    monkeypatch.setattr(cases, "load_or_wait", briefly_trained)
    student = opened("learn-1-confident", code=lead.code)
    student.radio("expect_hidden_6").set_value(0).run()
    student.selectbox("hidden_class_cora").set_value(2).run()
    assert "yours alone" in texts(student)
    student.radio("expect_hidden_2").set_value(0).run()
    assert not student.exception and "none of these" in texts(student), "her own answer"
    (tally,) = Register().tallies(lead)
    assert tally.question.name == "expect_hidden_6" and tally.guesses == 1

    go_to(lecturer, "learn-1-confident")
    lecturer.selectbox("hidden_class_cora").set_value(2).run()
    assert "Your guess is in" in texts(student.run()), "the lecturer asks it, too"
    go_to(lecturer, "class")
    assert texts(lecturer).count("so far.") == 2


def test_answers_can_come_at_once(lecturer, lead, opened):
    lecturer.toggle("class_holds").set_value(False).run()
    student = opened(LESSON, code=lead.code)
    student.radio(KEY).set_value(2).run()
    assert "As long as all curves" in texts(student)


def test_news_are_few_bytes(lead):
    def answer(code: str):
        (route, _) = polling.routes()
        return route.endpoint(Request({"type": "http", "path_params": {"code": code}}))

    here = answer(lead.code.lower())
    assert here.status_code == 200 and len(here.body) < 60
    assert here.headers["cache-control"] == "no-store"
    room = Register().find(lead.code)
    assert json.loads(here.body) == {"student": room.news, "lead": str(room.version)}
    assert json.loads(answer("nobody").body) == {"student": "over", "lead": "over"}


def test_bars_are_as_long_as_their_shares_and_hide_the_answer():
    question = LessonQuestion("q", "<img src=x>", ("<script>", "b"), 1)
    hidden = tally_bars(Tally(question, (1, 4), revealed=False))
    assert "width:20.0%" in hidden and "width:80.0%" in hidden and "80%" in hidden
    assert "right" not in hidden and "✓" not in hidden
    assert "<script>" not in hidden and "<img" not in hidden
    shown = tally_bars(Tally(question, (1, 4), revealed=True))
    assert shown.index('class="wrong"') < shown.index('class="right"') < shown.index("✓ b")
    assert tally_bars(Tally(question, (0, 0), revealed=False)).count("width:0.0%") == 2
    asked = LessonQuestion("q", "Where?", ("a", "b"), None)
    assert "wrong" not in tally_bars(Tally(asked, (1, 4), revealed=True))


def test_a_qr_picture_stays_here():
    picture = qr_picture("http://host/class?code=ABCDE")
    assert picture.startswith('<img class="qr" src="data:image/svg+xml') and "alt=" in picture
    assert picture != qr_picture("http://host/class?code=ABCDF")


@pytest.mark.parametrize("series", ["", "lecturers-"])
def test_a_tour_walks_by_its_address_and_is_resumed(opened, go_to, series):
    app = opened("learn-glossary", tour=f"{series}3")
    assert app.session_state[f"tour_at_{series}"] == 2
    del app.query_params["tour"]
    go_to(app, "learn-tour")
    labels = [link.proto.label for link in app.get("page_link")]
    assert any(label.startswith("Go on at stop 3") for label in labels) and "Start" in labels


@pytest.mark.parametrize("mark", ["0", "8", "-1", "x", "lecturers-", "lecturers-9", "³", "1.5"])
def test_a_tour_that_is_none_is_not_walked(opened, mark):
    app = opened("learn-glossary", tour=mark)
    assert "tour_at_" not in app.session_state and "tour_at_lecturers-" not in app.session_state
