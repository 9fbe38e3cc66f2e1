"""Several server processes behind one address; each visitor stays with the one that knows them.

This process keeps the queue of trainings for all of them.

A process names itself in a cookie. Whoever brings no cookie, or that of a process that has ended,
is given the one with the fewest connections. One that has ended is replaced. Requests are looked at
only as far as their cookie; then bytes pass both ways as they are, so that everything on a
connection goes to one process.
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
from dashboard.network import clients, open_files
from dashboard.training_queue import shared_queue

COOKIE = "bup_process"
PROCESS_NUMBER = "BUP_PROCESS"
"""In the environment of a process: its number."""
MAX_HEAD_BYTES = 64 * 2**10  # bytes before the first empty line of a request
HEAD_TIMEOUT = 10  # seconds for it to come
START_TIMEOUT = 300  # seconds for a process to answer
RESTART_CHECK = 1.0  # seconds between two looks at whether a process has ended
RESTART_DELAY = 60.0  # after one that did not even start
UNAVAILABLE = "The app has stopped and is starting again: please try again in a minute."


@dataclass(eq=False)
class ServerProcess:
    number: int
    port: int
    popen: subprocess.Popen
    connections: int = 0
    newcomers: int = 0  # given to it because they had no cookie
    ready: bool = True

    @property
    def alive(self) -> bool:
        return self.popen.poll() is None


def start_processes(numbers: Iterable[int], arguments: Sequence[str]) -> list[ServerProcess]:
    """Servers on free ports of this machine, when all of them answer."""
    processes = [_spawn(number, arguments) for number in numbers]
    for process in processes:
        _wait_until_ready(process)
    return processes


def _spawn(number: int, arguments: Sequence[str]) -> ServerProcess:
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "bup.cli", "dashboard", "--port", str(port), *arguments]
    surroundings = os.environ | {PROCESS_NUMBER: str(number), "STREAMLIT_SERVER_HEADLESS": "true"}
    popen = subprocess.Popen(
        command, env=surroundings, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    return ServerProcess(number, port, popen, ready=False)


def _wait_until_ready(process: ServerProcess) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while process.alive and time.monotonic() < deadline:
        url = f"http://localhost:{process.port}/_stcore/health"
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=START_TIMEOUT):
            process.ready = True
            return
        time.sleep(0.1)
    raise BupError("a server process did not start: see what it said above, or leave --processes")


def restart_ended(processes: list[ServerProcess], ended: threading.Event) -> None:
    """Until all are to end: have another process take the place of one that has ended.

    It has the same number, so that those whose cookie names it come to it.
    """
    rest = RESTART_CHECK
    while not ended.wait(rest):
        rest = RESTART_CHECK
        dead = [process for process in processes if not process.alive]
        for process in dead:
            print(
                f"bup: a server process has ended ({_exit_reason(process)}), another starts",
                flush=True,
            )
        others = [_spawn(process.number, ["--no-prepare"]) for process in dead]
        for process, other in zip(dead, others, strict=True):
            processes[processes.index(process)] = other
        for other in others:
            try:
                _wait_until_ready(other)
            except BupError as error:
                print(f"bup: {error}", file=sys.stderr, flush=True)
                other.popen.kill()
                rest = RESTART_DELAY


def _exit_reason(process: ServerProcess) -> str:
    code = process.popen.returncode
    return f"exit code {code}" if code >= 0 else f"signal {-code}"


def exit_with_parent() -> None:
    """In a process that ``start`` has started: end when the one that answers for it has gone."""

    def watch() -> None:
        sys.stdin.read()
        os.kill(os.getpid(), signal.SIGTERM)

    if PROCESS_NUMBER in os.environ:
        threading.Thread(target=watch, daemon=True).start()


def stop_processes(processes: Sequence[ServerProcess]) -> None:
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
    open_files.raise_limit()
    processes: list[ServerProcess] = []
    ended = threading.Event()
    clients.key()  # which they inherit
    with shared_queue.shared() as queue:
        os.environ[shared_queue.QUEUE] = queue
        try:
            # What has to be got and trained first, one does for all.
            processes += start_processes([0], [] if prepare else ["--no-prepare"])
            processes += start_processes(range(1, count), ["--no-prepare"])
            ready()
            threading.Thread(target=restart_ended, args=[processes, ended], daemon=True).start()
            asyncio.run(_forward_connections(listening, processes))
        finally:
            ended.set()
            stop_processes(processes)


async def _forward_connections(
    listening: socket.socket, processes: Sequence[ServerProcess]
) -> None:

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_TIMEOUT):
                head = await reader.readuntil(b"\r\n\r\n")
            if open_files.nearly_exhausted():
                return await _refuse(writer, open_files.SERVER_FULL)
            process = choose_process(head, processes)
            peer, *_ = writer.get_extra_info("peername")
            head = clients.add_address_header(head, peer)
            if process is None or not await _relay(head, reader, writer, process):
                await _refuse(writer, UNAVAILABLE)
        except (OSError, EOFError, asyncio.LimitOverrunError):  # they left, or do not speak HTTP
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, sock=listening, limit=MAX_HEAD_BYTES)
    async with server:
        await server.serve_forever()


def choose_process(head: bytes, processes: Sequence[ServerProcess]) -> ServerProcess | None:
    """The process that a request's cookie names, else the least busy; None if all have ended."""
    living = [process for process in processes if process.ready and process.alive]
    cookie = rb"(?i)^cookie:.*\b" + COOKIE.encode() + rb"=(\d{1,3})(?!\d)"
    named = re.search(cookie, head, re.MULTILINE)
    for process in living:
        if named and process.number == int(named[1]):
            return process
    least = min(living, key=lambda process: (process.connections, process.newcomers), default=None)
    if least is not None:
        least.newcomers += 1
    return least


async def _relay(
    head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, process: ServerProcess
) -> bool:
    """Whether the process has answered, or nobody waits for that any more."""
    try:
        inner_reader, inner_writer = await asyncio.open_connection("localhost", process.port)
    except OSError:
        return False
    process.connections += 1
    try:
        inner_writer.write(head)
        both = _copy(reader, inner_writer), _copy(inner_reader, writer)
        asking, answering = ways = [asyncio.create_task(way) for way in both]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        return asking.done() or answering.result()
    finally:
        process.connections -= 1
        inner_writer.close()


async def _refuse(writer: asyncio.StreamWriter, said: str) -> None:
    """In words, where no process answers."""
    lines = [
        "HTTP/1.1 503 Service Unavailable",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(said)}",
        "Retry-After: 30",
        "Cache-Control: no-store",
        "Connection: close",
    ]
    writer.write("\r\n".join([*lines, "", said]).encode())
    await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Until one of them ends; whether anything came."""
    some = False
    with contextlib.suppress(OSError):
        while data := await reader.read(2**16):
            some = True
            writer.write(data)
            await writer.drain()
    return some
