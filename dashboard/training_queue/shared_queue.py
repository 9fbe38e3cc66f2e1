"""One queue for several server processes: one process has it, the others use it over a socket.

The socket lies in a folder that only its user can enter. Windows has no such sockets: there it is a
port of this machine, and a connection begins with a key. Requests and responses are lines of JSON;
every process has one connection. When that ends, visitors who only looked at pages of that process
count as gone.
"""

import base64
import contextlib
import hmac
import json
import secrets
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
from dashboard.cache.unstored import UnstoredResults
from dashboard.training_queue import local_queue
from dashboard.training_queue.job import Job
from dashboard.training_queue.local_queue import WORKERS, LocalQueue, OnUnstored
from dashboard.training_queue.queue import TrainingQueue

IN_A_FOLDER = hasattr(socket, "AF_UNIX")
if TYPE_CHECKING or IN_A_FOLDER:
    from socketserver import ThreadingUnixStreamServer as SocketServer
else:
    from socketserver import ThreadingTCPServer as SocketServer

QUEUE = "BUP_QUEUE"
"""The environment variable with the address of the queue: a path, or a port and its key."""
LOOPBACK = "127.0.0.1"
PATIENCE = 20.0  # seconds for a response

Fields = dict[str, Any]


@contextmanager
def shared() -> Iterator[str]:
    """Serve a queue to other processes; gives its address."""
    with (
        tempfile.TemporaryDirectory(prefix="bup-") as folder,  # entered by its owner only
        QueueServer(folder) as server,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.address
        finally:
            server.shutdown()
            server.queue.close()


class QueueServer(SocketServer):
    """Answers the requests of other processes."""

    daemon_threads = True

    def __init__(self, folder: str) -> None:
        self.key = "" if IN_A_FOLDER else secrets.token_urlsafe(32)
        where: Any = str(Path(folder) / "queue") if IN_A_FOLDER else (LOOPBACK, 0)
        super().__init__(where, Connection)
        self.visitors: dict[Connection, frozenset[str]] = {}  # who is at each process
        self.unstored = UnstoredResults()
        self.queue = LocalQueue(
            workers=WORKERS, is_here=self._is_here, on_unstored=self.unstored.add
        )

    @property
    def address(self) -> str:
        where: Any = self.server_address
        return f"{where[1]} {self.key}" if self.key else where

    def _is_here(self, visitor: str) -> bool:
        return any(visitor in visitors for visitors in list(self.visitors.values()))


class Connection(StreamRequestHandler):
    """The connection of one process."""

    server: QueueServer

    def handle(self) -> None:
        self.sent: set[Run] = set()  # unstored results that the process has
        with contextlib.suppress(OSError):
            key = self.server.key.encode()
            if key and not hmac.compare_digest(self.rfile.readline(len(key) + 1).rstrip(), key):
                return
            for line in self.rfile:
                try:
                    response = self._respond(json.loads(line))
                except BupError as error:
                    response = {"refused": str(error)}
                self.wfile.write(json.dumps(response).encode() + b"\n")

    def finish(self) -> None:
        self.server.visitors.pop(self, None)
        with contextlib.suppress(OSError):
            super().finish()

    def _respond(self, request: Fields) -> Fields:
        if "visitors" in request:
            self.server.visitors[self] = frozenset(request["visitors"])
            return {}
        queue, run = self.server.queue, Run.from_dict(request.pop("run"))
        methods: dict[str, Callable[..., Job | None]]
        methods = {"enter": queue.enter, "find": queue.find, "cancel": queue.cancel}
        job = methods[request.pop("do")](run, **request)
        response: Fields = {"job": None if job is None else job.as_dict()}
        unstored = self.server.unstored.find(run)
        if job is not None and job.state == "done" and unstored and run not in self.sent:
            self.sent.add(run)
            response["unstored"] = [base64.b64encode(unstored[0]).decode(), unstored[1]]
        return response


class RemoteQueue(TrainingQueue):
    """The queue of another process."""

    def __init__(
        self, address: str, is_here: Callable[[str], bool], on_unstored: OnUnstored
    ) -> None:
        super().__init__()
        self._address, self._is_here, self._on_unstored = address, is_here, on_unstored
        self._lock = threading.Lock()  # one request at a time
        self._stream: Any = None  # of the connection
        self._visitors: set[str] = set()
        threading.Thread(target=self._watch, daemon=True).start()

    def enter(self, run: Run, seconds: float, visitor: str, again: bool) -> Job:
        job = self._job("enter", run, visitor, seconds=seconds, again=again)
        assert job is not None
        return job

    def find(self, run: Run, visitor: str | None = None) -> Job | None:
        return self._job("find", run, visitor)

    def cancel(self, run: Run, visitor: str = "") -> None:
        with contextlib.suppress(BupError):  # without a queue there is nothing to cancel
            self._job("cancel", run, visitor)

    def _job(self, do: str, run: Run, visitor: str | None, **more: Any) -> Job | None:
        if visitor is not None and visitor not in self._visitors:
            self._visitors.add(visitor)
            self._send_visitors()
        response = self._request({"do": do, "run": run.as_dict(), "visitor": visitor, **more})
        if "unstored" in response:
            content, why = response["unstored"]
            self._on_unstored(run, base64.b64decode(content), why)
        return None if response["job"] is None else Job.from_dict(response["job"])

    def _watch(self) -> None:
        """In a thread: send from time to time which visitors are still here."""
        while True:
            threading.Event().wait(local_queue.WATCH)
            self._visitors = {v for v in list(self._visitors) if self._is_here(v)}
            with contextlib.suppress(BupError):
                self._send_visitors()

    def _send_visitors(self) -> None:
        self._request({"visitors": sorted(self._visitors)})

    def _request(self, fields: Fields) -> Fields:
        with self._lock:
            try:
                if self._stream is None:
                    self._stream = self._connect()
                self._stream.write(json.dumps(fields).encode() + b"\n")
                self._stream.flush()
                line = self._stream.readline()
                if not line:
                    raise ConnectionError("the connection was closed")
            except OSError as error:
                self._disconnect()  # the next request tries again
                raise BupError(
                    f"the process that has the queue of trainings does not answer ({error}): "
                    "what is trained can be looked at; to train, start the server again"
                ) from error
        response = json.loads(line)
        if "refused" in response:
            raise BupError(response["refused"])
        return response

    def _disconnect(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()

    def _connect(self) -> Any:
        port, _, key = self._address.partition(" ")
        with socket.socket(socket.AF_UNIX if IN_A_FOLDER else socket.AF_INET) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(self._address if IN_A_FOLDER else (LOOPBACK, int(port)))
            stream = connection.makefile("rwb")  # which keeps it open
        if not IN_A_FOLDER:
            stream.write(key.encode() + b"\n")  # sent with the first request
        return stream
