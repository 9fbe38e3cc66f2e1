"""One queue for several server processes: one keeps it, the others ask it over a local socket.

The socket lies in a folder that only its user can enter. A JSON value per line goes each way, an
answer for each question; every process has one connection, and when it ends, nobody who looked at
pages of that process counts as waiting any more.
"""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import StreamRequestHandler
from typing import TYPE_CHECKING, Any

from bup.errors import BupError
from bup.run.spec import Run
from dashboard.cache.unstored import Unstored
from dashboard.training_queue import local_queue
from dashboard.training_queue.job import Job
from dashboard.training_queue.local_queue import WORKERS, LocalQueue, OnUnstored
from dashboard.training_queue.queue import TrainingQueue

if TYPE_CHECKING or hasattr(socket, "AF_UNIX"):
    from socketserver import ThreadingUnixStreamServer
else:  # Windows: ``shared`` says so
    ThreadingUnixStreamServer = object

QUEUE = "BUP_QUEUE"
"""In the environment of a server process: the socket of the queue that it shares."""
PATIENCE = 20.0  # seconds for an answer

Plain = dict[str, Any]


@contextmanager
def shared() -> Iterator[str]:
    """Keep a queue for other processes; gives the path of its socket."""
    if not hasattr(socket, "AF_UNIX"):
        raise BupError(
            "more than one process needs Unix sockets, which this system does not have: "
            "leave --processes out"
        )
    with tempfile.TemporaryDirectory(prefix="bup-") as folder:  # entered by its owner only
        path = str(Path(folder) / "queue")
        with QueueServer(path) as counter:
            threading.Thread(target=counter.serve_forever, daemon=True).start()
            try:
                yield path
            finally:
                counter.shutdown()
                counter.manager.close()


class QueueServer(ThreadingUnixStreamServer):
    """Where other processes ask."""

    daemon_threads = True

    def __init__(self, path: str) -> None:
        super().__init__(path, Connection)
        self.here: dict[Connection, frozenset[str]] = {}  # visitors of each process
        self.unstored = Unstored()
        on_unstored = self.unstored.hold
        self.manager = LocalQueue(workers=WORKERS, is_here=self._is_here, on_unstored=on_unstored)

    def _is_here(self, visitor: str) -> bool:
        return any(visitor in visitors for visitors in list(self.here.values()))


class Connection(StreamRequestHandler):
    """The connection of one process."""

    server: QueueServer

    def handle(self) -> None:
        self.given: set[Run] = set()  # results that no disk takes, and that it has
        with contextlib.suppress(OSError):
            for line in self.rfile:
                try:
                    answer = self._answer(json.loads(line))
                except BupError as error:
                    answer = {"refused": str(error)}
                self.wfile.write(json.dumps(answer).encode() + b"\n")

    def finish(self) -> None:
        self.server.here.pop(self, None)
        with contextlib.suppress(OSError):
            super().finish()

    def _answer(self, asked: Plain) -> Plain:
        if "here" in asked:
            self.server.here[self] = frozenset(asked["here"])
            return {}
        keeper, run, visitor = self.server.manager, Run.from_dict(asked["run"]), asked["visitor"]
        if asked["do"] == "cancel":
            keeper.cancel(run, visitor)
            return {}
        if asked["do"] == "find":
            job = keeper.find(run, visitor)
        else:
            job = keeper.enter(run, asked["seconds"], asked["held"], visitor, asked["again"])
        answer: Plain = {"job": None if job is None else job.as_dict()}
        held = self.server.unstored.find(run)
        if job is not None and job.state == "done" and held is not None and run not in self.given:
            self.given.add(run)
            answer["unstored"] = [base64.b64encode(held[0]).decode(), held[1]]
        return answer


class RemoteQueue(TrainingQueue):
    """The queue, kept by another process."""

    def __init__(self, path: str, is_here: Callable[[str], bool], on_unstored: OnUnstored) -> None:
        super().__init__()
        self._path, self._is_here, self._on_unstored = path, is_here, on_unstored
        self._lock = threading.Lock()  # a question at a time
        self._line: Any = None  # the connection
        self._visitors: set[str] = set()
        threading.Thread(target=self._report, daemon=True).start()

    def enter(self, run: Run, seconds: float, held: bool, visitor: str, again: bool) -> Job:
        more = {"seconds": seconds, "held": held, "again": again}
        job = self._job("enter", run, visitor, more)
        assert job is not None
        return job

    def find(self, run: Run, visitor: str | None = None) -> Job | None:
        return self._job("find", run, visitor)

    def cancel(self, run: Run, visitor: str = "") -> None:
        with contextlib.suppress(BupError):  # without a queue there is nothing to cancel
            self._ask({"do": "cancel", "run": run.as_dict(), "visitor": visitor})

    def _job(self, do: str, run: Run, visitor: str | None, more: Plain | None = None) -> Job | None:
        if visitor is not None and visitor not in self._visitors:
            self._visitors.add(visitor)
            self._say_who_is_here()
        answer = self._ask({"do": do, "run": run.as_dict(), "visitor": visitor} | (more or {}))
        if "unstored" in answer:
            content, why = answer["unstored"]
            self._on_unstored(run, base64.b64decode(content), why)
        return None if answer["job"] is None else Job.from_dict(answer["job"])

    def _report(self) -> None:
        """A thread: tell from time to time who is still here."""
        while True:
            threading.Event().wait(local_queue.WATCH)
            self._visitors = {v for v in list(self._visitors) if self._is_here(v)}
            with contextlib.suppress(BupError):
                self._say_who_is_here()

    def _say_who_is_here(self) -> None:
        self._ask({"here": sorted(self._visitors)})

    def _ask(self, question: Plain) -> Plain:
        with self._lock:
            try:
                if self._line is None:
                    self._line = self._connected()
                self._line.write(json.dumps(question).encode() + b"\n")
                self._line.flush()
                said = self._line.readline()
                if not said:
                    raise ConnectionError("it hung up")
            except OSError as error:
                self._hang_up()  # the next question tries again
                raise BupError(
                    f"the process that keeps the queue of trainings does not answer ({error}): "
                    "what is trained can be looked at; to train, start the server again"
                ) from error
        answer = json.loads(said)
        if "refused" in answer:
            raise BupError(answer["refused"])
        return answer

    def _hang_up(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            with contextlib.suppress(OSError):
                line.close()

    def _connected(self) -> Any:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(PATIENCE)
            line.connect(self._path)
            return line.makefile("rwb")  # which keeps it open
