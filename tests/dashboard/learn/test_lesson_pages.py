"""Every page of the Learn section, run without a browser."""

import json
from xml.etree.ElementTree import fromstring

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.learn import cases
from dashboard.learn.glossary import TERMS
from dashboard.learn.lesson import LESSONS
from dashboard.learn.texts import FOLDER
from dashboard.learn.tour import stops_of
from dashboard.pages import PAGES
from dashboard.session import run_link

OTHERS = ("learn", "learn-tour", "learn-glossary", "learn-lecturers")
ANSWERS = {  # a page's questions and a word of their answers
    "confident": {"expect_hidden_6": "none of these"},
    "message": {"expect_width": "As long as all curves"},
    "travel": {"expect_variance": "cancels", "expect_hub": "goes up, from 0.750 to 0.796"},
    "loss": {"expect_doubt": "be sure where"},
    "calibration": {"expect_confidence": "under"},
    "unseen": {"expect_auroc": "nothing in it asks"},
    "truth": {"expect_links": "from the same labels"},
    "follow": {"expect_factor": "nothing in it reads"},
    "kinds": {"expect_kinds": "agreement is not knowledge"},
    "sees": {"expect_share": "pulls it towards itself"},
    "coverage": {"expect_coverage": "about the average"},
    "people": {"expect_people": "not whether people would agree"},
}
WITHOUT_CHARTS = {"sees"}  # at first
SLIDERS = {  # a page's slider, and a value that changes a number
    "confident": ("believe", 0.9),
    "message": ("std_0", 2.5),
    "travel": ("node_variance", 3.0),
    "loss": ("margin", -1.0),
    "calibration": ("sweep", 1.0),
    "unseen": ("flag_confidence", 0.3),
    "coverage": ("set_level", 0.75),
}


def texts(app: AppTest) -> str:
    return "\n".join(str(element.value) for element in [*app.markdown, *app.info])


def numbers(app: AppTest) -> list[str]:
    return [metric.value for metric in app.metric]


@pytest.mark.parametrize("page", OTHERS)
def test_the_other_pages_open(visit, page):
    app = visit(page)
    assert app.title[0].value.endswith("?")
    assert not app.sidebar.selectbox, "no run is chosen here"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_prediction_reveals_the_answer_and_the_summary(visit, lesson):
    app = visit(lesson.name)
    assert app.title[0].value == lesson.question
    assert bool(app.get("plotly_chart")) != (lesson.name in WITHOUT_CHARTS) and not app.error
    assert lesson.takeaway not in texts(app)
    for key, words in ANSWERS[lesson.name].items():
        assert words not in texts(app)
        app.radio(key).set_value(0).run()
        assert not app.exception, app.exception
        assert words in texts(app)
    assert lesson.takeaway in texts(app)


def test_our_rule_is_shown_with_how_many_strangers_it_takes(visit):
    app = visit("unseen")
    app.radio("expect_auroc").set_value(0).run()
    charts = len(app.get("plotly_chart"))
    app.pills(key="doubt").set_value("doubt").run()
    assert not app.exception and len(app.get("plotly_chart")) == charts + 1
    assert any("mistaken for the edge" in caption.value for caption in app.caption)


@pytest.mark.parametrize("page", SLIDERS)
def test_a_slider_changes_a_number(visit, page):
    app = visit(page)
    key, value = SLIDERS[page]
    before = numbers(app)
    app.slider(key).set_value(value).run()
    assert not app.exception, app.exception
    assert numbers(app) != before


def test_the_sketch_is_edited_by_its_controls(visit):
    app = visit("travel")
    assert numbers(app) == ["0.750", "0.667", "1.000"]
    app.multiselect("node_links").set_value(["B", "C"]).run()
    assert numbers(app)[:2] == ["0.796", "0.500"]
    assert app.metric[0].delta == "+0.046"
    app.selectbox("node_looked").set_value("B").run()
    app.slider("node_variance").set_value(5.0).run()
    app.selectbox("node_looked").set_value("A").run()
    assert numbers(app)[0] == "0.796", "the neighbour's variance cancels"
    next(b for b in app.button if b.label == "Add a neighbour").click().run()
    assert app.multiselect("node_links").value == ["B", "C", "K"]
    next(b for b in app.button if b.label == "Remove A").click().run()
    assert app.selectbox("node_looked").value == "B" and not app.exception


def test_the_sketch_starts_over(visit):
    app = visit("travel")
    before = numbers(app)
    app.multiselect("node_links").set_value(["B", "C"]).run()
    assert numbers(app) != before
    next(b for b in app.button if b.label == "Start over").click().run()
    assert numbers(app) == before and app.multiselect("node_links").value == ["B"]


def test_a_guess_stays_marked_where_a_wait_had_taken_the_question_away(visit):
    """The browser has forgotten it then, and is told again."""
    app = visit("follow")
    app.radio("expect_factor").set_value(0).run()
    app.selectbox("follow_layers").set_value("paper").run()
    radio = app.radio("expect_factor")
    assert radio.value == 0 and radio.proto.set_value


