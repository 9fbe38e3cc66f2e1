"""The app in a real browser: first paint, hover to lit neighbours, click to updated inspector, a
map of 100,000 nodes that is stored, ten visitors at once.

Headless Chromium draws WebGL in software here, on the cores that also run the server, so these are
upper bounds for a person with a graphics card.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, TimeoutError, expect, sync_playwright

import bup
from bup.io import files
from bup.methods import METHODS
from bup.training import fitting
from dashboard.session.run_link import graph_label
from dashboard.ui.numbers import percent
from tests.bench.large import write_folder
from tests.browser.conftest import FLAGS, _server
from tests.browser.test_journeys import node_on_map, paper_box, settled

LONG = 120_000
CLICKS = 12
HOVERS = 25
VISITORS = 10
LARGE = "synthetic:nodes=100000,mean_degree=6,words=200"
OPENINGS = 5


def run() -> None:
    executable = shutil.which("chromium")
    if executable is None:
        print("skipped: Chromium is not installed")
        return
    for name in ("cora", "pubmed"):
        graph = bup.load_graph(name)
        if fitting.load(_opened(name), graph) is None:
            fitting.save(bup.fit(graph, **METHODS["bup"].app_defaults), graph)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        log = Path(folder) / "log.txt"
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        print(f"hover to a line on an empty page: {_hovers(*_empty(browser))}")
        with _server(None, files.cache_folder(), log) as url:
            for name in ("cora", "pubmed"):
                _measure(browser, url, name)
            _crowd(browser, url)
        _stored(browser, Path(folder) / "large", log)
        browser.close()


def _opened(name: str) -> bup.Spec:
    """The run that the app opens with."""
    return bup.Spec(graph=name, settings=tuple(METHODS["bup"].app_defaults.items()))


def _open(browser: Browser, url: str, label: str) -> tuple[Page, float, float]:
    """A page of a browser that was never here, and seconds until its first words and its map."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    start = time.perf_counter()
    page.goto(f"{url}/?graph={label}")
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
    warm, *_ = _open(browser, url, graph_label(name))
    warm.context.close()
    page, painted, mapped = _open(browser, url, graph_label(name))
    graph = bup.load_graph(name)
    result = fitting.load(_opened(name), graph)
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
        f"among {graph.num_nodes:,}; hover to lit neighbours: {_hovers(page, _places(page))}"
    )
    page.context.close()


# From the pointer's own event until a frame after the one in which `lit` changed was begun.
WAIT_FOR_LIGHT = """() => {
  const host = document.querySelector(".bup-map");
  window.lit = new Promise((done) => {
    let start = null;
    const moved = (event) => (start = event.timeStamp);
    host.addEventListener("pointermove", moved, { capture: true });
    const before = host.dataset.lit;
    new MutationObserver((_, watcher) => {
      if (host.dataset.lit === before || host.dataset.lit === "-1" || start === null) return;
      watcher.disconnect();
      host.removeEventListener("pointermove", moved, { capture: true });
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
    }).observe(host, { attributes: true, attributeFilter: ["data-lit"] });
  });
}"""
EMPTY = """<div class="bup-map" data-lit="-1" style="height: 800px"><canvas></canvas></div><script>
  const host = document.querySelector(".bup-map");
  host.onpointermove = (event) => {
    const ink = document.querySelector("canvas").getContext("2d");
    ink.beginPath();
    ink.lineTo(0, 0);
    ink.lineTo(event.clientX, event.clientY);
    ink.stroke();
    host.dataset.lit = `${event.clientX},${event.clientY}`;
  };
</script>"""


def _empty(browser: Browser) -> tuple[Page, list[tuple[float, float]]]:
    """A page that does next to nothing when one hovers: what the browser itself needs."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_content(EMPTY)
    random = np.random.RandomState(0)
    return page, [(float(x), float(y)) for x, y in random.randint(50, 700, (HOVERS, 2))]


def _places(page: Page) -> list[tuple[float, float]]:
    """Where on the screen some of the nodes that are drawn are."""
    inside = """many => {
      const { map } = document.querySelector(".bup-map");
      const box = document.querySelector(".bup-map .stage").getBoundingClientRect();
      const { nodes } = map.drawn();
      return Array.from({ length: many }, (_, k) => map.node(Math.floor((k * nodes) / many)))
        .filter(([x, y]) => x > box.left && x < box.right - 60 && y > box.top && y < box.bottom);
    }"""
    return [(x, y) for x, y in page.evaluate(inside, HOVERS)]


def _hovers(page: Page, places: list[tuple[float, float]]) -> str:
    milliseconds = []
    for x, y in places:
        page.mouse.move(5, 5)
        page.wait_for_timeout(60)
        page.evaluate(WAIT_FOR_LIGHT)
        page.mouse.move(x, y)
        try:
            page.wait_for_function("window.lit.then((ms) => (window.took = ms))", timeout=3000)
        except TimeoutError:  # it is below another, which was lit before
            continue
        milliseconds.append(page.evaluate("window.took"))
    middle, most = statistics.median(milliseconds), max(milliseconds)
    return f"median of {len(milliseconds)} {middle:.0f} ms (most {most:.0f} ms)"


def _stored(browser: Browser, folder: Path, log: Path) -> None:
    """A folder of 100,000 nodes, of which run and layout are stored: opened anew."""
    folder.mkdir()
    write_folder(bup.load_graph(LARGE), folder)
    os.environ["BUP_FOLDERS"] = str(folder)
    cache = files.cache_folder()
    with _server(None, cache, log) as url:  # it is trained and drawn
        page, *_ = _open(browser, url, folder.name)
        expect(page.get_by_text("A first sketch of the map")).to_have_count(0, timeout=10 * LONG)
        settled(page)
        page.context.close()
    with _server(None, cache, log) as url:
        _, _, first = _open(browser, url, folder.name)
        mapped = []
        for _ in range(OPENINGS):
            page, _, seconds = _open(browser, url, folder.name)
            mapped.append(seconds)
            lit = _hovers(page, _places(page))
            page.context.close()
        small = []
        for _ in range(OPENINGS):
            page, _, seconds = _open(browser, url, graph_label("cora"))
            small.append(seconds)
            page.context.close()
    middle, beside = statistics.median(mapped), statistics.median(small)
    print(
        f"100,000 nodes, stored: map {middle:.2f} s, median of {OPENINGS} ({middle / beside:.1f} "
        f"times Cora's {beside:.2f} s); the first visitor after a start {first:.2f} s; hover to "
        f"lit neighbours: {lit}"
    )


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
