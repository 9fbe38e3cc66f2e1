import dataclasses

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bup.errors import BupError
from bup.graph import Graph, describe, paths, simple_edges


def a_graph(pairs=(), n=4, **changes) -> Graph:
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    fields = {
        "name": "test",
        "features": np.ones((n, 2), dtype=np.float32),
        "edges": simple_edges(ends[:, 0], ends[:, 1]),
        "labels": np.arange(n) % 2,
        "class_names": ("a", "b"),
    }
    return Graph(**(fields | changes))


random_graphs = st.integers(1, 25).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60),
    )
)


@given(random_graphs)
@settings(max_examples=60, deadline=None)
def test_topology_agrees_with_networkx(sample):
    n, pairs = sample
    graph = a_graph(pairs, n)
    peer = nx.Graph()
    peer.add_nodes_from(range(n))
    peer.add_edges_from((a, b) for a, b in pairs if a != b)

    assert graph.num_edges == peer.number_of_edges()
    assert graph.degree.tolist() == [peer.degree(i) for i in range(n)]
    assert (graph.looped_degree == graph.degree + 1).all()
    for i in range(n):
        assert graph.neighbours(i).tolist() == sorted(peer.neighbors(i))
    peer_components = sorted(map(len, nx.connected_components(peer)), reverse=True)
    assert np.bincount(graph.components).tolist() == peer_components

    hops = graph.hops([0])[0]
    lengths = nx.single_source_shortest_path_length(peer, 0)
    for i in range(n):
        assert (hops[i] is np.ma.masked) == (i not in lengths)
        assert i not in lengths or hops[i] == lengths[i]


def test_unreachable_is_masked_in_every_distance(path_graph):
    assert path_graph.hops([0, 4]).tolist() == [[0, 1, 2, 3, None], [None] * 4 + [0]]
    assert path_graph.nearest_hops([0, 3]).tolist() == [0, 1, 1, 0, None]
    # node 4 is a source that nobody else reaches: it takes no part in the others' mean
    assert path_graph.mean_hops([0, 3, 4]).tolist() == [1.5, 1.5, 1.5, 1.5, 0.0]
    assert path_graph.mean_hops([0, 3]).tolist() == [1.5, 1.5, 1.5, 1.5, None]


def test_a_graph_cannot_be_changed(path_graph):
    for array in (
        path_graph.edges,
        path_graph.labels,
        path_graph.degree,
        path_graph.features.data,
        path_graph.adjacency.data,
        path_graph.components,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        path_graph.name = "other"


def test_the_callers_arrays_stay_writable():
    features = sparse.csr_array(np.eye(4, dtype=np.float32))
    labels = np.array([0, 1, 0, 1])
    a_graph(features=features, labels=labels)
    features.data[0] = 2
    labels[0] = 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": np.full((4, 2), np.nan)}, "finite"),
        ({"features": np.full((4, 2), np.inf)}, "finite"),
        ({"features": np.ones((3, 2))}, "3 rows but there are 4"),
        ({"features": np.ones((4, 0))}, "non-empty"),
        ({"labels": np.array([0, 1, 2, 0])}, "between 0 and 1"),
        ({"labels": np.array([0, 1, -2, 0])}, "got -2"),
        ({"labels": np.array([], dtype=int)}, "at least one node"),
        ({"edges": np.array([[0], [4]])}, "nodes 0 to 3"),
        ({"edges": np.array([[-1], [2]])}, "got -1"),
        ({"edges": np.array([[1], [1]])}, "lower to a higher"),
        ({"edges": np.array([[2], [1]])}, "lower to a higher"),
        ({"edges": np.array([[0, 0], [1, 1]])}, "without duplicates"),
        ({"edges": np.array([0, 1])}, "shape"),
        ({"ids": ("a", "b")}, "2 ids for 4 nodes"),
        ({"ids": ("a", "b", "c", "a")}, "unique"),
        ({"titles": ("a",)}, "1 titles"),
        ({"class_names": ("a", "a")}, "unique"),
        ({"words": ("a",)}, "1 words for 2 features"),
        ({"labels": np.array([0.9, 1.0, 0.0, 1.0])}, "labels must be whole numbers.*0.9"),
        ({"labels": np.array([np.nan, 1, 0, 1])}, "whole numbers"),
        ({"labels": np.array([True, False, True, False])}, "whole numbers"),
        ({"edges": np.array([[0.9], [1.2]])}, "edges must be whole numbers"),
    ],
)
def test_what_is_not_a_graph_is_refused(changes, message):
    with pytest.raises(BupError, match=message):
        a_graph(**changes)


