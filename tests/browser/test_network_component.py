"""The network component in a real browser: see network_app.py for the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .conftest import Serve, is_outside

PLACES = "ego => ego.network.getPositions()"
CAMERA = "ego => [ego.network.getScale(), ego.network.getViewPosition()]"
PIXEL = """(ego, id) => {
  const at = ego.network.canvasToDOM(ego.network.getPosition(id));
  const box = ego.querySelector("canvas").getBoundingClientRect();
  return [box.x + at.x, box.y + at.y];
}"""
NEIGHBOURS = "(ego, id) => ego.network.getConnectedNodes(id)"


@pytest.fixture(scope="module")
def url(serve: Serve) -> str:
    return serve(Path(__file__).parent / "network_app.py")


class Ego:
    """The component as a visitor uses it."""

    def __init__(self, page: Page, url: str, node: int = 0, query: str = "") -> None:
        self.page, self.element = page, page.locator(".ego")
        page.goto(f"{url}/?node={node}{query}")
        self.arrives_at(node)

    def arrives_at(self, node: int) -> None:
        """The page and the picture agree on the picked node."""
        expect(self.page.get_by_text(f'"node": {node},')).to_be_visible(timeout=60_000)
        expect(self.element).to_have_attribute("data-centre", str(node), timeout=60_000)

    def places(self) -> dict[str, dict[str, float]]:
        return self.element.evaluate(PLACES)

    def pixel(self, node: int) -> tuple[float, float]:
        x, y = self.element.evaluate(PIXEL, node)
        return x, y

    def walk_to(self, node: int) -> None:
        self.page.mouse.click(*self.pixel(node))
        self.arrives_at(node)


def test_a_click_walks_to_the_neighbour_and_whatever_stays_keeps_its_place(
    page: Page, url: str, console_errors: list[str]
) -> None:
    ego = Ego(page, url)
    before = ego.places()
    assert len(before) == 23
    first = 258
    ego.walk_to(first)
    after = ego.places()
    stayed = before.keys() & after.keys()
    assert "0" in stayed and after.keys() - before.keys()
    assert {i: after[i] for i in stayed} == {i: before[i] for i in stayed}

    farther = next(n for n in ego.element.evaluate(NEIGHBOURS, first) if n != 0)
    ego.walk_to(farther)
    ego.walk_to(first)
    page.get_by_role("button", name="Home").click()
    ego.arrives_at(0)
    ego.walk_to(first)  # the same click as the last one counts again
    assert console_errors == []


def test_a_click_just_beside_a_node_counts_and_one_in_the_void_does_not(
    page: Page, url: str
) -> None:
    ego = Ego(page, url)
    box = ego.element.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    page.wait_for_timeout(500)
    ego.arrives_at(0)
    radius = ego.element.evaluate(
        "ego => ego.network.body.data.nodes.get(258).size * ego.network.getScale()"
    )
    x, y = ego.pixel(258)
    page.mouse.click(x, y + radius + 6)
    ego.arrives_at(258)


def test_another_colour_moves_neither_camera_nor_nodes(page: Page, url: str) -> None:
    ego = Ego(page, url)
    page.mouse.move(*ego.pixel(0))
    page.keyboard.down("Control")
    page.mouse.wheel(0, -240)
    page.keyboard.up("Control")
    look = "ego => ego.network.body.data.nodes.get().map(node => node.color.background)"
    camera, places, colours = (ego.element.evaluate(what) for what in (CAMERA, PLACES, look))
    page.get_by_label("Colour").click()
    page.get_by_role("option", name="confidence").click()
    page.wait_for_function(
        f"([ego, before]) => JSON.stringify(({look})(ego)) !== before",
        arg=[ego.element.element_handle(), page.evaluate("JSON.stringify", colours)],
    )
    assert ego.element.evaluate(CAMERA) == camera
    assert ego.places() == places


def test_the_keyboard_reads_out_and_picks(page: Page, url: str) -> None:
    ego = Ego(page, url)
    ego.element.locator(".vis-network").focus()
    page.keyboard.press("ArrowRight")
    expect(ego.element.locator(".said")).to_contain_text("class: ")
    second = ego.element.evaluate("ego => ego.network.getSelectedNodes()[0]")
    page.keyboard.press("Enter")
    ego.arrives_at(second)


def test_text_follows_the_theme(page: Page, url: str) -> None:
    ego = Ego(page, url)
    font = "ego => ego.network.nodesHandler.options.font.color"
    text = "ego => getComputedStyle(ego).getPropertyValue('--st-text-color').trim()"
    light = ego.element.evaluate(font)
    assert light == ego.element.evaluate(text)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        f"([ego, before]) => ({font})(ego) !== before", arg=[ego.element.element_handle(), light]
    )
    assert ego.element.evaluate(font) == ego.element.evaluate(text)


def test_hostile_text_is_shown_and_not_run_in_the_page_and_in_its_export(
    page: Page, url: str, tmp_path: Path, console_errors: list[str]
) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    ego = Ego(page, url, query="&hostile=1")
    page.mouse.move(*ego.pixel(258))
    tooltip = ego.element.locator(".vis-tooltip")
    expect(tooltip).to_be_visible()
    expect(tooltip).to_contain_text("<img src=")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    assert page.evaluate("window.hit") is None

    file = tmp_path / "network.html"
    download.value.save_as(file)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_function("network.physics.physicsEnabled === false")
    x, y = page.evaluate("Object.values(network.canvasToDOM(network.getPosition(258)))")
    page.mouse.move(x, y)
    expect(page.locator(".vis-tooltip")).to_contain_text("<img src=")
    page.wait_for_timeout(300)
    assert asked == [file.as_uri()]
    assert (page.evaluate("window.hit"), dialogs, console_errors) == (None, [], [])


def test_what_counts_as_another_machine() -> None:
    inside = ("http://localhost:1/", "ws://127.0.0.1:2/x", "data:text/plain,a", "blob:http://a/b")
    assert not any(map(is_outside, inside))
    outside = ("https://cdn.test/x.js", "wss://example.test", "http://localhost.evil.test/")
    assert all(map(is_outside, outside))
