"""A site of runs, served from a folder below the root of a host that only hands out files."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

import bup
from dashboard.export.missing_links import least_sure
from dashboard.export.site import write_site
from tests.support.exports import loaded_run

LONG = 60_000


@pytest.fixture(scope="module")
def result() -> bup.Result:
    graph = bup.load_graph("synthetic:nodes=240,classes=3,words=60")
    return bup.fit(graph, per_class=5, validation=30, epochs=20)


@pytest.fixture(scope="module")
def site(result, tmp_path_factory) -> Iterator[str]:
    """The address of a site with two graphs."""
    root = tmp_path_factory.mktemp("host")
    (root / "deep").mkdir()
    graph = bup.load_graph("synthetic:nodes=90,classes=2,words=20")
    probs = np.full((90, 2), [0.6, 0.4])
    other = bup.fit(graph, model=lambda g, s: probs, per_class=5, validation=20, test=None)
    groups = [[loaded_run(run, run.get_graph())] for run in (result, other)]
    write_site(root / "deep" / "site", groups, changed=20)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/deep/site/"
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_site_below_a_path_explains_nodes_by_files_alone(
    result, site: str, page: Page, console_errors: list[str]
):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site)
    expect(page.locator("section")).to_have_count(2)
    page.get_by_role("link", name="BUP").click()
    panel = page.locator("#node")
    expect(panel.locator("h2")).to_have_text("Where is the model unsure, and why?", timeout=LONG)
    assert not any("plotly" in url for url in asked)  # fetched with the first chart
    graph = result.get_graph()
    order = least_sure(loaded_run(result, graph), 240)
    node = next(n for n in order[:20].tolist() if graph.degree[n])
    page.evaluate(f"location.hash = 'node={graph.node_id(node)}'")
    expect(panel.get_by_role("table", name="Contributions")).to_be_visible()
    missing = panel.get_by_role("table", name="What if a link were missing?")
    expect(missing.get_by_role("row").nth(1)).to_contain_text("% sure")

    sure = graph.node_id(int(order[-1]))
    page.evaluate(f"location.hash = 'node={sure}'")
    expect(panel).to_contain_text("for the 20 papers with the least sure answers")
    page.get_by_role("tab", name="Reliability").click()
    expect(page.locator("figure .main-svg").first).to_be_attached(timeout=LONG)

    # Who comes by the link sees the same node and the same view.
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(panel.locator("h2")).to_contain_text(sure, timeout=LONG)
    expect(page.get_by_role("tab", name="Reliability")).to_have_attribute("aria-selected", "true")
    assert all(url.startswith(site) or url == "about:blank" for url in asked)
    assert console_errors == []


def test_a_run_without_reasons_says_why(site: str, page: Page):
    page.goto(site)
    page.locator("section").nth(1).get_by_role("link").first.click()
    page.locator("#wait").wait_for(state="detached", timeout=LONG)
    page.evaluate("location.hash = 'node=3'")
    expect(page.locator("#node")).to_contain_text("came without their model")
