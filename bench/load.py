"""A class opens the app: how long each waits, what is sent, what the server keeps. See --help.

    python -m bench.load --visitors 1 10 30 50 100
    python -m bench.load --visitors 50 --against PATH   # of another checkout, one after the other

Everything stays on this machine, which also plays the visitors: seconds are upper bounds, and
only those of one run can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Iterator
from pathlib import Path

from bench.visitor import Failed, Visitor

HERE = Path(__file__).parent.parent
CLICKS = 4
COLOURS = ("Confidence", "Degree")


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
        print(f"  {'':<12} {'P50 s':>7} {'P95 s':>7} {'most':>7} {'kB':>7} {'on wire':>8} times")
        for what, values in self.seconds.items():
            said, sent = (statistics.median(b[what] or [0]) / 1000 for b in (self.said, self.sent))
            print(
                f"  {what:<12} {statistics.median(values):7.2f} {_share(values, 0.95):7.2f} "
                f"{max(values):7.2f} {said:7.1f} {sent:8.1f} {len(values):5d}"
            )


def _share(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


async def visit(url: str, number: int, think: float, trains: bool, log: Log) -> None:
    """First page, clicks, another colour, another page and back; some train a model."""
    chance = random.Random(number)

    async def thinking() -> None:
        await asyncio.sleep(chance.uniform(0.5, 1.5) * think)

    visitor = Visitor(url)

    async def arrive() -> None:
        await visitor.__aenter__()
        await visitor.open()

    try:
        await log.time("first page", visitor, arrive())
        log.fetched.append(visitor.fetched)
        for _ in range(CLICKS):
            await thinking()
            await log.time("click", visitor, visitor.pick(chance.randrange(2708)))
        await thinking()
        await log.time("colour", visitor, visitor.colour(chance.choice(COLOURS)))
        await thinking()
        await log.time("page", visitor, visitor.go("reliability"))
        if trains:
            await thinking()
            seed = random.randrange(10**9)  # which nobody trained before, in other measurements
            await log.time("training", visitor, visitor.train(seed))
    except (Failed, OSError, asyncio.IncompleteReadError, TimeoutError) as error:
        log.errors.append(f"visitor {number}: {error or type(error).__name__}")
    except Exception as error:
        log.errors.append(f"visitor {number}: {type(error).__name__}: {error}")
    finally:
        with contextlib.suppress(Exception):
            await visitor.__aexit__()


async def crowd(url: str, visitors: int, think: float, training: bool, log: Log) -> None:
    """All come in the same moment; every tenth trains."""
    await asyncio.gather(
        *(visit(url, n, think, training and n % 10 == 0, log) for n in range(visitors))
    )


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
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS"))


def effort(pid: int) -> float:
    """Seconds of work that the server has done; unlike waiting, no neighbour lengthens them."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(checkout: Path, options: argparse.Namespace) -> dict[int, Log]:
    logs = {}
    with server(checkout, options.serve) as (url, pid):
        for visitors in options.visitors:
            log, before, worked = Log(), memory(pid), effort(pid)
            watching = threading.Thread(target=watch, args=(url, options.browsers, log))
            if options.browsers:
                watching.start()
            asyncio.run(crowd(url, visitors, options.think, options.training, log))
            if options.browsers:
                watching.join()
            fetched = statistics.median(log.fetched or [0]) / 1000
            print(
                f"\n{visitors} visitors: {len(log.errors)} errors, each fetched {fetched:.0f} kB "
                f"of files, memory {before:.0f} -> {memory(pid):.0f} MB, "
                f"{(effort(pid) - worked) / visitors:.2f} s of work each"
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
    parser.add_argument("--no-training", dest="training", action="store_false")
    parser.add_argument("--against", type=Path, help="another checkout, measured first")
    parser.add_argument("--serve", nargs="*", default=[], help="options of bup dashboard")
    options = parser.parse_args()
    before = {}
    if options.against:
        print(f"# {options.against}")
        before = measure(options.against.resolve(), options)
        print("\n# this one")
    after = measure(HERE, options)
    for visitors in before:
        for what in ("first page", "click", "colour", "page"):
            was, now = before[visitors].seconds.get(what), after[visitors].seconds.get(what)
            if was and now:
                ratio = statistics.median(was) / statistics.median(now)
                print(f"{visitors} visitors, {what}: {ratio:.1f} times as fast")


if __name__ == "__main__":
    main()
