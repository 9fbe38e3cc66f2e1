"""A page of runs from disk, in a browser without a network: it works and does no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page, expect

import bup
from dashboard.export.page import page as web_page
from tests.support.exports import HOSTILE, hostile_graph, loaded_run

from .accessibility import barriers

LONG = 60_000
MAP = "document.querySelector('.bup-map')"
POINT = """place => {
  const plot = document.querySelector("figure .stage");
  const [{ customdata, x, y }] = plot._fullData;
  const { xaxis, yaxis } = plot._fullLayout;
  const box = plot.getBoundingClientRect();
  const at = [xaxis._offset + xaxis.d2p(x[place]), yaxis._offset + yaxis.d2p(y[place])];
  return { node: customdata[place], at: [box.left + at[0], box.top + at[1]] };
}"""


@pytest.fixture(scope="module")
def graph() -> bup.Graph:
    return hostile_graph()


@pytest.fixture(scope="module")
def exported(graph, tmp_path_factory) -> Path:
    """Two runs on a graph of hostile names, one class never shown."""
    about = {"epochs": 20, "per_class": 5, "validation": 30, "test": None, "left_out": [1]}
    both = [loaded_run(bup.fit(graph, method, **about), graph) for method in ("bup", "gcn")]
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(web_page(both), encoding="utf-8")
    return path


def test_a_page_from_disk_is_whole_and_harmless(
    graph, exported: Path, page: Page, console_errors: list[str]
):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.context.set_offline(True)
    page.goto(exported.as_uri())
    head = page.locator("#node h2")
    expect(head).to_have_text("Where is the model unsure, and why?", timeout=LONG)

    # Hovering lights a node with its neighbours; a click picks it, and the address says so.
    node = int(graph.degree.argmax())
    page.mouse.move(*page.evaluate(f"{MAP}.map.node({node})"))
    near = graph.neighbours(node).tolist()
    lit = page.evaluate(f"{MAP}.map.lit()")
    assert lit["node"] == node and sorted(lit["near"]) == near
    page.mouse.click(*page.evaluate(f"{MAP}.map.node({node})"))
    expect(head).to_have_text(f"Paper {HOSTILE}{node}: {HOSTILE} of {node}")
    expect(page.locator("#node table.classes .span").first).to_be_attached()  # intervals
    expect(page.locator("#node .entry")).to_have_count(len(near))
    address = page.url
    bars = page.get_by_role("table", name="Contributions").locator("tr")
    assert 1 < bars.count() <= 11
    expect(page.locator("#node")).to_contain_text(f"It says {HOSTILE}")

    # A bar shows its nodes, which one can see on the map.
    page.get_by_role("tab", name="Reliability").click()
    page.locator("figure .bars .point path").first.wait_for(timeout=LONG)
    box = page.locator("figure .bars .point path").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(head).to_contain_text("with a confidence of")
    page.get_by_role("button", name="Show them on the map").click()
    listed = page.locator("#node .entry").count()
    assert int(page.evaluate(f"{MAP}.dataset.shown")) == listed < graph.num_nodes

    # A point of a chart picks its node, and is ringed.
    page.get_by_role("tab", name="Structure").click()
    page.locator("figure .points path").first.wait_for(timeout=LONG)
    point = page.evaluate(POINT, 7)
    page.mouse.move(*point["at"])
    page.mouse.click(*point["at"])
    expect(head).to_contain_text(f"Paper {HOSTILE}")
    expect(page.locator("figure .ring").first).to_be_visible()

    # The other views, under the other run too.
    page.get_by_role("tab", name="Unseen classes").click()
    expect(page.locator("figure .main-svg").first).to_be_attached(timeout=LONG)
    page.get_by_role("tab", name="Compare").click()
    expect(page.get_by_role("table", name="The numbers")).to_contain_text("Brier")
    expect(page.locator(".sides canvas.base")).to_have_count(2)
    page.locator("#runs").get_by_text("GCN").click()
    expect(page.locator("#node")).to_contain_text("there is no interval")
    assert barriers(page) == []

    # Who comes by a link sees the same node.
    page.goto("about:blank")
    page.goto(address)
    expect(head).to_have_text(f"Paper {HOSTILE}{node}: {HOSTILE} of {node}", timeout=LONG)
    assert page.evaluate("window.hurt") is None
    assert {url.partition("#")[0] for url in asked if not url.startswith("data:")} <= {
        exported.as_uri(),
        "about:blank",
    }
    assert console_errors == []


def test_a_finger_scrolls_the_page_over_a_chart(exported: Path, chromium: Browser):
    size = {"width": 390, "height": 844}
    context = chromium.new_context(viewport=size, has_touch=True, is_mobile=True)
    try:
        page = context.new_page()
        page.goto(f"{exported.as_uri()}#view=structure")
        page.locator("figure .points path").first.wait_for(timeout=LONG)
        finger = context.new_cdp_session(page)
        for step in range(20):
            kind = "touchMove" if step else "touchStart"
            place = {"x": 200, "y": 600 - 12 * step}
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [place]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_function("scrollY > 100")
        expect(page.locator(".modebar")).to_have_count(0)  # nor do tools cover the legend
    finally:
        context.close()
