"""The app in a real browser: first paint, click to updated inspector, ten visitors at once.

Headless Chromium draws WebGL in software here, on the cores that also run the server, so these are
upper bounds for a person with a graphics card.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, expect, sync_playwright

import bup
from bup import files, runs
from dashboard import layouts
from dashboard.state import graph_label
from tests.browser.conftest import APP, FLAGS, _server
from tests.browser.test_journeys import node_on_map, paper_box, settled

LONG = 120_000
CLICKS = 12
VISITORS = 10


def run() -> None:
    executable = shutil.which("chromium")
    if executable is None:
        print("skipped: Chromium is not installed")
        return
    for name in ("cora", "pubmed"):
        graph = bup.load_graph(name)
        if runs.stored(bup.Spec(graph=name), graph) is None:
            runs.keep(bup.fit(graph), graph)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        log = Path(folder) / "log.txt"
        with _server(APP, files.cache_folder(), log) as url:
            browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
            for name in ("cora", "pubmed"):
                _measure(browser, url, name)
            _crowd(browser, url)
            browser.close()


def _open(browser: Browser, url: str, name: str) -> tuple[Page, float]:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    start = time.perf_counter()
    page.goto(f"{url}/?graph={graph_label(name)}")
    expect(page.get_by_role("heading", name="Where is the model unsure")).to_be_visible(
        timeout=LONG
    )
    painted = time.perf_counter() - start
    page.wait_for_selector(".st-key-map .js-plotly-plot .main-svg", timeout=LONG)
    settled(page)
    return page, painted


def _measure(browser: Browser, url: str, name: str) -> None:
    warm, _ = _open(browser, url, name)
    warm.context.close()
    page, painted = _open(browser, url, name)
    graph = bup.load_graph(name)
    places = layouts.positions(graph)
    random = np.random.RandomState(0)
    seconds, right = [], 0
    for node in random.choice(graph.num_nodes, CLICKS, replace=False):
        x, y = node_on_map(page, int(node))
        page.mouse.move(x - 4, y - 4)
        page.mouse.move(x, y, steps=4)
        page.wait_for_timeout(700)
        before = paper_box(page).input_value()
        start = time.perf_counter()
        page.mouse.click(x, y)
        try:
            expect(paper_box(page)).not_to_have_value(before, timeout=10_000)
            now = paper_box(page).input_value()
            heading = page.get_by_role("heading", name=f"Paper {now}", exact=True)
            expect(heading).to_be_visible(timeout=10_000)
        except AssertionError:
            continue
        seconds.append(time.perf_counter() - start)
        right += now == graph.node_id(int(node))
        settled(page)
    print(
        f"{name}: first paint {painted:.2f} s; click to updated inspector, median of "
        f"{len(seconds)}: {statistics.median(seconds):.2f} s (most {max(seconds):.2f} s); "
        f"{right} of {CLICKS} clicks picked the very node aimed at, among {len(places):,}"
    )
    page.context.close()


def _crowd(browser: Browser, url: str) -> None:
    """Ten visitors open the app, and each picks a paper."""
    start = time.perf_counter()
    pages = [browser.new_context().new_page() for _ in range(VISITORS)]
    for number, page in enumerate(pages):
        page.goto(f"{url}/?seed=0&colour=Confidence&node={[35, 1033, 40, 114, 128][number % 5]}")
    for page in pages:
        expect(page.get_by_text("The model says").first).to_be_visible(timeout=LONG)
        assert page.get_by_test_id("stException").count() == 0
    seconds = time.perf_counter() - start
    print(f"{VISITORS} visitors at once: all served without an error in {seconds:.1f} s")
    for page in pages:
        page.context.close()
