"""A page of a site that fetches its graph in parts, as it does of a large one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

import bup
from dashboard.export import document, tiles
from dashboard.export import page as pages
from dashboard.export.site import write_site
from tests.support.exports import loaded_run

LONG = 60_000
SHOWN = 120  # nodes of a part, of 600
MAP = "document.querySelector('.bup-map').map"


@pytest.fixture(scope="module")
def results() -> list[bup.Result]:
    graph = bup.load_graph("synthetic:nodes=600,classes=3,words=60")
    return [bup.fit(graph, m, per_class=5, validation=30, epochs=5) for m in ("bup", "gcn")]


@pytest.fixture(scope="module")
def site(results, tmp_path_factory) -> Iterator[str]:
    """The address of a page below a path of a host that only hands out files."""
    root = tmp_path_factory.mktemp("host")
    (root / "deep").mkdir()
    runs = [loaded_run(result, result.get_graph()) for result in results]
    with pytest.MonkeyPatch.context() as change:
        change.setattr(pages, "PAGE_LIMITS", (500, 10_000))
        change.setattr(document, "MOST_NAMES", SHOWN)
        change.setattr(tiles, "MOST_NAMES", SHOWN)
        change.setattr(tiles, "CHUNK", 50)
        write_site(root / "deep" / "site", [runs], changed=5)
    (folder,) = (path.parent.name for path in root.glob("deep/site/*/index.html"))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/deep/site/{folder}/index.html"
        server.shutdown()


def places_of_nodes(page: Page) -> dict[int, list[float]]:
    """Where the nodes are that the map draws in sight, in pixels of the page."""
    found = page.evaluate(
        f"""() => {{
        const stage = document.querySelector(".stage");
        const {{ left, top, right, bottom }} = stage.getBoundingClientRect();
        return [...Array(600).keys()].map((node) => [node, {MAP}.node(node)]).filter(([, [u, v]]) =>
          u > left + 20 && u < right - 100 && v > top + 20 && v < bottom - 20);
        }}"""
    )
    return dict(found)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def test_zooming_in_fetches_the_nodes_that_are_there(
    results, site: str, page: Page, console_errors: list[str]
):
    page.goto(site)
    panel = page.locator("#node")
    expect(panel.locator("h2")).to_have_text("Where is the model unsure, and why?", timeout=LONG)
    whole = page.evaluate(f"{MAP}.drawn()")
    assert whole["nodes"] == SHOWN and whole["window"] is None
    expect(page.locator(".count")).to_contain_text("120 of 600 papers drawn: zoom in for more")
    before = places_of_nodes(page)
    page.mouse.move(*next(iter(before.values())))
    for _ in range(4):
        page.mouse.wheel(0, -300)
    page.wait_for_function(f"{MAP}.drawn().window !== null", timeout=LONG)

    # A click on a node that is drawn only now says what the run says of it.
    after = places_of_nodes(page)
    node, (u, v) = next(one for one in after.items() if one[0] not in before)
    page.mouse.click(u, v)
    result = results[0]
    answer = result.get_graph().class_names[result.predicted[node]]
    expect(panel.locator("h2")).to_contain_text(str(node))
    expect(panel.locator(".verdict")).to_contain_text(f"The model says {answer}")
    table = panel.get_by_role("table", name="Probability of each class")
    sure = f"{100 * result.probs[node].max():.1f}"
    expect(table.locator("tr.predicted .number")).to_contain_text(sure)
    linked = int(result.get_graph().degree[node])
    expect(panel.locator("ul.nodes > li")).to_have_count(linked)
    page.evaluate("location.hash = 'node=3'")  # as a link to another node: the whole map again
    page.wait_for_function(f"{MAP}.drawn().window === null", timeout=LONG)
    expect(panel.locator("h2")).to_contain_text("3")
    assert console_errors == []


def test_a_link_opens_a_node_of_any_run_and_other_views_work(
    results, site: str, page: Page, console_errors: list[str]
):
    page.goto(f"{site}#node=587&run=2&colour=degree")
    panel = page.locator("#node")
    expect(panel.locator("h2")).to_contain_text("587", timeout=LONG)
    result = results[1]
    answer = result.get_graph().class_names[result.predicted[587]]
    expect(panel.locator(".verdict")).to_contain_text(f"The model says {answer}")
    scores = panel.get_by_role("table", name="Scores")
    expect(scores.get_by_role("row").nth(1)).to_contain_text("less sure than")
    page.get_by_label("Find").fill("599")
    page.locator(".found button").first.click()
    expect(panel.locator("h2")).to_contain_text("599")
    expect(page.get_by_role("tab", name="Structure")).to_have_count(0)
    page.get_by_role("tab", name="Compare").click()
    expect(page.get_by_role("table", name="599 under each method")).to_contain_text("BUP")
    expect(page.locator("figure .main-svg").first).to_be_attached(timeout=LONG)
    page.get_by_role("tab", name="About").click()
    expect(page.locator("#view")).to_contain_text("The map draws a part of this large graph")
    assert console_errors == []
