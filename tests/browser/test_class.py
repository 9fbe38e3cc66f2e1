"""A class in two browsers at once: the lecturer's and a student's phone."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page, expect

from .test_journeys import LONG, settled

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def app(serve, stocked_cache) -> str:
    return serve(cache=stocked_cache)


@pytest.fixture
def phone(chromium: Browser):
    context = chromium.new_context(viewport=PHONE, reduced_motion="reduce")
    yield context.new_page()
    context.close()


def heading(page: Page, words: str):
    return page.get_by_role("heading", name=words)


def test_a_class_from_start_to_end(app, page, phone):
    page.goto(f"{app}/class")
    page.get_by_role("button", name="Start a class").click(timeout=LONG)
    expect(page.get_by_text("bup dashboard --shared").first).to_be_visible(timeout=LONG)
    code = page.locator("h1").first.inner_text().strip()
    phone.goto(f"{app}/class?code={code}")
    expect(heading(phone, f"You are in class {code}")).to_be_visible(timeout=LONG)

    # To a lesson, by itself; the guess shows on the lecturer's screen before the answer does.
    page.goto(f"{app}/learn-2-message")
    page.get_by_role("button", name="Send everybody here").click(timeout=LONG)
    expect(heading(phone, "What changes if a node says")).to_be_visible(timeout=LONG)
    phone.get_by_text("Nothing changes: the means decide").click(timeout=LONG)
    expect(phone.get_by_text("Your guess is in")).to_be_visible(timeout=LONG)
    expect(page.get_by_text("1 guess so far")).to_be_visible(timeout=LONG)
    assert phone.get_by_text("As long as all curves").count() == 0
    phone.reload()
    expect(phone.get_by_text("Your guess is in")).to_be_visible(timeout=LONG)

    page.set_viewport_size({"width": 1280, "height": 720})  # a projector's
    expect(page.get_by_role("button", name="Show the answer")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Show the answer").click()
    expect(page.get_by_text("0 of 1 guessed right")).to_be_visible(timeout=LONG)
    expect(phone.get_by_text("As long as all curves")).to_be_visible(timeout=LONG)

    # To an exact view, then to another on the same page.
    for node in ("114", "35"):
        page.goto(f"{app}/?node={node}")
        page.get_by_role("button", name="Send everybody here").click(timeout=LONG)
        phone.wait_for_url(f"**/?*node={node}*", timeout=LONG)
        settled(phone)
    for screen in (page, phone):
        header, bar = (
            screen.locator(part).bounding_box() for part in (".stAppHeader", ".st-key-class_bar")
        )
        scrolled = screen.locator(".stMain").evaluate("main => main.scrollTop")
        assert header and bar and bar["y"] + scrolled >= header["y"] + header["height"]
    page.get_by_role("button", name="Let students browse").click()
    expect(phone.get_by_text("lets you look around")).to_be_visible(timeout=LONG)

    # Whoever does not follow stays.
    phone.get_by_text("Follow", exact=True).click()
    settled(phone)
    page.goto(f"{app}/learn-glossary")
    page.get_by_role("button", name="Send everybody here").click(timeout=LONG)
    expect(phone.get_by_text("Your lecturer is at: Glossary")).to_be_visible(timeout=LONG)
    assert "node=35" in phone.url
    phone.get_by_role("button", name="Go there").click()
    expect(heading(phone, "What do the words mean?")).to_be_visible(timeout=LONG)


def test_a_tour_walks(app, page):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{app}/?tour=1")
    for stop in range(1, 8):
        expect(page.get_by_text(f"Stop {stop} of 7")).to_be_visible(timeout=LONG)
        expect(page.locator(".frame")).to_be_visible(timeout=LONG)
        if stop == 3:
            page.get_by_role("link", name="Back", exact=True).click()
            expect(page.get_by_text("Stop 2 of 7")).to_be_visible(timeout=LONG)
            page.get_by_role("link", name="Next", exact=True).click()
            expect(page.get_by_text("Stop 3 of 7")).to_be_visible(timeout=LONG)
        if stop < 7:
            page.get_by_role("link", name="Next", exact=True).click()
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_text("Stop 7 of 7")).to_be_hidden(timeout=LONG)
    assert "tour" not in page.url
