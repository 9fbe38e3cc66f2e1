"""Back, forward, reload and copied links: the address of the page says what is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page, expect

from .test_journeys import CAMERA, LONG, SECOND, open_tab, paper_box, visit, wait_for_map

SEEN = """() => {
  const texts = (within) => [...document.querySelectorAll(within)]
    .filter((e) => e.checkVisibility()).map((e) => e.innerText);
  const map = document.querySelector(".st-key-map .bup-map");
  const camera = map?.map?.camera();
  return {
    page: location.pathname,
    headings: texts(".stMain h1, .stMain h2, .stMain h3"),
    words: texts(".st-key-explore_node, .st-key-node_card"),
    captions: texts(".stMain [data-testid=stCaptionContainer]"),
    values: [...document.querySelectorAll("input")].filter((e) => e.checkVisibility())
      .map((e) => [e.getAttribute("aria-label"), e.value, e.checked]),
    chosen: texts("[role=radio][aria-checked=true], [aria-pressed=true], [aria-selected=true]"),
    left_out: texts(".st-key-left_out"),
    map: map && ["shown", "colour", "picked", "layer"].map((name) => map.dataset[name]),
    camera: camera && ["x", "zoom"].map((key) => Number(camera[key].toFixed(2))),
  };
}"""
ENTRIES = "history.length"


@pytest.fixture(scope="module")
def app(serve, stocked_cache) -> str:
    return serve(cache=stocked_cache)


def quiet(page: Page) -> None:
    """Until no script runs, nothing trains and the map has come to rest."""
    page.wait_for_timeout(800)
    state = page.locator("[data-testid=stApp][data-test-script-state=notRunning]")
    for _ in range(3):
        expect(state).to_have_count(1, timeout=LONG)
        expect(page.locator(".st-key-training_in_place")).to_have_count(0, timeout=LONG)
        page.wait_for_timeout(300)


def seen(page: Page) -> dict[str, Any]:
    quiet(page)
    return page.evaluate(SEEN)


def go_to(page: Page, name: str) -> None:
    page.get_by_test_id("stTopNav").get_by_role("link", name=name).click()


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_label(label).first.click()
    page.get_by_role("option", name=option, exact=True).click()


def leave_out(page: Page) -> None:
    page.locator(".st-key-left_out input").fill("Rule")
    page.get_by_role("option", name="Rule Learning").click()
    page.keyboard.press("Escape")


def filter_mistakes(page: Page) -> None:
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_text("Only mistakes", exact=True).click()
    quiet(page)
    page.keyboard.press("Escape")


def type_id(page: Page) -> None:
    paper_box(page).fill("35")
    page.keyboard.press("Enter")


def zoom(page: Page) -> None:
    box = page.locator(".bup-map .stage").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] / 3)
    for _ in range(2):  # twice is still one look around
        page.mouse.wheel(0, -300)
        page.wait_for_timeout(SECOND)


def draw_a_range(page: Page) -> None:
    bar = page.locator(".bup-map .histogram").bounding_box()
    assert bar is not None
    page.mouse.move(bar["x"] + 0.2 * bar["width"], bar["y"] + 9)
    page.mouse.down()
    page.mouse.move(bar["x"] + 0.6 * bar["width"], bar["y"] + 9, steps=4)
    page.mouse.up()


def draw_around(page: Page) -> None:
    box = page.locator(".bup-map .stage").bounding_box()
    assert box is not None
    left, top = box["x"] + box["width"] / 3, box["y"] + box["height"] / 3
    page.get_by_role("button", name="Draw around").click()
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((200, 0), (200, 200), (0, 200)):
        page.mouse.move(left + x, top + y, steps=4)
    page.mouse.up()


STEPS: dict[str, Callable[[Page], None]] = {
    "a story": lambda page: page.get_by_text("A hub and a leaf").click(),
    "a tab": lambda page: open_tab(page, "Why?"),
    "a rule": lambda page: page.get_by_role("radio", name="Published rule").click(),
    "a colour": lambda page: choose(page, "Colour by", "Confidence"),
    "a filter": filter_mistakes,
    "a look around": zoom,
    "a range": draw_a_range,
    "a node": type_id,
    "another page": lambda page: go_to(page, "Reliability"),
    "a third page": lambda page: go_to(page, "Structure"),
    "the first page": lambda page: go_to(page, "Explore"),
    "a class left out": leave_out,
    "a lasso": draw_around,
}


def test_every_action_is_one_entry_and_back_undoes_it(app, page, chromium: Browser):
    visit(page, app, "Where is the model unsure, and why?")
    wait_for_map(page)
    states, links = [seen(page)], [page.url]
    for name, act in STEPS.items():
        before = page.evaluate(ENTRIES)
        act(page)
        states.append(seen(page))
        links.append(page.url)
        assert page.evaluate(ENTRIES) == before + 1, name
        assert states[-1] != states[-2], name
    steps = list(enumerate(STEPS))
    for k, name in reversed(steps):
        page.go_back()
        assert seen(page) == states[k] and page.url == links[k], f"back over {name}"
    for k, name in steps:
        page.go_forward()
        assert seen(page) == states[k + 1] and page.url == links[k + 1], f"forward to {name}"
    page.reload()
    open_again(page, states[-1], "reloaded")
    other = chromium.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    try:
        for k, name in steps:
            fresh = other.new_page()
            fresh.goto(links[k + 1])
            open_again(fresh, states[k + 1], f"a link to {name}")
            assert fresh.evaluate(ENTRIES) == 2  # an empty page, and this one
            fresh.close()
    finally:
        other.close()


def open_again(page: Page, state: dict[str, Any], when: str) -> None:
    expect(page.locator(".stMain h1").first).to_be_visible(timeout=LONG)
    if state["map"]:
        wait_for_map(page)
    assert seen(page) == state, when


def test_back_closes_the_question_that_a_link_came_without(app, page):
    visit(page, f"{app}/?node=35", "Where is the model unsure, and why?")
    wait_for_map(page)
    before = seen(page)
    open_tab(page, "Why?")
    assert seen(page) != before and "tab=" in page.url
    page.go_back()
    assert seen(page) == before and "tab=" not in page.url


@pytest.mark.parametrize("path", ["/", "/explore"])
def test_the_first_page_has_a_name_as_well(app, page, path):
    visit(page, f"{app}{path}?node=35", "Where is the model unsure, and why?")
    expect(paper_box(page)).to_have_value("35", timeout=LONG)
    expect(page.get_by_text("Page not found")).to_have_count(0)
    entry = page.get_by_test_id("stTopNav").get_by_role("link", name="Explore")
    expect(entry).to_have_attribute("aria-current", "page")
    go_to(page, "Reliability")
    expect(page.get_by_role("heading", name="When the model says 80%")).to_be_visible(timeout=LONG)
    page.go_back()
    wait_for_map(page)
    assert page.url == f"{app}{path}?node=35"


@pytest.mark.parametrize("place", ["nan,0,1", "0,0,1e9", "1,2", "1,2,-3", "a,b,c"])
def test_a_place_that_is_none_shows_all_of_the_map(app, page, place):
    visit(page, f"{app}/?at={place}", "Where is the model unsure, and why?")
    wait_for_map(page)
    quiet(page)
    assert page.evaluate(CAMERA)["zoom"] == 1 and "at=" not in page.url


@pytest.mark.parametrize("query", ["seed=0&bins=44&large=false", "seed=abc", "range=junk&node=35"])
def test_what_makes_no_sense_leaves_the_address_without_an_entry(app, page, query):
    visit(page, f"{app}/?{query}", "Where is the model unsure, and why?")
    quiet(page)
    assert query not in page.url and page.evaluate(ENTRIES) == 2
