"""Results that could not be written to disk: kept in memory, and written later."""

import threading

from bup.errors import BupError
from bup.io import files
from bup.results.store import Store
from bup.run.spec import Run

MOST = 20  # results
AGAIN = 60.0  # seconds between two tries


class UnstoredResults:
    """At most ``MOST`` packed results; the oldest go first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._results: dict[Run, tuple[bytes, str]] = {}
        self._timer: threading.Timer | None = None

    def add(self, run: Run, content: bytes, why: str) -> None:
        with self._lock:
            self._results[run] = content, why
            while len(self._results) > MOST:
                self._results.pop(next(iter(self._results)))
            self._try_later()

    def find(self, run: Run) -> tuple[bytes, str] | None:
        """The packed result and why it is not on disk."""
        with self._lock:
            return self._results.get(run)

    def store(self) -> None:
        """Try to write each to disk."""
        for run, (content, _) in list(self._results.items()):
            packed = files.unpack(content)
            try:
                Store().save(run, packed.arrays, packed.values)
            except BupError:
                break  # the others would hardly fare better
            with self._lock:
                self._results.pop(run, None)
        with self._lock:
            self._timer = None
            self._try_later()

    def _try_later(self) -> None:
        if self._results and self._timer is None:
            self._timer = threading.Timer(AGAIN, self.store)
            self._timer.daemon = True
            self._timer.start()
