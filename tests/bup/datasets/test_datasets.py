import dataclasses
import json
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.sparse.csgraph import connected_components

import bup
from bup import datasets
from bup.cli import app
from bup.datasets import uploads
from bup.datasets.graph_source import GraphSource
from dashboard.cache import graphs
from dashboard.session import run_link


@pytest.fixture
def toy(monkeypatch, path_graph) -> GraphSource:
    """A source that no other file knows of, in the table."""
    source = GraphSource(
        name="toy:LETTER",
        title="Five nodes on a path",
        load=lambda name: dataclasses.replace(path_graph, name=name),
        matches=lambda name: name.startswith("toy:"),
        label=lambda name: f"Toy {name[-1]}",
        data="in your head",
        list_names=lambda: ["toy:a", "toy:b"],
    )
    monkeypatch.setattr(datasets, "SOURCES", (*datasets.SOURCES, source))
    return source


def test_a_graph_is_one_line_in_the_table(toy):
    assert bup.load_graph("toy:b").name == "toy:b"
    with pytest.raises(bup.BupError, match="toy:LETTER"):
        bup.load_graph("toys")
    listed = json.loads(CliRunner().invoke(app, ["graphs", "--json"]).output)
    assert listed[-1] == {"name": toy.name, "title": toy.title, "data": "in your head"}
    assert {"toy:a", "toy:b"} <= set(run_link.graph_names())
    assert run_link.graph_label("toy:b") == "Toy b"


def test_what_is_not_here_is_fetched_on_request_and_offered_last(toy, monkeypatch):
    there = set()
    far = dataclasses.replace(
        toy,
        name="far",
        matches=None,
        list_names=None,
        is_cached=there.__contains__,
        load=lambda name: there.add(name),
    )
    monkeypatch.setattr(datasets, "SOURCES", (far, toy))
    assert run_link.graph_names() == ["toy:a", "toy:b", "far"]
    assert not datasets.is_available("far") and not datasets.is_available("nowhere")
    rows = json.loads(CliRunner().invoke(app, ["graphs", "--json"]).output)
    assert [row["data"] for row in rows] == ["not fetched yet", "in your head"]
    CliRunner().invoke(app, ["graphs", "--fetch"])
    assert there == {"far"} and run_link.graph_names() == ["far", "toy:a", "toy:b"]


def test_folders_are_offered_only_by_whoever_starts_the_server(monkeypatch):
    monkeypatch.delenv("BUP_FOLDERS", raising=False)
    assert not any(name.startswith("folder:") for name in run_link.graph_names())
    monkeypatch.setenv("BUP_FOLDERS", "/some/papers:/more")
    assert {"folder:/some/papers", "folder:/more"} <= set(run_link.graph_names())
    assert run_link.graph_label("folder:/some/papers") == "papers"


def test_every_graph_belongs_to_one_source_and_only_drawn_ones_may_be_typed():
    names = ["cora", "synthetic", "synthetic:nodes=50", "folder:/a"]
    for name in names:
        assert sum(source.owns(name) for source in datasets.SOURCES) == 1
    typed = [datasets.find_source(name).open_to_visitors for name in names]
    assert typed == [False, True, True, False]
    assert list(bup.GRAPHS) == [source.name for source in datasets.SOURCES]


WRAPPERS = [source for source in datasets.SOURCES if source.base is not None]
CHAINS = [(), *product(WRAPPERS), *product(WRAPPERS, WRAPPERS)]
BASES = {
    "cora": True,
    "citeseer": True,
    "pubmed": True,
    "almanac": True,
    "synthetic:nodes=50": True,
    "synthetic:nodes=1000000,mean_degree=8": True,  # its size is refused, see below
    "pyg:Amazon/Photo": False,
    "folder:FOLDER": False,
    "folder:FOLDER/missing": False,
    "folder:FOLDER/offered": True,
    "own:TOKEN": True,
}
"""A graph of each source by name, and whether a visitor may have it."""


def wrapped(chain, name: str) -> str:
    for wrapper in chain:
        name = wrapper.name.replace("GRAPH", name).replace("SHARE", "0.5")
    return name


@pytest.fixture
def base(request, tmp_path, monkeypatch) -> str:
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    for folder in (tmp_path, tmp_path / "offered"):
        folder.mkdir(exist_ok=True)
        (folder / "nodes.csv").write_text("id,label,x\na,1,0\nb,2,1\nc,1,1\nd,2,0\n")
        (folder / "edges.csv").write_text("source,target\na,b\nb,c\nc,d\n")
    monkeypatch.setenv("BUP_FOLDERS", str(tmp_path / "offered"))
    token = uploads.save(bup.load_graph(f"folder:{tmp_path}")).removeprefix("own:")
    return request.param.replace("FOLDER", str(tmp_path)).replace("TOKEN", token)


def test_every_source_is_tried_in_every_wrapper():
    tried = {datasets.find_source(name).name for name in BASES} | {w.name for w in WRAPPERS}
    assert tried == {source.name for source in datasets.SOURCES} and len(WRAPPERS) >= 2


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: wrapped(chain, "GRAPH"))
@pytest.mark.parametrize("base", BASES, indirect=True)
def test_a_graph_made_from_another_one_is_as_large_as_new_and_as_allowed(base, chain, request):
    name = wrapped(chain, base)
    allowed = BASES[request.node.callspec.params["base"]]
    assert datasets.is_allowed(name) == allowed
    assert datasets.size(name) == datasets.size(base)
    assert datasets.stamp(name) == datasets.stamp(base)
    assert datasets.is_available(name) == datasets.is_available(base)


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: wrapped(chain, "GRAPH"))
def test_what_a_visitor_may_not_have_is_never_looked_for(tmp_path, monkeypatch, chain):
    def touched(*args):
        pytest.fail("it was looked for")

    monkeypatch.delenv("BUP_FOLDERS", raising=False)
    for place in ("os.scandir", "bup.load_graph"):
        monkeypatch.setattr(place, touched)
    said = set()
    for inner in (str(tmp_path), "/not/there"):
        name = wrapped(chain, f"folder:{inner}")
        with pytest.raises(bup.BupError, match="there is no graph") as error:
            graphs.graph(name)
        said.add(str(error.value).replace(repr(name), ""))
    assert len(said) == 1, "an error tells which folders exist"
    with pytest.raises(bup.BupError, match="there is no graph"):
        graphs.graph(wrapped(chain, "pyg:Amazon/Photo"))
    with pytest.raises(bup.BupError, match="draws graphs of at most"):
        graphs.graph(wrapped(chain, "synthetic:nodes=2000000,mean_degree=19"))


def test_a_source_that_says_nothing_of_visitors_refuses_them(toy, monkeypatch):
    silent = dataclasses.replace(toy, list_names=lambda: [])
    monkeypatch.setattr(datasets, "SOURCES", (*WRAPPERS, silent))
    for chain in CHAINS:
        assert not datasets.is_allowed(wrapped(chain, "toy:a"))


def test_a_graph_can_be_changed_a_few_times_and_not_thousands_of_times():
    assert bup.load_graph("noisy:fewer:noisy:synthetic:nodes=50:0.1:0.5:0.2").num_nodes < 50
    for depth in (4, 900, 5000):
        name = "noisy:" * depth + "synthetic:nodes=50" + ":0.1" * depth
        for ask in (bup.load_graph, datasets.size, datasets.stamp, graphs.graph):
            with pytest.raises(bup.BupError, match="at most 3 changes") as error:
                ask(name)
            assert len(str(error.value)) < 400
        assert not datasets.is_available(name)


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
