"""Several server processes behind one address; each visitor stays with one of them.

A process names itself in a cookie. The process of this module, the balancer, sends a connection to
the process that its cookie names, else to the one with the fewest connections. It reads the head
of the first request only; then bytes pass both ways unchanged. It restarts processes that have
ended, and has the queue of trainings for all of them.
"""

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bup.errors import BupError
from dashboard.network import clients, open_files
from dashboard.training_queue import shared_queue

COOKIE = "bup_process"
PROCESS_NUMBER = "BUP_PROCESS"
"""The environment variable that holds the number of a process."""
MAX_HEAD_BYTES = 64 * 2**10  # of a request's first line and headers
HEAD_TIMEOUT = 10  # seconds for them to arrive
START_TIMEOUT = 300  # seconds for a process to answer
RESTART_CHECK = 1.0  # seconds between two checks whether a process has ended
RESTART_DELAY = 60.0  # seconds until the next check, after a process that did not start
UNAVAILABLE = "The app has stopped and is starting again: please try again in a minute."


@dataclass(eq=False)
class ServerProcess:
    number: int
    port: int
    popen: subprocess.Popen
    connections: int = 0
    newcomers: int = 0  # connections without a cookie that it was given
    ready: bool = True

    @property
    def alive(self) -> bool:
        return self.popen.poll() is None


def _spawn(number: int, arguments: Sequence[str]) -> ServerProcess:
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "bup.cli", "dashboard", "--port", str(port), *arguments]
    environment = os.environ | {PROCESS_NUMBER: str(number), "STREAMLIT_SERVER_HEADLESS": "true"}
    popen = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
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
    raise BupError("a server process did not start: see its messages above, or omit --processes")


def restart_ended(processes: list[ServerProcess], ended: threading.Event) -> None:
    """Start a new process for each one that has ended, until ``ended`` is set.

    It has the number of the old one, so that visitors with that number in their cookie reach it.
    """
    delay = RESTART_CHECK
    while not ended.wait(delay):
        delay = RESTART_CHECK
        started = []
        for i, process in enumerate(processes):
            if not process.alive:
                code = process.popen.returncode
                reason = f"exit code {code}" if code >= 0 else f"signal {-code}"
                print(f"bup: a server process has ended ({reason}), another starts", flush=True)
                processes[i] = _spawn(process.number, ["--no-prepare"])
                started.append(processes[i])
        for process in started:
            try:
                _wait_until_ready(process)
            except BupError as error:
                print(f"bup: {error}", file=sys.stderr, flush=True)
                process.popen.kill()
                delay = RESTART_DELAY


def exit_with_parent() -> None:
    """Make a process that the balancer has started end when the balancer has ended."""

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


def serve(listening: socket.socket, count: int, prepare: bool, ready: Callable[[], object]) -> None:
    """Serve until interrupted; ``ready`` is called when all processes answer."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # by way of ``finally`` below
    open_files.raise_limit()
    processes: list[ServerProcess] = []
    ended = threading.Event()
    clients.key()  # the processes inherit it
    with shared_queue.shared() as queue:
        os.environ[shared_queue.QUEUE] = queue
        try:
            # The first one prepares graphs and the first run for all.
            processes.append(_spawn(0, [] if prepare else ["--no-prepare"]))
            _wait_until_ready(processes[0])
            processes += [_spawn(number, ["--no-prepare"]) for number in range(1, count)]
            for process in processes[1:]:
                _wait_until_ready(process)
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
        except (OSError, EOFError, asyncio.LimitOverrunError):  # the client left, or it is no HTTP
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, sock=listening, limit=MAX_HEAD_BYTES)
    async with server:
        await server.serve_forever()


def choose_process(head: bytes, processes: Sequence[ServerProcess]) -> ServerProcess | None:
    """The process that a request's cookie names, else the least busy; None if none is running."""
    running = [process for process in processes if process.ready and process.alive]
    cookie = rb"(?i)^cookie:.*\b" + COOKIE.encode() + rb"=(\d{1,3})(?!\d)"
    named = re.search(cookie, head, re.MULTILINE)
    for process in running:
        if named and process.number == int(named[1]):
            return process
    least = min(running, key=lambda process: (process.connections, process.newcomers), default=None)
    if least is not None:
        least.newcomers += 1
    return least


async def _relay(
    head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, process: ServerProcess
) -> bool:
    """Copy bytes both ways; False if the process ended the connection without an answer."""
    try:
        inner_reader, inner_writer = await asyncio.open_connection("localhost", process.port)
    except OSError:
        return False
    process.connections += 1
    try:
        inner_writer.write(head)
        request = asyncio.create_task(_copy(reader, inner_writer))
        response = asyncio.create_task(_copy(inner_reader, writer))
        await asyncio.wait([request, response], return_when=asyncio.FIRST_COMPLETED)
        answered = request.done() or response.result()
        request.cancel()
        response.cancel()
        return answered
    finally:
        process.connections -= 1
        inner_writer.close()


async def _refuse(writer: asyncio.StreamWriter, text: str) -> None:
    lines = [
        "HTTP/1.1 503 Service Unavailable",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(text)}",
        "Retry-After: 30",
        "Cache-Control: no-store",
        "Connection: close",
    ]
    writer.write("\r\n".join([*lines, "", text]).encode())
    await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Copy until the reader or the writer ends; True if there was anything to copy."""
    copied = False
    with contextlib.suppress(OSError):
        while data := await reader.read(2**16):
            copied = True
            writer.write(data)
            await writer.drain()
    return copied
