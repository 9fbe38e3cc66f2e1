"""The process that draws, and the thread that follows it."""

from __future__ import annotations

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
_PATIENCE = 900  # seconds
_turn = threading.Lock()  # one drawing at a time: others of the machine want to work too


class LayoutProcess:
    """A layout in the making.

    A process of its own, because Graphviz lets no other thread run, could take the server with it,
    and repeats itself only from a fresh start; and because a large graph takes its time.
    """

    def __init__(
        self,
        num_nodes: int,
        edges: np.ndarray,
        at_end: Callable[[np.ndarray], None] = lambda steps: None,
        large: int = LARGE,
    ) -> None:
        """``at_end`` is given the finished steps before anybody else sees them."""
        self.share = 0.0  # of the work that is done
        self.steps: np.ndarray | None = None  # the first picture, or at the end the finished one
        self.problem: str | None = None  # why there will be none
        self._at_end = at_end
        self._changed = threading.Condition()
        values = {"nodes": num_nodes, "large": large}
        self._asked = files.pack({"edges": edges.astype(np.int32)}, values)
        threading.Thread(target=self._follow, daemon=True).start()

    @property
    def ended(self) -> bool:
        return self.problem is not None or self.share == 1

    def wait(self, finished: bool) -> None:
        """Until the first picture is there, or the last."""
        with self._changed:
            self._changed.wait_for(lambda: self.ended or (not finished and self.steps is not None))

    def _follow(self) -> None:
        with _turn, tempfile.TemporaryFile() as errors:
            try:
                code = self._drawn(errors)
            except (OSError, files.DamagedFile) as error:
                problem = f"it could not be drawn ({error}): try again"
            else:
                errors.seek(0)
                said = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
                problem = _end_in_words(code, said)
            with self._changed:
                if not self.ended:
                    self.problem = problem
                self._changed.notify_all()

    def _drawn(self, errors: IO[bytes]) -> int:
        process = subprocess.Popen(
            [sys.executable, "-m", "dashboard.layouts"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=_ROOT,
        )
        late = threading.Timer(_PATIENCE, self._give_up, [process])
        late.daemon = True
        late.start()
        with process, contextlib.suppress(BrokenPipeError):
            assert process.stdin is not None and process.stdout is not None
            with process.stdin:
                process.stdin.write(self._asked)
            for data in _messages(process.stdout):
                self._take_in(*files.unpack(data))
        late.cancel()
        return process.returncode

    def _take_in(self, arrays: dict[str, np.ndarray], values: dict[str, float]) -> None:
        steps = arrays.get("steps")
        if values["share"] == 1 and steps is not None:
            self._at_end(steps)
        with self._changed:
            self.steps = self.steps if steps is None else steps
            self.share = values["share"]
            self._changed.notify_all()

    def _give_up(self, process: subprocess.Popen[bytes]) -> None:
        self.problem = f"drawing took more than {_PATIENCE / 60:.0f} minutes: try a smaller graph"
        process.kill()


def _end_in_words(code: int, said: str) -> str:
    """What happened, and what to do."""
    if code < 0:
        memory = ", perhaps for want of memory" if -code == signal.SIGKILL else ""
        return f"its process was ended by signal {-code}{memory}: try again later"
    advice = "reinstall pygraphviz" if "graphviz" in said.lower() else "try again"
    return f"drawing ended with {said[:200]!r} (code {code}): {advice}"


def _messages(source: IO[bytes]) -> Iterator[bytes]:
    while len(length := source.read(8)) == 8:
        yield source.read(int.from_bytes(length, "little"))


def serve() -> None:
    """What the process does: takes a graph's links, tells how it goes, gives the positions."""
    with contextlib.suppress(OSError, AttributeError):  # Windows has no such thing
        os.setpriority(os.PRIO_PROCESS, 0, _NICENESS)
    out = sys.stdout.buffer

    def tell(share: float, steps: np.ndarray | None) -> None:
        data = files.pack({} if steps is None else {"steps": steps}, {"share": share})
        out.write(len(data).to_bytes(8, "little") + data)
        out.flush()

    arrays, values = files.unpack(sys.stdin.buffer.read())
    tell(1.0, arrange(values["nodes"], arrays["edges"], tell, values["large"]))
