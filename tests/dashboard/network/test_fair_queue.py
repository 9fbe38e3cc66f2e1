"""Whose turn it is at what only few can have."""

import threading

from dashboard.network.clients import Client
from dashboard.network.fair_queue import HALF_LIFE, FairQueue


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def had(queue: FairQueue, clock: Clock, client: Client, seconds: float) -> None:
    with queue.acquire(client, 0) as acquired:
        assert acquired
        clock.now += seconds


def served(queue: FairQueue, busy: Client, *clients: Client) -> list[Client]:
    """The order in which they are served who come while somebody has the only turn."""
    order: list[Client] = []

    def wait(client: Client) -> None:
        with queue.acquire(client, 60) as acquired:
            assert acquired
            order.append(client)

    with queue.acquire(busy, 0):
        threads = [threading.Thread(target=wait, args=[client]) for client in clients]
        for count, thread in enumerate(threads, 1):
            thread.start()
            while len(queue._waiting) < count:
                pass
    for thread in threads:
        thread.join()
    return order


def test_a_browser_has_one_turn_in_however_many_tabs():
    queue, eve = FairQueue(2), Client("eve", "there")
    with queue.acquire(eve, 0) as first, queue.acquire(eve, 0) as second:
        assert first and not second
        with queue.acquire(Client("ann", "here"), 0) as other:
            assert other
    with queue.acquire(eve, 0) as again:
        assert again and not queue._waiting


def test_who_had_little_passes_who_had_much_under_whatever_names():
    clock = Clock()
    queue = FairQueue(1, clock)
    for n in range(3):
        had(queue, clock, Client(f"eve{n}", "there"), 60)
    new, ann, bob = Client("eve9", "there"), Client("ann", "here"), Client("bob", "here")
    assert served(queue, Client("eve0", "there"), new, ann, bob) == [ann, bob, new]


def test_what_one_had_fades():
    clock = Clock()
    queue = FairQueue(1, clock)
    eve, ann = Client("eve", "there"), Client("ann", "here")
    had(queue, clock, eve, 60)
    clock.now += 12 * HALF_LIFE
    had(queue, clock, ann, 1)
    assert set(queue._used) == {ann.browser_id, ann.address_id}
    assert served(queue, Client("bob"), ann, eve) == [eve, ann]
