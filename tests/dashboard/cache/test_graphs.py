"""Graphs that a visitor asks for by name: drawn outside of the server, or not at all."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import bup
from bup import datasets
from bup.training import cost
from dashboard.cache import graphs, shared_cache
from dashboard.network.clients import Client
from dashboard.network.rate_limits import RateLimit

LARGE = "synthetic:mean_degree=2,nodes=8000,words=30"


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch):
    monkeypatch.setattr(shared_cache, "SHARED_CACHE", shared_cache.SharedCache())
    monkeypatch.setattr(graphs, "LARGE", RateLimit("large graphs", 30, 600))


@pytest.fixture
def drawn_here(monkeypatch) -> list[str]:
    names, load = [], bup.load_graph
    monkeypatch.setattr(bup, "load_graph", lambda name: names.append(name) or load(name))
    return names


def test_a_large_graph_is_drawn_by_another_process_and_is_the_same_graph(drawn_here):
    assert datasets.size(LARGE) > cost.DRAWN_AT_ONCE
    drawn, here = graphs.graph(LARGE), datasets.load_graph(LARGE)
    assert drawn_here == []
    assert drawn.digest == here.digest
    assert (drawn.name, drawn.noun, drawn.words) == (here.name, here.noun, here.words)
    assert drawn.name != LARGE, "by its one name, however it was asked for"
    assert graphs.graph(LARGE) is drawn


def test_those_of_the_lessons_are_drawn_at_once(drawn_here):
    assert graphs.graph("synthetic").num_nodes == 2708
    assert drawn_here == ["synthetic"]


def test_a_browser_does_not_take_all_places(monkeypatch):
    eve, ann = Client("eve", "here"), Client("ann", "here")
    started, go = threading.Event(), threading.Event()

    def draw(name: str):
        started.set()
        assert go.wait(60)
        return bup.load_graph("synthetic:nodes=50")

    monkeypatch.setattr(graphs, "_draw_in_process", draw)
    asking = [eve, eve, ann]
    monkeypatch.setattr(graphs.visitor, "client", lambda: asking.pop(0))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(graphs.graph, LARGE)
        assert started.wait(60)
        with pytest.raises(bup.BupError, match="one of your large graphs is being made"):
            graphs.graph(LARGE.replace("8000", "8001"))
        second = pool.submit(graphs.graph, LARGE.replace("8000", "8002"))
        go.set()
        assert first.result().num_nodes == second.result().num_nodes == 50


def test_a_vocabulary_has_its_size_too():
    small = datasets.size("synthetic:nodes=100")
    assert datasets.size("synthetic:nodes=100,words=100000,classes=50") > small + 100e6


def test_why_it_cannot_be_drawn_is_a_sentence(monkeypatch):
    with pytest.raises(bup.BupError, match=r"^fewer:GRAPH:SHARE keeps a share.*got 'fewer:"):
        graphs.graph(f"fewer:{LARGE}:7")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(bup.BupError, match=r"could not be drawn \(code 1\): ask for a smaller"):
        graphs.graph(LARGE)


def test_what_is_above_the_limit_is_not_drawn_at_all(monkeypatch, drawn_here):
    monkeypatch.setenv("BUP_GRAPH_BYTES", "1000000")
    monkeypatch.setattr(graphs, "_draw_in_process", pytest.fail)
    with pytest.raises(bup.BupError, match=r"draws graphs of at most 1 MB.*bup fit --graph"):
        graphs.graph(LARGE)
    assert drawn_here == []


def test_only_so_many_wait_for_a_graph_and_small_ones_never_do(monkeypatch):
    full = threading.BoundedSemaphore(1)
    monkeypatch.setattr(graphs, "_places", full)
    with full, pytest.raises(bup.BupError, match="other graphs are to be drawn before"):
        graphs.graph(LARGE)
    with full:
        assert graphs.graph("synthetic:nodes=50").num_nodes == 50
    assert graphs.graph(LARGE).num_nodes == 8000 and full.acquire(blocking=False)
