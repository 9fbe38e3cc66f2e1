"""FairQueue at what few can have at a time and nobody can have for long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dashboard.network.clients import Client

HALF = 300.0  # seconds after which what one had counts for half
FORGOTTEN = 0.1  # seconds that one had, which no longer count


class FairQueue:
    """So many at a time, one for a browser. Next is who had least time lately, with its address.

    So whoever keeps all places busy is passed by everybody else.
    """

    def __init__(self, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._at_once, self._clock = at_once, clock
        self._changed = threading.Condition()
        self._waiting: list[Client] = []  # in the order in which they came
        self._busy: list[str] = []  # browsers whose turn it is
        self._had: dict[str, tuple[float, float]] = {}  # seconds, and when they were counted

    @contextmanager
    def one(self, client: Client, patience: float) -> Iterator[bool]:
        """Wait for a turn, and have it inside of this; whether it came before patience ended."""
        mine = Client(client.name, client.address)  # equal to those of other tabs, and not the same
        with self._changed:
            self._waiting.append(mine)
            try:
                came = self._changed.wait_for(lambda: self._next() is mine, patience)
            finally:
                self._waiting = [other for other in self._waiting if other is not mine]
                self._changed.notify_all()
            if came:
                self._busy.append(mine.browser_id)
        start = self._clock()
        try:
            yield came
        finally:
            if came:
                with self._changed:
                    self._busy.remove(mine.browser_id)
                    self._count(mine, self._clock() - start)
                    self._changed.notify_all()

    def _next(self) -> Client | None:
        ready = [client for client in self._waiting if client.browser_id not in self._busy]
        if len(self._busy) >= self._at_once or not ready:
            return None
        return min(
            ready,
            key=lambda client: self._lately(client.browser_id) + self._lately(client.address_id),
        )

    def _lately(self, who: str) -> float:
        seconds, then = self._had.get(who, (0.0, 0.0))
        return seconds * 0.5 ** ((self._clock() - then) / HALF)

    def _count(self, client: Client, seconds: float) -> None:
        for who in {client.browser_id, client.address_id}:
            self._had[who] = self._lately(who) + seconds, self._clock()
        self._had = {w: had for w, had in self._had.items() if self._lately(w) > FORGOTTEN}
