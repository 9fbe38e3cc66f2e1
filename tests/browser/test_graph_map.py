"""The map component in a real browser: see map_app.py for the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from .conftest import Serve

LONG = 60_000
MIDDLE = 66  # a node in the middle of the lattice, with a link to either side
# Whether anything is drawn on the upper canvas this far to the right of a node.
INKED = """(host, [node, right]) => {
  const canvas = host.querySelector(".above");
  const box = canvas.getBoundingClientRect();
  const [x, y] = host.map.node(node);
  const ratio = canvas.width / box.width;
  const at = [(x - box.left + right) * ratio, (y - box.top) * ratio].map(Math.round);
  return canvas.getContext("2d").getImageData(...at, 1, 1).data[3] > 0;
}"""


@pytest.fixture(scope="module")
def url(serve: Serve) -> str:
    return serve(Path(__file__).parent / "map_app.py")


class Map:
    """The component as a visitor uses it."""

    def __init__(self, page: Page, url: str, query: str = "", key: str = "one") -> None:
        self.page = page
        if url:
            page.goto(f"{url}/{query}")
        self.element = page.locator(f".st-key-{key} .bup-map")
        expect(self.element).to_have_attribute("data-layer", re.compile("."), timeout=LONG)
        page.wait_for_timeout(300)

    def call(self, what: str, *given: Any) -> Any:
        return self.element.evaluate(f"(host, given) => host.map.{what}(...given)", list(given))

    def inked(self, node: int, right: float) -> bool:
        return self.element.evaluate(INKED, [node, right])

    def hover(self, node: int) -> None:
        x, y = self.call("node", node)
        self.page.mouse.move(x - 1, y)
        self.page.mouse.move(x, y)

    def click(self, node: int) -> None:
        self.page.mouse.click(*self.call("node", node))

    def drag(self, *points: tuple[float, float]) -> None:
        self.page.mouse.move(*points[0])
        self.page.mouse.down()
        for point in points[1:]:
            self.page.mouse.move(*point, steps=4)
        self.page.mouse.up()

    def drag_range(self, first: float, last: float) -> None:
        """Over the histogram, between two shares of its width."""
        box = self.element.locator(".histogram").bounding_box()
        assert box is not None
        y = box["y"] + box["height"] / 2
        self.drag(*((box["x"] + share * box["width"], y) for share in (first, last)))

    def said(self) -> dict[str, Any]:
        return json.loads(self.page.get_by_text('{"node":').inner_text())

    def shows(self, count: int) -> None:
        expect(self.element).to_have_attribute("data-shown", str(count), timeout=LONG)


def centre(page: Page, map_: Map) -> tuple[float, float]:
    box = map_.element.locator(".stage").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_hovering_lights_the_neighbours_and_a_click_keeps_them_lit(
    page: Page, url: str, console_errors: list[str]
) -> None:
    one = Map(page, url)
    assert one.call("lit") is None
    one.hover(MIDDLE)
    assert one.call("lit") == {"node": MIDDLE, "near": [MIDDLE - 1, MIDDLE + 1]}
    dimmed = one.element.locator(".base").evaluate("base => getComputedStyle(base).opacity")
    assert float(dimmed) == pytest.approx(0.3)
    expect(one.element.locator(".tip")).to_contain_text("Says right half")
    page.mouse.move(2, 2)
    assert one.call("lit") is None

    one.click(MIDDLE)
    expect(page.get_by_text(f'"node": {MIDDLE}')).to_be_visible(timeout=LONG)
    page.mouse.move(2, 2)
    assert one.call("lit")["node"] == MIDDLE
    both = (one, Map(page, "", key="two"))
    for each in both:  # the pick is ringed on either map, the light is on the one clicked
        expect(each.element).to_have_attribute("data-picked", str(MIDDLE), timeout=LONG)
    assert both[1].call("lit") is None
    box = one.element.locator(".stage").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 4, box["y"] + box["height"] - 4)  # the void
    assert one.call("lit") is None and one.said()["node"] == MIDDLE
    assert console_errors == []


def test_the_ring_follows_the_picked_node_when_the_map_is_zoomed(page: Page, url: str) -> None:
    one = Map(page, url)
    one.click(MIDDLE)
    expect(one.element).to_have_attribute("data-picked", str(MIDDLE), timeout=LONG)
    page.mouse.move(*centre(page, one))
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(500)
    page.keyboard.press("Escape")
    page.mouse.move(2, 2)
    found = [right for right in range(8, 30) if one.inked(MIDDLE, right)]
    assert found and max(found) - min(found) < 8 and not one.inked(MIDDLE + 24, found[0])


@pytest.mark.parametrize("query", ["", "?plain=1"])
def test_a_range_hides_the_others_at_once_and_is_told(page: Page, url: str, query: str) -> None:
    one = Map(page, url, query)
    one.shows(147)
    one.drag_range(0.5, 1.05)  # the doubtful half: the later nodes, whose confidence is low
    shown = [one.call("shows", node) for node in range(147)]
    assert 65 < sum(shown) < 82 and not shown[0] and shown[146]
    expect(page.get_by_text('"range"')).to_be_visible(timeout=LONG)
    told = one.said()["range"]
    assert told["of"] == "confidence" and told["range"][1] is None
    assert told["range"][0] == pytest.approx(-0.5, abs=0.05)
    one.hover(0)
    assert one.call("lit") is None  # nobody there
    one.element.locator(".histogram").dblclick()
    one.shows(147)


def test_a_lasso_returns_the_nodes_inside(page: Page, url: str) -> None:
    one = Map(page, url)
    corners = [one.call("node", node) for node in (2 * 12 + 2, 2 * 12 + 5, 5 * 12 + 5, 5 * 12 + 2)]
    middle = [sum(c[axis] for c in corners) / 4 for axis in (0, 1)]
    around = [tuple(m + 1.15 * (v - m) for v, m in zip(c, middle, strict=True)) for c in corners]
    page.keyboard.down("Shift")
    one.drag(*around, around[0])
    page.keyboard.up("Shift")
    expected = sorted(12 * row + column for row in range(2, 6) for column in range(2, 6))
    expect(page.get_by_text('"group"')).to_be_visible(timeout=LONG)
    assert sorted(one.said()["group"]) == expected
    one.element.get_by_role("button", name=re.compile("Draw around")).click()
    one.drag(*around[:3], around[0])
    expect(page.get_by_text(f'"group": {json.dumps(expected)}')).to_have_count(0, timeout=LONG)
    assert len(one.said()["group"]) < 16


def test_hands_and_keys_move_the_map(page: Page, url: str) -> None:
    one = Map(page, url)
    start = one.call("camera")
    x, y = centre(page, one)
    one.drag((x, y - 120), (x + 40, y - 100))
    page.wait_for_timeout(300)
    moved = one.call("camera")
    assert moved["x"] < start["x"] and moved["y"] > start["y"] and moved["zoom"] == start["zoom"]
    one.element.locator(".stage").focus()
    page.keyboard.press("+")
    page.keyboard.press("Shift+ArrowRight")
    keyed = one.call("camera")
    assert keyed["zoom"] > 1.2 and keyed["x"] > moved["x"]
    page.keyboard.press("0")
    assert one.call("camera") == start
    one.element.get_by_role("button", name="Zoom in").click()
    assert one.call("camera")["zoom"] > 1.3
    page.mouse.dblclick(x, y - 140)
    assert one.call("camera")["zoom"] == 1


def test_keys_lead_from_neighbour_to_neighbour(page: Page, url: str) -> None:
    one = Map(page, url)
    one.click(MIDDLE)
    expect(one.element).to_have_attribute("data-picked", str(MIDDLE), timeout=LONG)
    page.mouse.move(2, 2)
    one.element.locator(".stage").focus()
    page.keyboard.press("ArrowRight")
    first = one.call("lit")["node"]
    page.keyboard.press("ArrowDown")
    second = one.call("lit")["node"]
    assert {first, second} == {MIDDLE - 1, MIDDLE + 1}
    expect(one.element.get_by_role("status")).to_contain_text("2 of 2")
    page.keyboard.press("Enter")
    expect(one.element).to_have_attribute("data-picked", str(second), timeout=LONG)


def test_small_components_can_be_folded_away(page: Page, url: str) -> None:
    one = Map(page, url)
    whole = one.call("camera")
    one.element.get_by_role("button", name="Fold away groups of fewer than 10").click()
    # The lattice is of rows of twelve; the triangle goes.
    one.shows(144)
    assert one.call("camera")["x"] < whole["x"]
    one.element.get_by_role("button", name="Fold away groups of fewer than 10").click()
    one.shows(147)
    assert one.call("camera") == whole


def test_another_colour_moves_nothing(page: Page, url: str) -> None:
    one = Map(page, url)
    page.mouse.move(*centre(page, one))
    page.mouse.wheel(0, -200)
    page.wait_for_timeout(400)
    camera, colour = one.call("camera"), one.call("colour", 146)
    page.get_by_role("combobox", name="Colour").click()
    page.get_by_role("option", name="true").click()
    expect(one.element).to_have_attribute("data-colour", "true", timeout=LONG)
    assert one.call("camera") == camera and one.call("colour", 146) != colour
    expect(one.element.locator(".legend")).to_contain_text("right half")


def test_without_webgl2_a_plain_canvas_still_picks(page: Page, url: str) -> None:
    one = Map(page, url, "?plain=1")
    expect(one.element).to_have_attribute("data-painter", "canvas")
    one.click(MIDDLE)
    expect(page.get_by_text(f'"node": {MIDDLE}')).to_be_visible(timeout=LONG)
    drawn = """base => base.getContext("2d").getImageData(0, 0, base.width, base.height).data
      .some((value, k) => k % 4 === 3 && value > 200)"""
    assert one.element.locator(".base").evaluate(drawn)


def test_a_browser_that_has_no_webgl2_at_all_gets_the_plain_canvas(page: Page, url: str) -> None:
    page.add_init_script(
        """const real = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
          return kind === "webgl2" ? null : real.call(this, kind, ...rest);
        };"""
    )
    one = Map(page, url)
    expect(one.element).to_have_attribute("data-painter", "canvas")
    one.hover(MIDDLE)
    assert one.call("lit")["node"] == MIDDLE


def test_a_lost_context_is_drawn_again(page: Page, url: str, console_errors: list[str]) -> None:
    one = Map(page, url)
    expect(one.element).to_have_attribute("data-painter", "webgl2")
    lose = """base => {
      base.classList.add("lost");
      base.getContext("webgl2").getExtension("WEBGL_lose_context").loseContext();
    }"""
    for _ in range(2):
        one.element.locator(".base").evaluate(lose)
        expect(one.element.locator(".base:not(.lost)")).to_have_count(1)
    expect(one.element).to_have_attribute("data-painter", "canvas")  # twice is enough
    one.click(MIDDLE)
    expect(page.get_by_text(f'"node": {MIDDLE}')).to_be_visible(timeout=LONG)
    assert console_errors == []


def test_a_map_that_leaves_gives_its_context_back(page: Page, url: str) -> None:
    one = Map(page, url)
    page.evaluate("document.querySelector('.st-key-two .base').id = 'gone'")
    held = page.evaluate_handle("document.getElementById('gone').getContext('webgl2')")
    page.get_by_text("Second map").click()
    expect(page.locator(".st-key-two .bup-map")).to_have_count(0, timeout=LONG)
    page.wait_for_timeout(300)
    assert held.evaluate("gl => gl.isContextLost()")
    one.hover(MIDDLE)
    assert one.call("lit")["node"] == MIDDLE


def test_hostile_names_are_shown_and_not_run(
    page: Page, url: str, console_errors: list[str]
) -> None:
    one = Map(page, url, "?hostile=1")
    one.hover(MIDDLE)
    expect(one.element.locator(".tip")).to_contain_text("<img src=")
    page.get_by_role("combobox", name="Colour").click()
    page.get_by_role("option", name="true").click()
    expect(one.element.locator(".legend")).to_contain_text("<img src=", timeout=LONG)
    expect(one.element.locator(".alternative")).to_contain_text("<img src=")
    page.wait_for_timeout(300)
    assert page.evaluate("window.hit") is None and console_errors == []
    assert one.element.locator("img, script").count() == 0


def test_the_map_has_a_name_and_says_in_words_what_it_shows(page: Page, url: str) -> None:
    one = Map(page, url)
    stage = one.element.get_by_role("application")
    expect(stage).to_have_attribute(
        "aria-label", re.compile("Map of 147 nodes and 135 links, coloured by Confidence")
    )
    described = page.locator(f"[id='{stage.get_attribute('aria-describedby')}']")
    expect(described).to_contain_text("147 of 147 nodes are shown")
    expect(described).to_contain_text("Picked: Node node 0")
    expect(described).not_to_contain_text("..")


class Fingers:
    """Touches, as a phone's screen tells of them."""

    def __init__(self, page: Page) -> None:
        self.session = page.context.new_cdp_session(page)

    def move(self, *ways: tuple[tuple[float, float], tuple[float, float]], steps: int = 8) -> None:
        """Each finger from one place to another, all at once."""
        for step in range(steps + 1):
            self._tell(
                "touchMove" if step else "touchStart",
                [
                    [start + (end - start) * step / steps for start, end in zip(*way, strict=True)]
                    for way in ways
                ],
            )
        self._tell("touchEnd", [])

    def _tell(self, kind: str, places: list[list[float]]) -> None:
        points = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_on_a_phone_fingers_tap_pinch_and_pan_and_past_the_whole_map_scroll(
    chromium: Browser, url: str
) -> None:
    phone = {"width": 390, "height": 600}
    context = chromium.new_context(
        viewport=phone, has_touch=True, is_mobile=True, device_scale_factor=3
    )
    try:
        page = context.new_page()
        one = Map(page, url)
        sizes = """host => [...host.querySelectorAll("canvas.base, canvas.above")].map(
          (canvas) => canvas.width / canvas.clientWidth)"""
        assert one.element.evaluate(sizes) == pytest.approx([3, 3], abs=0.02)  # crisp
        scrolled = "document.querySelector('[data-testid=stMain]').scrollTop"
        fingers = Fingers(page)
        whole = one.call("camera")
        x, y = centre(page, one)
        fingers.move(((x, y), (x, y - 120)))
        page.wait_for_timeout(500)
        assert page.evaluate(scrolled) > 40 and one.call("camera") == whole

        x, y = centre(page, one)
        fingers.move(((x - 30, y), (x - 90, y)), ((x + 30, y), (x + 90, y)))
        page.wait_for_timeout(500)
        near, before = one.call("camera"), page.evaluate(scrolled)
        assert near["zoom"] == pytest.approx(3, rel=0.25)
        fingers.move(((x, y), (x, y - 60)))
        page.wait_for_timeout(500)
        panned = one.call("camera")
        assert panned["y"] < near["y"] and panned["zoom"] == near["zoom"]
        assert page.evaluate(scrolled) == before

        page.touchscreen.tap(*one.call("node", MIDDLE))
        expect(page.get_by_text(f'"node": {MIDDLE}')).to_be_visible(timeout=LONG)
        expect(one.element.locator(".tip")).to_contain_text("Node node 66")
    finally:
        context.close()
