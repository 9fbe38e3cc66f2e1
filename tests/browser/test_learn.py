"""The Learn section as a student uses it, in a real browser."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from dashboard.learn.lesson import LESSONS

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
    assert not [error for error in console_errors if "404" not in error]


def _opened(page: Page, title: str) -> None:
    expect(page.get_by_role("heading", name=title)).to_be_visible(timeout=LONG)
    settled(page)
    assert page.get_by_test_id("stException").count() == 0, title
    assert page.get_by_test_id("stAlertContentError").count() == 0, title


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


def test_a_lesson_leads_into_the_dashboard(app, page):
    visit(page, f"{app}/learn-6-unseen", "Which number notices an unknown class?")
    page.get_by_role("link", name="All scores of this run").click()
    expect(page.get_by_role("heading", name="Known and unknown")).to_be_visible(timeout=LONG)
    assert "left_out=Rule" in page.url and "Published+rule" in page.url
    expect(page.get_by_text("Under this rule message uncertainty follows")).to_be_visible()
