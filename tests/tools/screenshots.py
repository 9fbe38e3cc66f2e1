"""The pictures of the README, taken from the running app: make screenshots."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Browser

import bup
from bup.io import files
from bup.methods import METHODS
from bup.training import fitting
from tests.browser.conftest import _server
from tests.support import ROOT
from tests.tools.browser import chromium

FOLDER = ROOT / "assets" / "screenshots"
LONG = 120_000

VIEWS = {
    "explore": ("?node=1033", "light"),
    "reliability": ("reliability?rival=GCN", "light"),
    "unseen": ("ood?left_out=Rule+Learning", "light"),
    "structure": ("structure", "dark"),
    "learn": ("learn-3-travel", "light"),
}
"""File name -> address and colours."""


def main() -> None:
    graph = bup.load_graph("cora")
    for method in ("bup", "gcn"):
        for left_out in ((), (6,)):
            opened = METHODS[method].app_defaults
            spec = bup.Spec(method=method, left_out=left_out, settings=tuple(opened.items()))
            if fitting.load(spec, graph) is None:
                fitting.save(bup.fit(graph, method, left_out=left_out, **opened), graph)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium() as browser,
        _server(None, files.cache_folder(), False, Path(folder) / "log.txt") as url,
    ):
        for name, (address, colours) in VIEWS.items():
            _take(browser, f"{url}/{address}", colours, FOLDER / f"{name}.png")


def _take(browser: Browser, url: str, colours: str, path: Path) -> None:
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, color_scheme=colours, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("h1", timeout=LONG)
    # Nothing runs any more, and what was sent is drawn.
    page.wait_for_selector("[data-testid=stStatusWidget]", state="detached", timeout=LONG)
    page.wait_for_timeout(8000)
    page.screenshot(path=path)
    print(path)
    context.close()


if __name__ == "__main__":
    main()
