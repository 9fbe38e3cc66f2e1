"""``bup.show`` in a real JupyterLab: python -m tests.tools.jupyterlab --python ENV/bin/python.

JupyterLab is no requirement of the tests, so that environment has to bring it beside this package:
it picks a node, draws a lasso, picks from Python, and opens the notebook as a plain HTML page.
"""

import argparse
import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Frame, Page, expect

from tests.support import ROOT
from tests.tools.browser import chromium

LONG = 120_000
CELLS = [
    "import bup\n"
    "result = bup.fit('synthetic:nodes=200,classes=3,words=60', per_class=5, epochs=20)\n"
    "widget = bup.show(result)\n"
    "widget",
    "print('SELECTED', widget.selection)",
    "widget.selection = {'node': 11}",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="Python of an environment with jupyterlab")
    parser.add_argument("--picture", type=Path, help="where to store a picture of the notebook")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name)
        _write(folder / "map.ipynb")
        page = browser.new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
        with _jupyterlab(arguments.python, folder) as url:
            page.goto(f"{url}/lab/tree/map.ipynb")
            _check_notebook(page)
            if arguments.picture:
                page.screenshot(path=arguments.picture)
            page.keyboard.press("Control+s")
            page.wait_for_timeout(3000)
        _convert(arguments.python, folder)
        page.goto((folder / "map.html").as_uri())
        frame = _map_frame(page)
        frame.locator("#node h2").wait_for(timeout=LONG)
        print("the notebook as HTML shows the same page")


def _write(path: Path) -> None:
    cells = [
        {
            "cell_type": "code",
            "source": text,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for text in CELLS
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    path.write_text(json.dumps(book), encoding="utf-8")


@contextlib.contextmanager
def _jupyterlab(python: str, folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}", "--ip=127.0.0.1"]
    at_home = {"PYTHONPATH": str(ROOT), "HOME": str(folder), "BUP_CACHE": str(folder / "cache")}
    with (folder / "log.txt").open("wb") as log:
        server = subprocess.Popen(command, env=os.environ | at_home, stdout=log, stderr=log)
    try:
        url = f"http://localhost:{port}"
        for _ in range(600):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/api", timeout=2):
                break
            time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait(20)


def _check_notebook(page: Page) -> None:
    cells = page.locator(".jp-CodeCell")
    expect(cells).to_have_count(len(CELLS), timeout=LONG)
    _run(page, 0)
    frame = _map_frame(page)
    frame.locator("#node h2").wait_for(timeout=LONG)
    page.wait_for_timeout(2000)

    box = page.locator("iframe[title=Map]").bounding_box()
    at = frame.evaluate("document.querySelector('.bup-map').map.node(7)")
    page.mouse.click(box["x"] + at[0], box["y"] + at[1])
    expect(frame.locator("#node h2")).to_contain_text("7")
    assert "'node': 7, 'lasso': []" in _selection(page)
    print("a click in the cell is widget.selection")

    _lasso(page, frame)
    said = _selection(page)
    assert said.count(",") > 20, said
    print("a lasso in the cell is widget.selection")

    _run(page, 2)
    expect(frame.locator("#node h2")).to_contain_text("11", timeout=LONG)
    assert "'node': 11, 'lasso': []" in _selection(page)
    print("a node set in Python is picked in the cell")


def _lasso(page: Page, frame: Frame) -> None:
    box = page.locator("iframe[title=Map]").bounding_box()
    stage = frame.locator(".bup-map canvas").first.bounding_box()
    left, top = stage["x"] + 20, stage["y"] + 60
    right, low = stage["x"] + stage["width"] - 60, stage["y"] + stage["height"] - 20
    assert left > box["x"]
    page.keyboard.down("Shift")
    page.mouse.move(left, top)
    page.mouse.down()
    for corner in ((right, top), (right, low), (left, low), (left, top)):
        page.mouse.move(*corner, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(frame.locator("#node h2")).to_contain_text("drawn around")


def _run(page: Page, number: int) -> None:
    editor = page.locator(".jp-CodeCell .cm-content").nth(number)
    editor.click()
    page.keyboard.press("Control+Enter")


def _selection(page: Page) -> str:
    page.wait_for_timeout(500)
    _run(page, 1)
    page.wait_for_timeout(1500)
    said = page.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea-output")
    expect(said).to_contain_text("SELECTED", timeout=LONG)
    return said.inner_text()


def _map_frame(page: Page) -> Frame:
    handle = page.locator("iframe[title=Map]").element_handle(timeout=LONG)
    return handle.content_frame()


def _convert(python: str, folder: Path) -> None:
    command = [python, "-m", "nbconvert", "--to", "html", "--log-level=ERROR", "map.ipynb"]
    subprocess.run(command, cwd=folder, check=True)


if __name__ == "__main__":
    main()
