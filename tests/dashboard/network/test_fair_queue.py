"""Whose turn it is at what only few can have."""

import threading

from dashboard.network.clients import Client
from dashboard.network.fair_queue import HALF, FairQueue


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def had(turns: FairQueue, clock: Clock, client: Client, seconds: float) -> None:
    with turns.one(client, 0) as came:
        assert came
        clock.now += seconds


def served(turns: FairQueue, busy: Client, *clients: Client) -> list[Client]:
    """The order in which they are served who come while somebody has the only turn."""
    order: list[Client] = []

    def wait(client: Client) -> None:
        with turns.one(client, 60) as came:
            assert came
            order.append(client)

    with turns.one(busy, 0):
        threads = [threading.Thread(target=wait, args=[client]) for client in clients]
        for count, thread in enumerate(threads, 1):
            thread.start()
            while len(turns._waiting) < count:
                pass
    for thread in threads:
        thread.join()
    return order


def test_a_browser_has_one_turn_in_however_many_tabs():
    turns, eve = FairQueue(2), Client("eve", "there")
    with turns.one(eve, 0) as first, turns.one(eve, 0) as second:
        assert first and not second
        with turns.one(Client("ann", "here"), 0) as other:
            assert other
    with turns.one(eve, 0) as again:
        assert again and not turns._waiting


def test_who_had_little_passes_who_had_much_under_whatever_names():
    clock = Clock()
    turns = FairQueue(1, clock)
    for n in range(3):
        had(turns, clock, Client(f"eve{n}", "there"), 60)
    new, ann, bob = Client("eve9", "there"), Client("ann", "here"), Client("bob", "here")
    assert served(turns, Client("eve0", "there"), new, ann, bob) == [ann, bob, new]


def test_what_one_had_fades():
    clock = Clock()
    turns = FairQueue(1, clock)
    eve, ann = Client("eve", "there"), Client("ann", "here")
    had(turns, clock, eve, 60)
    clock.now += 12 * HALF
    had(turns, clock, ann, 1)
    assert set(turns._had) == {ann.browser_id, ann.address_id}
    assert served(turns, Client("bob"), ann, eve) == [eve, ann]
