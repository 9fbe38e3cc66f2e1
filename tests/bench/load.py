"""A class opens the app: how long each waits, what is sent, what the server keeps. See --help.

    python -m tests.bench.load --visitors 1 10 30 50 100
    python -m tests.bench.load --visitors 50 --against PATH   # another checkout, in turn
    python -m tests.bench.load --visitors 30 --lessons        # each opens one lesson after another
    python -m tests.bench.load --visitors 50 --class          # students guess, a lecturer watches

Everything stays on this machine, which also plays the visitors: seconds are upper bounds, and
only those of one run can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from dashboard.classroom.guessing import SECONDS
from dashboard.classroom.polling import LEAD
from dashboard.classroom.register import Register
from dashboard.learn.lesson import LESSONS
from tests.bench.visitor import Failed, Visitor
from tests.support import ROOT

CLICKS = 4
COLOURS = ("Confidence", "Degree")
QUESTION = "learn-2-message"
GUESSING = 5.0  # seconds in which a class guesses
LONGEST = 300.0  # seconds for all that one visitor does


class Log:
    """What was waited for, in seconds, and what went wrong."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.said: dict[str, list[int]] = defaultdict(list)  # bytes of messages
        self.sent: dict[str, list[int]] = defaultdict(list)  # and over the wire
        self.fetched: list[int] = []
        self.errors: list[str] = []

    async def time(self, what: str, visitor: Visitor, doing: Awaitable[None]) -> None:
        start, said, sent = time.perf_counter(), visitor.said, visitor.sent
        await doing
        self.seconds[what].append(time.perf_counter() - start)
        self.said[what].append(visitor.said - said)
        self.sent[what].append(visitor.sent - sent)

    def table(self) -> None:
        print(f"  {'':<19} {'P50 s':>7} {'P95 s':>7} {'most':>7} {'kB':>7} {'on wire':>8} times")
        for what, values in self.seconds.items():
            said, sent = (statistics.median(b[what] or [0]) / 1000 for b in (self.said, self.sent))
            print(
                f"  {what:<19} {statistics.median(values):7.2f} {_share(values, 0.95):7.2f} "
                f"{max(values):7.2f} {said:7.1f} {sent:8.1f} {len(values):5d}"
            )


