"""The Learn section as a student uses it, in a real browser."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Locator, Page, expect

from dashboard.learn.glossary import TERMS
from dashboard.learn.lesson import LESSONS

from .accessibility import barriers
from .test_journeys import LONG, settled, visit


@pytest.fixture(scope="module")
def app(serve, stocked_cache) -> str:
    return serve(cache=stocked_cache)


def paper_rule(page: Page):
    return page.get_by_test_id("stMetric").filter(has_text="Published rule")


def centre(page: Page, selector: str) -> tuple[float, float]:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_every_page_opens(app, page, console_errors):
    """From the start through all lessons by their own links, then the other pages."""
    visit(page, f"{app}/learn", "How sure is a network of what it says?")
    main = page.get_by_test_id("stMain")
    way = [(f"{each.number}. {each.title}", each.question) for each in LESSONS]
    way.append(("A tour of the dashboard", "What is there to see?"))
    for link, title in way:
        main.get_by_role("link", name=link).click(timeout=LONG)
        _opened(page, title)
    for path, title in (("glossary", "What do the words mean?"), ("lecturers", "How do I teach")):
        page.goto(f"{app}/learn-{path}")
        _opened(page, title)
        if path == "glossary":
            drawn = page.locator("img.word").evaluate_all("all => all.map(i => i.naturalWidth)")
            assert drawn == [72] * len(TERMS)
    assert not [error for error in console_errors if "404" not in error]


def _opened(page: Page, title: str) -> None:
    expect(page.get_by_role("heading", name=title)).to_be_visible(timeout=LONG)
    settled(page)
    assert page.get_by_test_id("stException").count() == 0, title
    assert page.get_by_test_id("stAlertContentError").count() == 0, title
    assert barriers(page) == [], title


def test_figure_and_verdict_stand_on_one_screen(app, page):
    """Every lesson, answered with its first option on a projector, then seen on a phone."""
    for lesson in LESSONS:
        page.set_viewport_size({"width": 1280, "height": 720})
        visit(page, f"{app}/{lesson.address}", lesson.question)
        page.get_by_test_id("stRadio").first.wait_for(timeout=LONG)
        settled(page)
        assert height(page) <= 720, lesson.name
        for guess in range(page.get_by_test_id("stRadio").count()):
            if guess:
                page.get_by_role("tab", name="Second guess").click()
            page.get_by_test_id("stRadio").nth(guess).locator("label").nth(1).click()
            verdict = page.locator("[class*=st-key-verdict]").nth(guess)
            expect(verdict).to_contain_text(".", timeout=LONG)
            settled(page)
            expect(verdict).to_be_in_viewport(ratio=1, timeout=LONG)
            expect(page.locator(FIGURES).first).to_be_in_viewport(ratio=0.95)
            assert height(page) <= 720, lesson.name
        page.set_viewport_size({"width": 390, "height": 844})
        settled(page)
        assert page.evaluate(WIDTH) <= 390, lesson.name
        asked, figure = (
            top(page, page.locator(kind).filter(visible=True).first)
            for kind in ("[class*=st-key-asked]", FIGURES)
        )
        assert asked < min(844, figure), lesson.name


def _stands_clear(frame, card) -> bool:
    """Whether a frame is below the head of the page, and is whole, or begins, above the card."""
    if frame is None or card is None or frame["y"] < 50:
        return False
    return frame["y"] <= 130 or frame["y"] + frame["height"] <= card["y"] + 1


def test_the_lecturers_tour_shows_what_it_speaks_of(app, page):
    """On a phone, where the card would cover it: a frame is whole, or begins, above the card."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app}/learn-lecturers?tour=lecturers-1")
    card = page.get_by_role("dialog", name="Tour")
    for stop in range(1, 8):
        expect(card).to_contain_text(f"Stop {stop} of 7", timeout=LONG)
        settled(page)
        frame = page.locator(".frame")
        expect(frame).to_be_visible(timeout=LONG)
        for _ in range(40):  # the card follows what it frames while the page still grows
            if _stands_clear(frame.bounding_box(), card.bounding_box()):
                break
            page.wait_for_timeout(250)
        assert _stands_clear(frame.bounding_box(), card.bounding_box()), stop
        if stop < 7:
            card.get_by_role("link", name="Next").click()
    card.get_by_role("button", name="Done").click()
    expect(card).to_have_count(0, timeout=LONG)


FIGURES = ", ".join(
    f"[class*=st-key-play] {figure}"
    for figure in (".stPlotlyChart", ".plane", ".sketch", ".arithmetic")
)
WIDTH = "() => document.querySelector('.stMain').scrollWidth"


def top(page: Page, part: Locator) -> float:
    """How far down the page a part begins."""
    box = part.bounding_box()
    assert box is not None
    return box["y"] + page.evaluate("() => document.querySelector('.stMain').scrollTop")


def height(page: Page) -> int:
    return page.evaluate("() => document.querySelector('.stMain').scrollHeight")


