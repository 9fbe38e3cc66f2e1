import dataclasses
import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.sparse.csgraph import connected_components

import bup
from bup import datasets
from bup.cli import app
from bup.datasets.source import Source
from dashboard import state


@pytest.fixture
def toy(monkeypatch, path_graph) -> Source:
    """A source that no other file knows of, in the table."""
    source = Source(
        name="toy:LETTER",
        title="Five nodes on a path",
        load=lambda name: dataclasses.replace(path_graph, name=name),
        takes=lambda name: name.startswith("toy:"),
        label=lambda name: f"Toy {name[-1]}",
        data="in your head",
        offered=lambda: ["toy:a", "toy:b"],
    )
    monkeypatch.setattr(datasets, "SOURCES", (*datasets.SOURCES, source))
    return source


def test_a_graph_is_one_line_in_the_table(toy):
    assert bup.load_graph("toy:b").name == "toy:b"
    with pytest.raises(bup.BupError, match="toy:LETTER"):
        bup.load_graph("toys")
    listed = json.loads(CliRunner().invoke(app, ["graphs", "--json"]).output)
    assert listed[-1] == {"name": toy.name, "title": toy.title, "data": "in your head"}
    assert {"toy:a", "toy:b"} <= set(state.graph_names())
    assert state.graph_label("toy:b") == "Toy b"


def test_what_is_not_here_is_fetched_on_request_and_offered_last(toy, monkeypatch):
    there = set()
    far = dataclasses.replace(
        toy,
        name="far",
        takes=None,
        offered=None,
        cached=there.__contains__,
        load=lambda name: there.add(name),
    )
    monkeypatch.setattr(datasets, "SOURCES", (far, toy))
    assert state.graph_names() == ["toy:a", "toy:b", "far"]
    assert not datasets.is_here("far") and not datasets.is_here("nowhere")
    rows = json.loads(CliRunner().invoke(app, ["graphs", "--json"]).output)
    assert [row["data"] for row in rows] == ["not fetched yet", "in your head"]
    CliRunner().invoke(app, ["graphs", "--fetch"])
    assert there == {"far"} and state.graph_names() == ["far", "toy:a", "toy:b"]


def test_folders_are_offered_only_by_whoever_starts_the_server(monkeypatch):
    monkeypatch.delenv("BUP_FOLDERS", raising=False)
    assert not any(name.startswith("folder:") for name in state.graph_names())
    monkeypatch.setenv("BUP_FOLDERS", "/some/papers:/more")
    assert {"folder:/some/papers", "folder:/more"} <= set(state.graph_names())
    assert state.graph_label("folder:/some/papers") == "papers"


def test_every_graph_belongs_to_one_source_and_only_drawn_ones_may_be_typed():
    names = ["cora", "synthetic", "synthetic:nodes=50", "folder:/a"]
    for name in names:
        assert sum(source.has(name) for source in datasets.SOURCES) == 1
    typed = [datasets.find_source(name).typed for name in names]
    assert typed == [False, True, True, False]
    assert list(bup.GRAPHS) == [source.name for source in datasets.SOURCES]


def test_fewer_keeps_a_linked_share_of_the_last_class(cora):
    few = bup.load_graph("fewer:cora:0.1")
    last = cora.num_classes - 1
    assert (few.labels == last).sum() == round(0.1 * (cora.labels == last).sum())
    assert (few.labels != last).sum() == (cora.labels != last).sum()
    assert set(few.ids) < set(cora.ids)
    for node in np.flatnonzero(few.labels == last):
        there = cora.find(few.node_id(node))
        kept = {few.node_id(n) for n in few.neighbours(node)}
        assert kept == {cora.node_id(n) for n in cora.neighbours(there)} & set(few.ids)
    among = few.adjacency[few.labels == last][:, few.labels == last]
    assert connected_components(among, directed=False)[0] == 1
    assert bup.load_graph("fewer:cora:1").digest == cora.digest
    for name in ("fewer:cora:0", "fewer:cora", "fewer:cora:x", "fewer:cora:2"):
        with pytest.raises(bup.BupError, match="share between 0 and 1"):
            bup.load_graph(name)