def test_the_perceptron_learns_from_the_labels_of_the_network_beside_it(visit):
    app = visit("truth")
    few = numbers(app)
    app.segmented_control("truth_labels").set_value(60)
    app.button[0].click().run()
    assert not app.exception and not app.error
    _, perceptron, words, _ = (
        [int(number.removesuffix("%")) for number in pair]
        for pair in zip(few, numbers(app), strict=True)
    )
    assert perceptron[1] > perceptron[0] + 3, "more labels"
    assert abs(words[1] - words[0]) < 5 and perceptron[0] < words[0] - 15


def test_a_temperature_moves_the_errors_but_no_answer(visit):
    app = visit("calibration")
    app.slider("sweep").set_value(1.0).run()
    right, _, *errors = numbers(app)
    app.slider("temperature").set_value(0.5).run()
    assert numbers(app)[0] == right and numbers(app)[2:] != errors
    app.slider("learn_bins").set_value(4).run()
    assert not app.exception and "?" not in numbers(app)[2:]


def test_training_on_a_button_changes_the_truth(visit):
    app = visit("truth")
    before = numbers(app)
    app.slider("homophily").set_value(0.5)
    app.button[0].click().run()
    assert not app.exception and not app.error
    assert numbers(app) != before
    assert numbers(app)[1:3] == before[1:3], "words alone know nothing of links"


@pytest.mark.parametrize(
    "page, question, knob",
    [("kinds", "expect_kinds", "kind_labels"), ("sees", "expect_share", "strangers")],
)
def test_a_guess_brings_what_would_give_the_answer_away(visit, page, question, knob):
    app = visit(page)
    assert not app.select_slider
    app.radio(question).set_value(0).run()
    before = texts(app), numbers(app), app.get("plotly_chart")
    app.select_slider(knob).set_value(20).run()
    assert not app.exception
    assert (texts(app), numbers(app), app.get("plotly_chart")) != before


def test_the_way_of_any_node_is_shown_and_leads_further(visit):
    app = visit("follow")
    data = json.loads(app.get("bidi_component")[0].proto.json)
    assert [side["title"] for side in data["sides"]] == ["Published rule", "Doubt"]
    side = data["sides"][0]
    ends = side["outcomes"][side["chosen"]["column"]]["probability"]
    assert side["operations"][-1]["result"] == pytest.approx(ends, abs=1e-6)
    app.selectbox("follow_node").select_index(1).run()
    assert not app.exception and not app.error
    other = json.loads(app.get("bidi_component")[0].proto.json)["sides"][0]
    assert other["chosen"]["node"] != side["chosen"]["node"]


def test_without_data_the_app_opens_on_the_almanac(monkeypatch, tmp_path):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    assert run_link.graph_names()[0] == cases.graph_name() == "almanac"
    assert stops_of("")[0].text.startswith("Every point is a thing.")


@pytest.mark.parametrize("page", [*(lesson.name for lesson in LESSONS), "learn-tour"])
def test_without_cora_the_almanac_steps_in(visit, page, monkeypatch):
    monkeypatch.setattr(cases, "graph_name", lambda: "almanac")
    app = visit(page)
    assert not app.error and app.title


def test_every_word_of_a_lesson_has_a_meaning():
    for term in TERMS.values():
        assert term.meaning.endswith(".")
        assert term.lesson is None or 1 <= term.lesson <= len(LESSONS)


def test_every_word_has_a_picture_and_a_place_where_it_is_seen():
    pictures = {path.stem: path.read_text() for path in (FOLDER / "svg").iterdir()}
    assert set(pictures) == {word.replace(" ", "-") for word in TERMS}
    assert len(set(pictures.values())) == len(pictures), "no two words share a picture"
    addresses = {page.address for page in PAGES}
    for term in TERMS.values():
        assert term.page in addresses
    for svg in pictures.values():
        fromstring(svg)


@pytest.mark.parametrize(
    ("page", "question"), [("confident", "expect_hidden_7"), ("unseen", "expect_auroc")]
)
def test_a_lesson_about_cora_can_be_read_on_the_almanac_and_back(visit, page, question):
    app = visit(page)
    said = texts(app)
    assert "papers" in said and "things" not in said
    app.segmented_control(f"{page}_graph").set_value("almanac").run()
    assert not app.exception and not app.error
    app.radio(question).set_value(0).run()
    assert not app.exception and "papers" not in texts(app)
    app.segmented_control(f"{page}_graph").set_value("cora").run()
    assert not app.exception and not app.error and "papers" in texts(app)


def test_the_way_ends_in_who_contributed_what(visit):
    app = visit("follow")
    answer, rival, gap = (float(metric.value) for metric in app.metric[:3])
    assert app.metric[2].label == "Gap" and answer - rival == pytest.approx(gap, abs=0.011)
    (figure,) = (json.loads(chart.proto.spec) for chart in app.get("plotly_chart"))
    bars = [x for trace in figure["data"] if trace["type"] == "bar" for x in trace["text"]]
    total = sum(float(text.replace("−", "-")) for text in bars)
    assert total == pytest.approx(gap, abs=0.006 * len(bars))


def test_the_first_mistake_of_the_hidden_class_has_its_reason(visit):
    app = visit("confident")
    assert "What led the first one there?" not in texts(app)  # it would give the answer away
    app.radio("expect_hidden_6").set_value(0).run()
    assert "**What led the first one there?** It says **" in texts(app)
    (told,) = (m.value for m in app.metric if m.label == "Support from told papers")
    assert told == "none"  # 1102794, the decisive one, is a stranger itself
    assert len(app.get("plotly_chart")) == 2