def test_the_sketch_answers_to_controls_and_to_hands(app, page):
    visit(page, f"{app}/learn-3-travel", "Does an unsure neighbour make you unsure?")
    page.wait_for_selector(".sketch .node", timeout=LONG)
    settled(page)
    expect(paper_rule(page)).to_contain_text("0.750")

    page.get_by_label("A is linked to").click()
    page.get_by_role("option", name="C", exact=True).click()
    expect(paper_rule(page)).to_contain_text("0.796", timeout=LONG)
    expect(paper_rule(page)).to_contain_text("+0.046")
    page.keyboard.press("Escape")
    settled(page)

    # Pull the plus of A onto a leaf of the hub: a third link.
    page.mouse.move(*centre(page, ".sketch .handle circle"))
    page.mouse.down()
    page.mouse.move(*centre(page, '.sketch [data-name="J"] .core'), steps=6)
    page.mouse.up()
    expect(paper_rule(page)).not_to_contain_text("0.796", timeout=LONG)
    expect(page.locator(".sketch .reach")).to_have_count(10, timeout=LONG)

    # A click on another node looks at it.
    page.mouse.click(*centre(page, '.sketch [data-name="E"] .core'))
    expect(page.locator(".sketch .looked")).to_have_attribute("data-name", "E", timeout=LONG)
    expect(page.get_by_text("Variance of E after the step")).to_be_visible(timeout=LONG)


def test_a_message_is_followed_down_to_one_multiplication_and_back(app, page):
    visit(page, f"{app}/learn-8-follow", "Where does one probability come from?")
    page.wait_for_selector(".arithmetic .chip", timeout=LONG)
    settled(page)
    side = page.locator(".arithmetic .side-0")
    page.get_by_role("button", name="Neighbours").click()
    expect(page.locator(".arithmetic .where")).to_contain_text("Step 2 of 11")
    side.locator(".formula .term").nth(2).hover()
    expect(side.locator("td .lit").first).to_be_visible()
    line = side.locator("tr.line:not(.chosen)").first
    said = line.locator(".digits").nth(1).inner_text()
    line.locator(".link").click()
    side.get_by_role("button", name="Where this number").click()
    expect(page.locator(".arithmetic .where")).to_contain_text("Words", timeout=LONG)
    expect(side.locator(".result")).to_have_text(said, timeout=LONG)
    page.get_by_role("button", name="back to Neighbours").click()
    expect(page.locator(".arithmetic .where")).to_contain_text("Neighbours", timeout=LONG)
    page.locator(".arithmetic").press("ArrowLeft")
    expect(page.locator(".arithmetic .where")).to_contain_text("Words")


def test_strangers_are_dragged(app, page):
    visit(page, f"{app}/learn-10-sees", "When does a stranger stand out?")
    page.wait_for_selector(".plane .handle", timeout=LONG)
    settled(page)
    found = page.get_by_test_id("stMetric").filter(has_text="Doubt of 40 strangers")
    before = found.inner_text()
    x, y = centre(page, ".plane .handle circle")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 500, y + 60, steps=5)
    page.mouse.up()
    expect(found).not_to_have_text(before, timeout=LONG)


def test_a_landscape_is_clicked_and_the_point_goes_there(app, page):
    visit(page, f"{app}/learn-4-loss", "What does training gain from being sure?")
    page.wait_for_selector(".js-plotly-plot .nsewdrag", timeout=LONG)
    settled(page)
    box = page.locator(".js-plotly-plot .nsewdrag").last.bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    hover = page.locator(".js-plotly-plot .hovertext").last
    expect(hover).to_contain_text("loss", timeout=LONG)
    loss = hover.text_content().rpartition("loss ")[2]
    page.mouse.down()
    page.mouse.up()
    shown = page.get_by_test_id("stMetricValue").last
    expect(shown).to_have_text(loss, timeout=LONG)


def test_a_guess_stays_marked_when_another_graph_has_to_train(app, page):
    visit(page, f"{app}/learn-8-follow", "Where does one probability come from?")
    page.wait_for_selector(".arithmetic .chip", timeout=LONG)
    settled(page)
    page.get_by_test_id("stRadio").locator("label").nth(1).click()
    expect(page.locator("[class*=st-key-verdict]")).to_contain_text("multiplied", timeout=LONG)
    page.get_by_role("combobox", name="Graph").click()
    page.get_by_role("option", name="Synthetic").click()
    expect(page.get_by_test_id("stProgress").first).to_be_visible(timeout=LONG)
    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=LONG)
    expect(page.get_by_test_id("stRadio").get_by_role("radio").nth(0)).to_be_checked()
    expect(page.locator("[class*=st-key-verdict]")).to_contain_text("multiplied")


def test_a_lesson_leads_into_the_dashboard(app, page):
    visit(page, f"{app}/learn-6-unseen", "Which number notices an unknown class?")
    page.get_by_role("link", name="All scores of this run").click()
    expect(page.get_by_role("heading", name="Does the model notice")).to_be_visible(timeout=LONG)
    assert "left_out=Rule" in page.url and "Published+rule" in page.url
    expect(page.get_by_text("Under this rule message uncertainty follows")).to_be_visible()