def test_source_nodes_are_checked(path_graph):
    for sources, message in (([], "at least one"), ([5], "between 0 and 4"), ([0.5], "whole")):
        with pytest.raises(BupError, match=message):
            path_graph.hops(sources)


def test_nodes_are_found_by_id(path_graph):
    assert path_graph.find("n3") == 3
    with pytest.raises(BupError, match="no node 'x'"):
        path_graph.find("x")
    numbered = a_graph()
    assert numbered.find("2") == 2 and numbered.node_id(2) == "2"
    for bad in ("4", "-1", " 1", "1.0", "", "²"):
        with pytest.raises(BupError, match="0 to 3"):
            numbered.find(bad)


def test_a_node_is_called_by_its_id_its_title_or_its_number():
    things = a_graph(ids=tuple("abcd"), titles=("hunts mice", "", "barks", "flies"))
    assert [things.name_of(1), things.about(1), things.about(0)] == ["b", "", "hunts mice"]
    people = a_graph(ids=("p1", "p2", "p3", "p4"), titles=("Ann", "", "Cid", "Dee"))
    assert people.names is people.titles
    assert [people.name_of(0), people.about(0)] == ["Ann", "p1"]
    assert [people.name_of(1), people.about(1)] == ["p2", ""]
    papers = a_graph(titles=tuple(f"{'On graphs ' * 5}{i}" for i in "abcd"))
    assert papers.names is None and papers.name_of(2) == "2" and papers.about(2).endswith("c")
    assert a_graph().names is None and a_graph().about(0) == ""


def test_digest_follows_the_content_not_the_name():
    graph = a_graph([(0, 1)])
    assert graph.digest == dataclasses.replace(graph, name="other").digest
    assert graph.digest != a_graph([(0, 2)]).digest
    assert graph.digest != a_graph([(0, 1)], features=2 * np.ones((4, 2))).digest
    assert graph.digest != a_graph([(0, 1)], labels=np.zeros(4, int)).digest


def test_duplicate_entries_of_a_sparse_matrix_are_added():
    twice = sparse.coo_array(([1.0, 1.0], ([0, 0], [1, 1])), shape=(4, 2)).tocsr()
    assert a_graph(features=twice).features.toarray()[0, 1] == 2


def test_figures_of_a_small_graph(path_graph):
    figures = describe(path_graph)
    assert figures["class_sizes"] == {"a": 2, "b": 2}
    assert figures["unlabelled"] == 1
    assert figures["homophily"] == pytest.approx(2 / 3)
    assert figures["components"] == {"count": 2, "largest": 4, "isolated": 1}
    assert figures["density"] == pytest.approx(1 / 5)
    assert figures["degrees"] == [
        {"degree": "0", "nodes": 1},
        {"degree": "1", "nodes": 2},
        {"degree": "2", "nodes": 2},
    ]


def test_degree_table_counts_every_node_once(cora):
    rows = describe(cora)["degrees"]
    assert sum(row["nodes"] for row in rows) == cora.num_nodes
    assert rows[7]["degree"] == "7-12"


def test_homophily_without_labels_is_unknown():
    assert a_graph(labels=np.full(4, -1), edges=np.array([[0], [1]])).homophily is None


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 90), st.data())
def test_mean_paths_are_those_of_walking_from_each_source(n, data):
    pairs = data.draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), max_size=2 * n))
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=140))
    edges = simple_edges(*np.array(pairs, dtype=np.int64).reshape(-1, 2).T)
    graph = Graph("drawn", np.ones((n, 1), np.float32), edges, np.zeros(n, int), ("a",))
    hops = graph.hops(sources)
    slow, quick = hops.mean(axis=0), graph.mean_hops(sources)
    assert np.array_equal(np.ma.getmaskarray(slow), np.ma.getmaskarray(quick))
    assert np.allclose(slow.filled(0), quick.filled(0))


def test_of_very_many_sources_some_stand_for_all(monkeypatch):
    assert paths.sample_sources(np.arange(300), 1_000_000).tolist() != np.arange(300).tolist()
    assert paths.sample_sources(np.arange(250), 1_000_000).tolist() == np.arange(250).tolist()
    monkeypatch.setattr(paths, "MOST_STEPS", 0)
    graph = a_graph([(i, i + 1) for i in range(199)], n=200)
    few = paths.sample_sources(np.arange(200), 200)
    assert len(few) == 64 and few[0] == 0 and few[-1] == 199 and len(set(few)) == 64
    assert np.array_equal(graph.mean_hops(range(200)), graph.hops(few).mean(axis=0))
