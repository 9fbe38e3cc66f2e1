"""A class of fifty: guesses within five seconds, and when they are on the lecturer's screen.

The lecturer's browser is real. The students are threads of another process than the server's: each
asks for news as a phone does, and guesses once through the register that server processes share.
"""

from __future__ import annotations

import random
import shutil
import statistics
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from bup import files
from dashboard.classes.question import Question
from dashboard.classes.register import Lead, Register
from tests.browser.conftest import FLAGS, _server

STUDENTS = 50
SECONDS = 5.0
EVERY = 2.0  # seconds between a phone's looks for news
TARGET = 2.0
LONG = 120_000
QUESTION = Question("bench", "What will it be?", ("less", "the same", "more"), 1)

# Notes the moment of every number of guesses that is on the screen.
WATCH = """() => {
  window.seen = [];
  new MutationObserver(() => {
    const found = document.body.innerText.match(/(\\d+) guess(es)? so far/);
    if (found) window.seen.push([Date.now() / 1000, Number(found[1])]);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""


def run() -> None:
    executable = shutil.which("chromium")
    if executable is None:
        print("skipped: Chromium is not installed")
        return
    register = Register()
    lead = register.start()
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        _server(None, files.cache_folder(), Path(folder) / "log.txt") as url,
    ):
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        page = browser.new_page()
        page.goto(f"{url}/class?lead={lead.code}.{lead.key}")
        expect(page.locator("img.qr")).to_be_visible(timeout=LONG)
        register.ask(lead, QUESTION)
        expect(page.get_by_text("0 guesses so far")).to_be_visible(timeout=LONG)
        page.evaluate(WATCH)
        guessed, looks = _play(register, lead, url)
        expect(page.get_by_text(f"{STUDENTS} guesses so far")).to_be_visible(timeout=LONG)
        seen = page.evaluate("window.seen")
        browser.close()
    register.end(lead)
    waits = [
        next(at for at, count in seen if count >= number) - moment
        for number, moment in enumerate(sorted(guessed), 1)
    ]
    print(
        f"{STUDENTS} guesses in {SECONDS:.0f} s, on the lecturer's screen after (target {TARGET} "
        f"s): P50 {statistics.median(waits):.2f} s, P95 {_late(waits):.2f} s, most "
        f"{max(waits):.2f} s"
    )
    print(
        f"{len(looks)} looks for news by {STUDENTS} phones: P50 "
        f"{1000 * statistics.median(looks):.0f} ms, P95 {1000 * _late(looks):.0f} ms"
    )


def _late(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


def _play(register: Register, lead: Lead, url: str) -> tuple[list[float], list[float]]:
    """The moments of all guesses, and how long each look for news took."""
    guessed: list[float] = []
    looks: list[float] = []
    begin = time.monotonic() + 1

    def student() -> None:
        who = register.join(lead.code)
        moment = begin + SECONDS * random.random()
        look = begin + EVERY * random.random()
        while time.monotonic() < begin + SECONDS + EVERY:
            if moment and time.monotonic() >= moment:
                register.guess(lead.code, who, QUESTION, random.randrange(3))
                guessed.append(time.time())
                moment = 0.0
            if time.monotonic() >= look:
                start = time.monotonic()
                urllib.request.urlopen(f"{url}/class-news/{lead.code}", timeout=30).read()
                looks.append(time.monotonic() - start)
                look += EVERY
            time.sleep(0.02)

    threads = [threading.Thread(target=student) for _ in range(STUDENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return guessed, looks
