"""Processes that read what visitors upload, see ``bup.imported.reader_process``.

A process that takes too long is killed; one that needs too much memory fails or is killed by the
system. The server and its other visitors go on.
"""

import contextlib
import dataclasses
import os
import subprocess
import sys
import threading

import bup
from bup.datasets.uploads.graph_tables import ColumnChoice, TablePreview
from bup.graph import Graph
from bup.imported import predictions, reader_process
from bup.imported.predictions import Predictions
from bup.io import files, limits
from bup.io.files import Contents
from bup.jobs.processes import APART
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
            **APART,
        )
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, self.popen.pid, NICENESS)
        self.timed_out = False

    def ask(self, request: bytes, seconds: float) -> bytes:
        """The answer; empty if the process ended instead of giving one."""
        assert self.popen.stdin is not None and self.popen.stdout is not None
        timer = threading.Timer(seconds, self._time_out)
        timer.daemon = True
        timer.start()
        try:
            reader_process.send(self.popen.stdin, request)
            return reader_process.receive(self.popen.stdout)
        except OSError:
            return b""
        finally:
            timer.cancel()

    @property
    def ended_normally(self) -> bool:
        """Whether it ended just before the request, because it had been idle or large."""
        return not self.timed_out and self.popen.wait() == 0

    def _time_out(self) -> None:
        self.timed_out = True
        self.popen.kill()

    def close(self) -> None:
        self.popen.kill()
        for pipe in (self.popen.stdin, self.popen.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        self.popen.wait()


class ReaderPool:
    """A few processes at a time; one is started before a visitor needs it."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._queue = FairQueue(at_once)
        self._lock = threading.Lock()
        self._idle: list[_ReaderProcess] = []

    def warm(self) -> None:
        """Start a process if there is none; it needs a second or two until it can read."""
        with self._lock, contextlib.suppress(OSError):
            if not self._idle:
                self._idle.append(_ReaderProcess())

    def ask(self, request: bytes, client: Client) -> Contents:
        """The answer of a process; raises BupError with its error, or why there is no answer."""
        seconds = limits.READ_SECONDS.value
        with self._queue.acquire(client, seconds) as has_turn:
            if not has_turn:
                raise bup.BupError("other files are being read: try again in a minute")
            try:
                process, answer = self._ask_process(request, seconds)
            except OSError as error:
                raise bup.BupError(
                    f"no process can be started that reads your files ({error.strerror}): try later"
                ) from error
        if not answer:
            raise bup.BupError(_reason(process))
        contents = files.unpack(answer)
        if "error" in contents.values:
            raise bup.BupError(contents.values["error"])
        return contents

    def _ask_process(self, request: bytes, seconds: float) -> tuple[_ReaderProcess, bytes]:
        process, answer = self._take(), b""
        try:
            answer = process.ask(request, seconds)
            if not answer and process.ended_normally:
                process.close()
                process = _ReaderProcess()
                answer = process.ask(request, seconds)
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
        """End the idle processes."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()


def _reason(process: _ReaderProcess) -> str:
    """Why a process gave no answer."""
    if process.timed_out:
        return (
            f"reading this takes more than {limits.READ_SECONDS.value} seconds "
            f"({limits.READ_SECONDS.name}), which is what visitors' files may take: give a smaller "
            "file"
        )
    code = process.popen.returncode
    if code < 0:  # killed by a signal, as the system does when memory runs out
        return reader_process.TOO_MUCH
    return f"the process that reads files ended unexpectedly (code {code}): try again"


POOL = ReaderPool()


def _ask(task: str, contents: list[bytes], **values: object) -> Contents:
    return POOL.ask(reader_process.pack_request(task, contents, **values), visitor.client())


def read_graph_files(
    uploaded: list[tuple[str, bytes]], separator: str | None, decimal: str | None
) -> tuple[TablePreview, Graph | None]:
    """A preview of the files, and the graph that they probably are; None if that is none."""
    names, contents = [name for name, _ in uploaded], [content for _, content in uploaded]
    answer = _ask("graph", contents, names=names, separator=separator, decimal=decimal, choice=None)
    return reader_process.preview_from(answer), reader_process.graph_from(answer)


def read_graph(
    uploaded: list[tuple[str, bytes]], separator: str | None, choice: ColumnChoice
) -> Graph:
    """The graph of the files with the columns that a visitor chose."""
    names, contents = [name for name, _ in uploaded], [content for _, content in uploaded]
    columns = dataclasses.asdict(choice)
    answer = _ask("graph", contents, names=names, separator=separator, choice=columns)
    graph = reader_process.graph_from(answer)
    assert graph is not None
    return graph


def read_predictions(graph: Graph, name: str, content: bytes) -> Predictions:
    """Predictions from a file, checked against the nodes of a graph."""
    contents = [content, reader_process.without_features(graph)]
    found = predictions.unpack(_ask("predictions", contents, name=name))
    return dataclasses.replace(found, digest=graph.digest)
