"""Results that no disk took: kept in memory, and put on disk as soon as one has room."""

from __future__ import annotations

import threading

from bup.errors import BupError
from bup.io import files
from bup.results.store import Store
from bup.run.spec import Run

MOST = 20  # results
AGAIN = 60.0  # seconds between two tries


class Unstored:
    """Bounded: those that came first go first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[Run, tuple[bytes, str]] = {}
        self._timer: threading.Timer | None = None

    def hold(self, run: Run, content: bytes, why: str) -> None:
        with self._lock:
            self._held[run] = content, why
            while len(self._held) > MOST:
                self._held.pop(next(iter(self._held)))
            self._try_later()

    def find(self, run: Run) -> tuple[bytes, str] | None:
        """The packed result and why no disk has it."""
        with self._lock:
            return self._held.get(run)

    def store(self) -> None:
        """Try to put each on disk."""
        for run, (content, _) in list(self._held.items()):
            packed = files.unpack(content)
            try:
                Store().save(run, packed.arrays, packed.values)
            except BupError:
                break  # the others would hardly fare better
            with self._lock:
                self._held.pop(run, None)
        with self._lock:
            self._timer = None
            self._try_later()

    def _try_later(self) -> None:
        if self._held and self._timer is None:
            self._timer = threading.Timer(AGAIN, self.store)
            self._timer.daemon = True
            self._timer.start()
