"""Rate limits of costly requests, for each browser and for all browsers at an address."""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bup.errors import BupError
from dashboard.network.clients import BROWSERS_PER_ADDRESS, Client


class RateLimit:
    """At most ``most`` requests of a browser within ``seconds``, and only one at a time.

    In this process the requests of all browsers run one after the other.
    """

    def __init__(
        self, what: str, most: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._what, self._most, self._seconds, self._clock = what, most, seconds, clock
        self._lock, self._running = threading.Lock(), threading.Lock()
        self._times: dict[str, deque[float]] = defaultdict(deque)  # of the requests of each key
        self._active: set[str] = set()

    def refusal(self, client: Client) -> str:
        """Why a request is refused now; "" if it is not."""
        with self._lock:
            return self._refusal(client)

    @contextmanager
    def acquire(self, client: Client) -> Iterator[None]:
        """Run the request in this context. Raises BupError if it is refused."""
        with self._lock:
            if why := self._refusal(client):
                raise BupError(why)
            self._active.add(client.browser_id)
            for key in {client.browser_id, client.address_id}:
                self._times[key].append(self._clock())
        try:
            with self._running:
                yield
        finally:
            with self._lock:
                self._active.discard(client.browser_id)

    def _refusal(self, client: Client) -> str:
        self._forget_old()
        if client.browser_id in self._active:
            return f"one of your {self._what} is being made: wait until it is there"
        for key, whose, most in (
            (client.browser_id, "you", self._most),
            (client.address_id, "your network", BROWSERS_PER_ADDRESS * self._most),
        ):
            times = self._times.get(key, ())
            if len(times) >= most:
                wait = times[len(times) - most] + self._seconds - self._clock()
                return (
                    f"{whose} had {most} {self._what} in the last {self._seconds / 60:.0f} "
                    f"minutes, which is as many as this server makes: try again in "
                    f"{max(1, round(wait / 60))} min"
                )
        return ""

    def _forget_old(self) -> None:
        oldest = self._clock() - self._seconds
        for key, times in list(self._times.items()):
            while times and times[0] <= oldest:
                times.popleft()
            if not times:
                del self._times[key]
