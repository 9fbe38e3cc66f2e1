"""What visitors drop is read by processes of their own: see ``bup.imported.reader_process``.

The server only takes in what they answer: one that takes too long is killed, and one that needs too
much memory fails or is killed by the system, without the server and its other visitors.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import subprocess
import sys
import threading

import bup
from bup.datasets.uploads import limits
from bup.datasets.uploads.graph_tables import ColumnChoice, TablePreview
from bup.graph import Graph
from bup.imported import predictions, reader_process
from bup.imported.predictions import Predictions
from bup.io import files
from bup.io.files import Contents
from dashboard.network import visitor
from dashboard.network.clients import Client
from dashboard.network.fair_queue import FairQueue

NICENESS = 10
AT_ONCE = 2  # processes


class _ReaderProcess:
    def __init__(self) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, "-P", "-m", "bup.imported"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            start_new_session=True,  # the terminal's Ctrl-C is for who started it
        )
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, self.popen.pid, NICENESS)
        self.timed_out = False

    def ask(self, question: bytes, seconds: float) -> bytes:
        """The answer; empty if the process ended instead of giving one."""
        assert self.popen.stdin is not None and self.popen.stdout is not None
        watch = threading.Timer(seconds, self._give_up)
        watch.daemon = True
        watch.start()
        try:
            reader_process.send(self.popen.stdin, question)
            return reader_process.receive(self.popen.stdout)
        except OSError:
            return b""
        finally:
            watch.cancel()

    @property
    def ended_by_itself(self) -> bool:
        """Whether it had nothing to do for long, or had grown, and ended as it was asked."""
        return not self.timed_out and self.popen.wait() == 0

    def _give_up(self) -> None:
        self.timed_out = True
        self.popen.kill()

    def close(self) -> None:
        self.popen.kill()
        for pipe in (self.popen.stdin, self.popen.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        self.popen.wait()


class ReaderPool:
    """So many processes at a time, kept warm: one is started before somebody needs it."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._queue = FairQueue(at_once)
        self._lock = threading.Lock()
        self._idle: list[_ReaderProcess] = []

    def warm(self) -> None:
        """See to it that a process is there; it needs a second or two until it can read."""
        with self._lock, contextlib.suppress(OSError):
            if not self._idle:
                self._idle.append(_ReaderProcess())

    def ask(self, question: bytes, client: Client) -> Contents:
        """What a process answers. Raises BupError with its reason, or why there is no answer."""
        seconds = limits.READ_SECONDS.value
        with self._queue.acquire(client, seconds) as came:
            if not came:
                raise bup.BupError("other files are being read: try again in a minute")
            try:
                process, answer = self._asked(question, seconds)
            except OSError as error:
                raise bup.BupError(
                    f"no process can be started that reads your files ({error.strerror}): try later"
                ) from error
        if not answer:
            raise bup.BupError(_why(process))
        found = files.unpack(answer)
        if "error" in found.values:
            raise bup.BupError(found.values["error"])
        return found

    def _asked(self, question: bytes, seconds: float) -> tuple[_ReaderProcess, bytes]:
        """Who was asked, and what it answered."""
        process, answer = self._take(), b""
        try:
            answer = process.ask(question, seconds)
            if not answer and process.ended_by_itself:
                process.close()
                process = _ReaderProcess()
                answer = process.ask(question, seconds)
        finally:
            if answer and not process.timed_out:
                with self._lock:
                    self._idle.append(process)
            else:
                process.close()
        return process, answer

    def _take(self) -> _ReaderProcess:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.popen.poll() is None:
                    return process
                process.close()
        return _ReaderProcess()

    def close(self) -> None:
        """End the processes that have nothing to do."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()


def _why(process: _ReaderProcess) -> str:
    """Why there is no answer."""
    if process.timed_out:
        return (
            f"reading this takes more than {limits.READ_SECONDS.value} seconds "
            f"({limits.READ_SECONDS.name}), which is what visitors' files may take: give a smaller "
            "file"
        )
    code = process.popen.returncode
    if code < 0:  # by a signal, as the system ends who takes too much
        return reader_process.TOO_MUCH
    return f"the process that reads files ended unexpectedly (code {code}): try again"


POOL = ReaderPool()


def _ask(question: bytes) -> Contents:
    return POOL.ask(question, visitor.client())


def read_graph_files(
    dropped: list[tuple[str, bytes]], separator: str | None, decimal: str | None
) -> tuple[TablePreview, Graph | None]:
    """What the files hold, and the graph that they probably are; None if that is none."""
    values = {"separator": separator, "decimal": decimal, "choice": None}
    answer = _ask_of_graph(dropped, values)
    return reader_process.preview_from(answer), reader_process.graph_from(answer)


def read_graph(
    dropped: list[tuple[str, bytes]], separator: str | None, choice: ColumnChoice
) -> Graph:
    """The graph that the files make when their columns are what somebody chose."""
    values = {"separator": separator, "choice": dataclasses.asdict(choice)}
    graph = reader_process.graph_from(_ask_of_graph(dropped, values))
    assert graph is not None
    return graph


def _ask_of_graph(dropped: list[tuple[str, bytes]], values: dict) -> Contents:
    names, contents = [name for name, _ in dropped], [content for _, content in dropped]
    return _ask(reader_process.request("graph", contents, names=names, **values))


def read_predictions(graph: Graph, name: str, content: bytes) -> Predictions:
    """Predictions from a file, checked against the nodes of a graph."""
    contents = [content, reader_process.without_features(graph)]
    found = _ask(reader_process.request("predictions", contents, name=name))
    return dataclasses.replace(predictions.unpack(found), digest=graph.digest)