def _share(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


Pause = Callable[[], Awaitable[None]]


async def explore(visitor: Visitor, chance: random.Random, pause: Pause, log: Log) -> None:
    """First page, clicks, another colour, another page; one in ten trains a model."""
    await log.time("first page", visitor, arrive(visitor))
    log.fetched.append(visitor.fetched)
    for _ in range(CLICKS):
        await pause()
        await log.time("click", visitor, visitor.pick(chance.randrange(2708)))
    await pause()
    await log.time("colour", visitor, visitor.colour(chance.choice(COLOURS)))
    await pause()
    await log.time("page", visitor, visitor.go("reliability"))


async def train(visitor: Visitor, chance: random.Random, pause: Pause, log: Log) -> None:
    await explore(visitor, chance, pause, log)
    await pause()
    seed = random.randrange(10**9)  # which nobody trained before, in other measurements
    await log.time("training", visitor, visitor.train(seed))


async def learn(visitor: Visitor, chance: random.Random, pause: Pause, log: Log) -> None:
    """Lesson after lesson, each visitor in an order of her own."""
    await arrive(visitor)
    for lesson in chance.sample(LESSONS, len(LESSONS)):
        await pause()
        await log.time(lesson.address, visitor, visitor.go(lesson.address))
        log.seconds["any lesson"].append(log.seconds[lesson.address][-1])


async def arrive(visitor: Visitor, page: str = "", query: str = "") -> None:
    await visitor.__aenter__()
    await visitor.open(page, query)


Plan = Callable[[Visitor, random.Random, Pause, Log], Awaitable[None]]


async def visit(url: str, number: int, think: float, plan: Plan, log: Log) -> None:
    chance, visitor = random.Random(number), Visitor(url)

    async def pause() -> None:
        await asyncio.sleep(chance.uniform(0.5, 1.5) * think)

    try:
        async with asyncio.timeout(LONGEST):
            await plan(visitor, chance, pause, log)
    except (Failed, OSError, asyncio.IncompleteReadError, TimeoutError) as error:
        log.errors.append(f"visitor {number}: {error or type(error).__name__}")
    except Exception as error:
        log.errors.append(f"visitor {number}: {type(error).__name__}: {error}")
    finally:
        with contextlib.suppress(Exception):
            await visitor.__aexit__()


async def crowd(url: str, visitors: int, options: argparse.Namespace, log: Log) -> None:
    """All come in the same moment."""
    plans = [train if options.training and n % 10 == 0 else explore for n in range(visitors)]
    if options.lessons:
        plans = [learn] * visitors
    if options.in_class:
        await classroom(url, visitors, log)
    else:
        visits = (visit(url, n, options.think, plan, log) for n, plan in enumerate(plans))
        await asyncio.gather(*visits)


async def classroom(url: str, students: int, log: Log) -> None:
    """All join, then guess within a few seconds; until every guess is on the lecturer's screen."""
    register = Register()
    lead, everybody = register.start(), asyncio.Barrier(students + 1)
    clicked: list[float] = []

    async def student(visitor: Visitor, chance: random.Random, pause: Pause, log: Log) -> None:
        await log.time("join", visitor, arrive(visitor, QUESTION, f"code={lead.code}"))
        await everybody.wait()
        await asyncio.sleep(chance.uniform(0, GUESSING))
        clicked.append(time.perf_counter())
        await log.time("guess", visitor, visitor.guess(chance))

    async def lecturer(visitor: Visitor, chance: random.Random, pause: Pause, log: Log) -> None:
        await arrive(visitor, "class", f"lead={lead.code}.{lead.key}")
        await everybody.wait()
        seen = 0
        while seen < students:
            await asyncio.sleep(SECONDS)
            found = re.search(r"(\d+) guess", await visitor.hear(lead.code, LEAD))
            count = int(found[1]) if found else 0
            log.seconds["on screen"] += [time.perf_counter() - at for at in clicked[seen:count]]
            seen = max(seen, count)

    plans = [lecturer, *[student] * students]
    await asyncio.gather(*(visit(url, n, 0, plan, log) for n, plan in enumerate(plans)))
    register.end(lead)


# In a process of its own: what it waits for is the server's loop, not that of the visitors.
PROBE = """
import http.client, sys, time
connection, longest = http.client.HTTPConnection(sys.argv[1], timeout=60), 0.0
print(flush=True)
while True:
    start = time.perf_counter()
    connection.request("GET", "/_stcore/health")
    connection.getresponse().read()
    longest = max(longest, time.perf_counter() - start)
    print(f"{longest:.2f}", flush=True)
    time.sleep(0.02)
"""


@contextlib.contextmanager
def probing(url: str) -> Iterator[Callable[[], str]]:
    """Ask for next to nothing all the while; how long, in seconds, the longest of it took."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        command = [sys.executable, "-c", PROBE, url.partition("//")[2]]
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.DEVNULL)

        def longest() -> str:
            said.seek(0)
            return said.read().split()[-1]

        try:
            yield longest
        finally:
            process.kill()
            process.wait()


def watch(url: str, browsers: int, log: Log) -> None:
    """The same in real browsers: until the map is drawn, and until a click is on the page."""
    from playwright.sync_api import Error, sync_playwright

    from tests.browser.conftest import FLAGS

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for _ in range(browsers):
            page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
            try:
                start = time.perf_counter()
                page.goto(url, timeout=120_000)
                page.wait_for_selector(".bup-map[data-picked]", timeout=120_000)
                log.seconds["browser: map"].append(time.perf_counter() - start)
            except Error as error:
                log.errors.append(f"browser: {str(error).splitlines()[0]}")
            page.context.close()
        chromium.close()


@contextlib.contextmanager
def server(checkout: Path, extra: list[str]) -> Iterator[tuple[str, int]]:
    """The app of a checkout, as its users start it: its address and the id of its process."""
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    if (checkout / "dashboard" / "command.py").exists():
        command = ["-m", "bup.cli", "dashboard", "--no-prepare", "--port", port, *extra]
    else:
        command = ["-m", "streamlit", "run", "dashboard/app.py", "--server.port", port]
    environment = os.environ | {
        "PYTHONPATH": str(checkout),
        "STREAMLIT_SERVER_HEADLESS": "true",
        "OMP_NUM_THREADS": "1",
    }
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=checkout,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            url = f"http://localhost:{port}"
            asyncio.run(_first_visit(url, process))
            yield url, process.pid
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=30)


async def _first_visit(url: str, process: subprocess.Popen) -> None:
    """Until the app answers, its first model is trained and everything is loaded."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(Failed, OSError, ValueError):
            async with Visitor(url) as visitor:
                await visitor.open()
                await visitor.pick(0)  # only a trained page has a map to click on
                await visitor.go("reliability")
                return
        await asyncio.sleep(1)
    raise SystemExit("the server does not answer")


def memory(pid: int) -> float:
    """Resident megabytes of the server."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS"))


def effort(pid: int) -> float:
    """Seconds of work that the server has done; unlike waiting, no neighbour lengthens them."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(checkout: Path, options: argparse.Namespace) -> dict[int, Log]:
    logs = {}
    with server(checkout, options.serve) as (url, pid):
        for visitors in options.visitors:
            log, before, worked = Log(), memory(pid), effort(pid)
            watching = threading.Thread(target=watch, args=(url, options.browsers, log))
            if options.browsers:
                watching.start()
            with probing(url) as longest:
                asyncio.run(crowd(url, visitors, options, log))
                held = longest()
            if options.browsers:
                watching.join()
            fetched = statistics.median(log.fetched or [0]) / 1000
            print(
                f"\n{visitors} visitors: {len(log.errors)} errors, each fetched {fetched:.0f} kB "
                f"of files, memory {before:.0f} -> {memory(pid):.0f} MB, "
                f"{(effort(pid) - worked) / visitors:.2f} s of work each, loop held at most "
                f"{held} s"
            )
            log.table()
            for error in sorted(set(log.errors))[:5]:
                print(f"  {error}")
            logs[visitors] = log
    return logs


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--visitors", type=int, nargs="+", default=[1, 10, 30, 50, 100])
    parser.add_argument("--think", type=float, default=3.0, help="mean seconds between clicks")
    parser.add_argument("--browsers", type=int, default=2, help="real ones beside each crowd")
    parser.add_argument("--lessons", action="store_true", help="they open lessons")
    parser.add_argument("--class", dest="in_class", action="store_true", help="they are a class")
    parser.add_argument("--no-training", dest="training", action="store_false")
    parser.add_argument("--against", type=Path, help="another checkout, measured first")
    parser.add_argument("--serve", nargs="*", default=[], help="options of bup dashboard")
    options = parser.parse_args()
    before = {}
    if options.against:
        print(f"# {options.against}")
        before = measure(options.against.resolve(), options)
        print("\n# this one")
    after = measure(ROOT, options)
    for visitors in before:
        for what in ("first page", "click", "colour", "page"):
            was, now = before[visitors].seconds.get(what), after[visitors].seconds.get(what)
            if was and now:
                ratio = statistics.median(was) / statistics.median(now)
                print(f"{visitors} visitors, {what}: {ratio:.1f} times as fast")


if __name__ == "__main__":
    main()
