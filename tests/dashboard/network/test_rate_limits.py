"""Who gets how many of what is costly."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import bup
from dashboard.network.clients import BROWSERS_PER_ADDRESS, Client
from dashboard.network.rate_limits import RateLimit


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_so_many_in_a_while_for_a_browser_and_for_an_address():
    clock = Clock()
    limit = RateLimit("pages", 2, 600, clock)

    def had(client: Client, tries: int) -> int:
        count = 0
        for _ in range(tries):
            if not limit.refusal(client):
                with limit.acquire(client):
                    count += 1
        return count

    assert had(Client("ann", "here"), 5) == 2 and had(Client("ann", "there"), 5) == 0
    tabs = [had(Client(f"~tab{n}", "here"), 1) for n in range(5)]
    assert sum(tabs) == 2, "without a cookie they are one"
    names = [had(Client(f"eve{n}", "here"), 2) for n in range(30)]
    assert sum(names) == 2 * BROWSERS_PER_ADDRESS - 4 and had(Client("bob", "there"), 5) == 2
    with (
        pytest.raises(bup.BupError, match="your network had 16 pages"),
        limit.acquire(Client("", "here")),
    ):
        pass
    clock.now += 601
    assert had(Client("ann", "here"), 5) == 2
    assert set(limit._times) == {Client("ann").browser_id, Client("", "here").address_id}


def test_one_at_a_time():
    limit, inside, go = RateLimit("pages", 9, 600), [], threading.Event()

    def make(name: str) -> None:
        with limit.acquire(Client(name)):
            inside.append(name)
            go.wait(60)
            assert len(inside) == 1
            inside.remove(name)

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(make, name) for name in ("ann", "bob")]
        while not inside:
            pass
        with pytest.raises(bup.BupError, match="is being made"), limit.acquire(Client(inside[0])):
            pass
        go.set()
        for one in both:
            one.result()
    assert not limit.refusal(Client("ann"))
