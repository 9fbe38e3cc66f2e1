"""A queue for something that only a few browsers can have at a time."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dashboard.network.clients import Client

HALF_LIFE = 300.0  # seconds after which used time counts half
NEGLIGIBLE = 0.1  # seconds of used time that no longer count


class FairQueue:
    """``size`` places, one for a browser at a time.

    Next is the browser that used the least time lately, by itself and with the others at its
    address. A visitor who keeps all places busy therefore comes after all others.
    """

    def __init__(self, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size, self._clock = size, clock
        self._changed = threading.Condition()
        self._waiting: list[Client] = []  # in the order of arrival
        self._busy: list[str] = []  # browsers that have a place
        self._used: dict[str, tuple[float, float]] = {}  # seconds, and when they were counted

    @contextmanager
    def acquire(self, client: Client, timeout: float) -> Iterator[bool]:
        """Wait for a place, and have it in this context; False if the wait timed out."""
        mine = Client(client.name, client.address)  # equal to other tabs' clients, not identical
        with self._changed:
            self._waiting.append(mine)
            try:
                acquired = self._changed.wait_for(lambda: self._next() is mine, timeout)
            finally:
                self._waiting = [other for other in self._waiting if other is not mine]
                self._changed.notify_all()
            if acquired:
                self._busy.append(mine.browser_id)
        start = self._clock()
        try:
            yield acquired
        finally:
            if acquired:
                with self._changed:
                    self._busy.remove(mine.browser_id)
                    self._count(mine, self._clock() - start)
                    self._changed.notify_all()

    def _next(self) -> Client | None:
        ready = [client for client in self._waiting if client.browser_id not in self._busy]
        if len(self._busy) >= self._size or not ready:
            return None
        return min(ready, key=lambda c: self._recent_use(c.browser_id, c.address_id))

    def _recent_use(self, *keys: str) -> float:
        """Seconds that these browsers and addresses used, of which old ones count less."""
        now, used = self._clock(), [self._used.get(key, (0.0, 0.0)) for key in keys]
        return sum(seconds * 0.5 ** ((now - then) / HALF_LIFE) for seconds, then in used)

    def _count(self, client: Client, seconds: float) -> None:
        for key in {client.browser_id, client.address_id}:
            self._used[key] = self._recent_use(key) + seconds, self._clock()
        small = [key for key in self._used if self._recent_use(key) <= NEGLIGIBLE]
        for key in small:
            del self._used[key]
