"""Several server processes behind one address; each visitor stays with the one that knows them.

This process keeps the queue of trainings for all of them.

A process names itself in a cookie. Whoever brings no cookie, or that of a process that has ended,
is given the one with the fewest connections. Requests are looked at only as far as their cookie;
then bytes pass both ways as they are, so that everything on a connection goes to one process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bup.errors import BupError
from dashboard import clients
from dashboard.jobs import sharing

COOKIE = "bup_process"
OWN = "BUP_PROCESS"
"""In the environment of a process: its number."""
MOST_HEAD = 64 * 2**10  # bytes before the first empty line of a request
PATIENCE = 60  # seconds for it to come
START = 300  # seconds for a process to answer


@dataclass(eq=False)
class Process:
    number: int
    port: int
    popen: subprocess.Popen
    connections: int = 0
    newcomers: int = 0  # given to it because they had no cookie

    @property
    def alive(self) -> bool:
        return self.popen.poll() is None


def start(numbers: Iterable[int], arguments: Sequence[str]) -> list[Process]:
    """Servers on free ports of this machine, when all of them answer."""
    processes = []
    for number in numbers:
        with socket.create_server(("localhost", 0)) as free:
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "bup.cli", "dashboard", "--port", str(port), *arguments]
        surroundings = os.environ | {OWN: str(number), "STREAMLIT_SERVER_HEADLESS": "true"}
        popen = subprocess.Popen(
            command, env=surroundings, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        processes.append(Process(number, port, popen))
    for process in processes:
        _wait(process)
    return processes


def _wait(process: Process) -> None:
    deadline = time.monotonic() + START
    while process.alive and time.monotonic() < deadline:
        url = f"http://localhost:{process.port}/_stcore/health"
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=START):
            return
        time.sleep(0.1)
    raise BupError("a server process did not start: see what it said above, or leave --processes")


def end_with_the_first() -> None:
    """In a process that ``start`` has started: end when the one that answers for it has gone."""

    def watch() -> None:
        sys.stdin.read()
        os.kill(os.getpid(), signal.SIGTERM)

    if OWN in os.environ:
        threading.Thread(target=watch, daemon=True).start()


def end(processes: Sequence[Process]) -> None:
    for process in processes:
        process.popen.send_signal(signal.SIGTERM)
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.popen.wait(timeout=10)
        process.popen.kill()


def serve(listening: socket.socket, count: int, prepare: bool, ready: Callable[[], None]) -> None:
    """Answer until interrupted; ``ready`` is called when all processes are."""
    # Ended from outside, it takes its processes along.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    processes: list[Process] = []
    clients.key()  # which they inherit
    with sharing.shared() as queue:
        os.environ[sharing.QUEUE] = queue
        try:
            # What has to be got and trained first, one does for all.
            processes += start([0], [] if prepare else ["--no-prepare"])
            processes += start(range(1, count), ["--no-prepare"])
            ready()
            asyncio.run(_share(listening, processes))
        finally:
            end(processes)


async def _share(listening: socket.socket, processes: Sequence[Process]) -> None:

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
            if (process := chosen(head, processes)) is not None:
                peer, *_ = writer.get_extra_info("peername")
                await _pass_on(clients.addressed(head, peer), reader, writer, process)
        except (OSError, EOFError, asyncio.LimitOverrunError):  # they left, or do not speak HTTP
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, sock=listening, limit=MOST_HEAD)
    async with server:
        await server.serve_forever()


def chosen(head: bytes, processes: Sequence[Process]) -> Process | None:
    """The process that a request's cookie names, else the least busy; None if all have ended."""
    living = [process for process in processes if process.alive]
    named = re.search(rb"(?i)^cookie:.*\b" + COOKIE.encode() + rb"=(\d+)", head, re.MULTILINE)
    for process in living:
        if named and process.number == int(named[1]):
            return process
    least = min(living, key=lambda process: (process.connections, process.newcomers), default=None)
    if least is not None:
        least.newcomers += 1
    return least


async def _pass_on(
    head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, process: Process
) -> None:
    inner_reader, inner_writer = await asyncio.open_connection("localhost", process.port)
    process.connections += 1
    try:
        inner_writer.write(head)
        both = _copy(reader, inner_writer), _copy(inner_reader, writer)
        ways = [asyncio.create_task(way) for way in both]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
    finally:
        process.connections -= 1
        inner_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
