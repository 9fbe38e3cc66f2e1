"""The process that draws, and the thread that follows it."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np

from bup.io import files
from dashboard.layouts.arrangement import LARGE, arrange

_ROOT = Path(__file__).parent.parent.parent
_NICENESS = 10
_TIMEOUT = 900  # seconds
_lock = threading.Lock()  # only one process at a time, which leaves the machine to others


class LayoutProcess:
    """A process that draws a layout.

    Graphviz blocks all other threads, could crash the server, and gives the same result only in a
    new process; and a large graph takes long.
    """

    def __init__(
        self,
        num_nodes: int,
        edges: np.ndarray,
        at_end: Callable[[np.ndarray], None] = lambda steps: None,
        large: int = LARGE,
    ) -> None:
        """``at_end`` is called with the finished steps before ``wait`` returns."""
        self.share = 0.0  # of the work that is done
        self.steps: np.ndarray | None = None  # the first picture, or at the end the finished one
        self.problem: str | None = None  # why there will be none
        self._at_end = at_end
        self._changed = threading.Condition()
        values = {"nodes": num_nodes, "large": large}
        self._request = files.pack({"edges": edges.astype(np.int32)}, values)
        threading.Thread(target=self._follow, daemon=True).start()

    @property
    def ended(self) -> bool:
        return self.problem is not None or self.share == 1

    def wait(self, finished: bool) -> None:
        """Wait until there is a first picture or, with ``finished``, the last."""
        with self._changed:
            self._changed.wait_for(lambda: self.ended or (not finished and self.steps is not None))

    def _follow(self) -> None:
        with _lock, tempfile.TemporaryFile() as errors:
            try:
                code = self._run(errors)
            except (OSError, files.DamagedFile) as error:
                problem = f"it could not be drawn ({error}): try again"
            else:
                errors.seek(0)
                message = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
                problem = _describe_end(code, message)
            with self._changed:
                if not self.ended:
                    self.problem = problem
                self._changed.notify_all()

    def _run(self, errors: IO[bytes]) -> int:
        process = subprocess.Popen(
            [sys.executable, "-m", "dashboard.layouts"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=_ROOT,
        )
        timer = threading.Timer(_TIMEOUT, self._give_up, [process])
        timer.daemon = True
        timer.start()
        with process, contextlib.suppress(BrokenPipeError):
            assert process.stdin is not None and process.stdout is not None
            with process.stdin:
                process.stdin.write(self._request)
            for data in _messages(process.stdout):
                self._receive(*files.unpack(data))
        timer.cancel()
        return process.returncode

    def _receive(self, arrays: dict[str, np.ndarray], values: dict[str, float]) -> None:
        steps = arrays.get("steps")
        if values["share"] == 1 and steps is not None:
            self._at_end(steps)
        with self._changed:
            self.steps = self.steps if steps is None else steps
            self.share = values["share"]
            self._changed.notify_all()

    def _give_up(self, process: subprocess.Popen[bytes]) -> None:
        self.problem = f"drawing took more than {_TIMEOUT / 60:.0f} minutes: try a smaller graph"
        process.kill()


def _describe_end(code: int, message: str) -> str:
    """How the process ended, and what the visitor can do."""
    if code < 0:
        memory = ", perhaps for want of memory" if -code == signal.SIGKILL else ""
        return f"its process was ended by signal {-code}{memory}: try again later"
    advice = "reinstall pygraphviz" if "graphviz" in message.lower() else "try again"
    return f"drawing ended with {message[:200]!r} (code {code}): {advice}"


def _messages(source: IO[bytes]) -> Iterator[bytes]:
    while len(length := source.read(8)) == 8:
        yield source.read(int.from_bytes(length, "little"))


def serve() -> None:
    """Run as the process: read links from standard input, write progress and positions."""
    with contextlib.suppress(OSError, AttributeError):  # not on Windows
        os.setpriority(os.PRIO_PROCESS, 0, _NICENESS)
    out = sys.stdout.buffer

    def report(share: float, steps: np.ndarray | None) -> None:
        data = files.pack({} if steps is None else {"steps": steps}, {"share": share})
        out.write(len(data).to_bytes(8, "little") + data)
        out.flush()

    arrays, values = files.unpack(sys.stdin.buffer.read())
    report(1.0, arrange(values["nodes"], arrays["edges"], report, values["large"]))
