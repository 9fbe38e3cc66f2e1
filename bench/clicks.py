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
from playwright.sync_api import Browser, Page, TimeoutError, expect, sync_playwright

import bup
from bup import files, runs
from bup.methods import METHODS
from dashboard.figures.classes import percent
from dashboard.state import graph_label
from tests.browser.conftest import FLAGS, _server
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
        if runs.load(_opened(name), graph) is None:
            runs.save(bup.fit(graph, **METHODS["bup"].opens_with), graph)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        log = Path(folder) / "log.txt"
        with _server(None, files.cache_folder(), log) as url:
            browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
            for name in ("cora", "pubmed"):
                _measure(browser, url, name)
            _crowd(browser, url)
            browser.close()


def _opened(name: str) -> bup.Spec:
    """The run that the app opens with."""
    return bup.Spec(graph=name, settings=tuple(METHODS["bup"].opens_with.items()))


def _open(browser: Browser, url: str, name: str) -> tuple[Page, float, float]:
    """A page of a browser that was never here, and seconds until its first words and its map."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    start = time.perf_counter()
    page.goto(f"{url}/?graph={graph_label(name)}")
    title = page.get_by_role("heading", name="Where is the model unsure")
    expect(title).to_be_visible(timeout=LONG)
    painted = time.perf_counter() - start
    page.wait_for_selector(".bup-map[data-frame]", timeout=LONG)
    mapped = time.perf_counter() - start
    settled(page)
    return page, painted, mapped


# Both the heading and the probabilities of another paper than before, as they are on the screen.
UPDATED = """before => {
  const shown = (element) => element?.checkVisibility() ? element.innerText.trim() : null;
  const titles = [...document.querySelectorAll("h2")].map(shown);
  const now = titles.find((title) => title?.startsWith("Paper "))?.slice("Paper ".length);
  const table = document.querySelector("table.classes");
  const numbers = [...(table?.querySelectorAll(".number") ?? [])];
  return now && now !== before && numbers.map(shown).join() === window.expected[now] && now;
}"""


def _measure(browser: Browser, url: str, name: str) -> None:
    warm, *_ = _open(browser, url, name)
    warm.context.close()
    page, painted, mapped = _open(browser, url, name)
    graph = bup.load_graph(name)
    result = runs.load(_opened(name), graph)
    assert result is not None
    numbers = [",".join(percent(p) for p in row) for row in result.probs]
    texts = {graph.node_id(i): text for i, text in enumerate(numbers)}
    page.evaluate("texts => { window.expected = texts; }", texts)
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
            # Asked at every frame: Playwright's own waiting looks only every half second or so.
            now = page.wait_for_function(UPDATED, arg=before, polling="raf", timeout=10_000)
        except TimeoutError:
            continue
        seconds.append(time.perf_counter() - start)
        right += now.json_value() == graph.node_id(int(node))
        settled(page)
    print(
        f"{name}: first paint {painted:.2f} s, map {mapped:.2f} s; click to updated inspector, "
        f"median of {len(seconds)}: {statistics.median(seconds):.2f} s "
        f"(most {max(seconds):.2f} s); {right} of {CLICKS} clicks picked the very node aimed at, "
        f"among {graph.num_nodes:,}"
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
