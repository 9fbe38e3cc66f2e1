"""A real browser against a real server; both end with the tests that started them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support import ROOT

# A script of the tests, with everything that surrounds the app.
SERVE = """
import socket, sys
from dashboard.server import serving

serving.application()  # the first one chooses the options
app = serving.application(sys.argv[1])
serving.serve(app, socket.create_server(("localhost", int(sys.argv[2]))))
"""
HERE = {"localhost", "127.0.0.1"}
FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # No name but our own resolves: even a request that a test overlooks goes nowhere.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
]

Serve = Callable[..., str]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, driven by Playwright."""
    executable = shutil.which("chromium")
    if executable is None:
        refuse = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        refuse("browser tests need Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@pytest.fixture
def console_errors() -> list[str]:
    """What the page of this test complained about so far."""
    return []


@pytest.fixture
def page(chromium: Browser, console_errors: list[str]) -> Iterator[Page]:
    """A new page at 1440 x 900; the test fails if it asks any other machine for anything."""
    asked: list[str] = []
    # Without motion there is no animation to wait for.
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    try:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("websocket", lambda socket: asked.append(socket.url))
        page.on("pageerror", lambda error: console_errors.append(str(error)))
        page.on(
            "console",
            lambda message: message.type == "error" and console_errors.append(message.text),
        )
        yield page
    finally:
        context.close()
    outside = [url for url in asked if is_outside(url)]
    assert not outside, f"the page asked other machines: {outside}"
    refused = [error for error in console_errors if "Content Security Policy" in error]
    assert not refused, f"the page does not keep to its own policy: {refused}"


def is_outside(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in {"http", "https", "ws", "wss", "ftp"} and parts.hostname not in HERE


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """``serve(app=None, cache=None)`` serves the app, or a script, and returns its address.

    ``cache`` becomes the server's BUP_CACHE; without it the server shares the tests' own.
    ``streamlit=True`` starts the app with Streamlit's own command.
    """
    with contextlib.ExitStack() as servers:
        log = tmp_path_factory.mktemp("server") / "log.txt"
        yield lambda app=None, cache=None, streamlit=False: servers.enter_context(
            _server(app, cache, streamlit, log)
        )


@contextlib.contextmanager
def _server(app: Path | None, cache: Path | None, streamlit: bool, log: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "STREAMLIT_SERVER_HEADLESS": "true"}
    if cache is not None:
        environment["BUP_CACHE"] = str(cache)
    command = [sys.executable, "-m", "bup.cli", "dashboard", "--no-prepare", "--port", str(port)]
    if app is not None:
        command = [sys.executable, "-c", SERVE, str(app), str(port)]
    if streamlit:
        command = [sys.executable, "-m", "streamlit", "run", "dashboard/app.py"]
        command += ["--server.port", str(port)]
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a group of its own, so that its children end with it
        )
    try:
        url = f"http://localhost:{port}"
        _wait_until_healthy(f"{url}/_stcore/health", process, log)
        yield url
    finally:
        _end(process)


def _wait_until_healthy(url: str, process: subprocess.Popen, log: Path) -> None:
    for _ in range(600):
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2) as answer:
            if answer.status == 200:
                return
        time.sleep(0.1)
    pytest.fail(f"the server did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")


def _end(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
