"""What takes the server some seconds, rationed: to browsers, and to all of them at an address."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bup.errors import BupError
from dashboard.network.clients import BROWSERS_PER_ADDRESS, Client


class RateLimit:
    """So many in a while, one at a time for a browser, and one at a time in this process."""

    def __init__(
        self, what: str, most: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._what, self._most, self._seconds, self._clock = what, most, seconds, clock
        self._lock, self._turn = threading.Lock(), threading.Lock()
        self._had: dict[str, deque[float]] = defaultdict(deque)  # when each had one
        self._making: set[str] = set()

    def refusal(self, client: Client) -> str:
        """Why a browser gets none now; nothing if it gets one."""
        with self._lock:
            return self._refusal(client)

    @contextmanager
    def one(self, client: Client) -> Iterator[None]:
        """Make one inside of this; raises BupError for who gets none now."""
        with self._lock:
            if why := self._refusal(client):
                raise BupError(why)
            self._making.add(client.browser_id)
            for who in {client.browser_id, client.address_id}:
                self._had[who].append(self._clock())
        try:
            with self._turn:
                yield
        finally:
            with self._lock:
                self._making.discard(client.browser_id)

    def _refusal(self, client: Client) -> str:
        self._forget()
        if client.browser_id in self._making:
            return f"one of your {self._what} is being made: wait until it is there"
        for who, whose, most in (
            (client.browser_id, "you", self._most),
            (client.address_id, "your network", BROWSERS_PER_ADDRESS * self._most),
        ):
            had = self._had.get(who, ())
            if len(had) >= most:
                wait = had[len(had) - most] + self._seconds - self._clock()
                return (
                    f"{whose} had {most} {self._what} in the last {self._seconds / 60:.0f} "
                    f"minutes, which is as many as this server makes: try again in "
                    f"{max(1, round(wait / 60))} min"
                )
        return ""

    def _forget(self) -> None:
        """What was so long ago that it does not count."""
        oldest = self._clock() - self._seconds
        for who in list(self._had):
            had = self._had[who]
            while had and had[0] <= oldest:
                had.popleft()
            if not had:
                del self._had[who]
