"""Graphs from Python: arrays, data frames, NetworkX, PyTorch Geometric."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from torch_geometric.data import Data

import bup
from bup.graph import Graph

NODES = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "label": ["red", "blue", None, "red"],
        "size": [1.0, 2.5, 0.0, 4.0],
        "name": ["Ann", "Bob", None, "Dee 🦊"],
        "text": ["graphs and links", "links of graphs", "小世界网络", ""],
    }
)
EDGES = pd.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "d"]})


def parts(graph: Graph) -> tuple:
    features = graph.features
    dense = features if isinstance(features, np.ndarray) else features.toarray()
    return dense.tolist(), graph.edges.tolist(), graph.labels.tolist()


random_parts = st.integers(2, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=30),
    )
)


@given(random_parts)
@settings(max_examples=40, deadline=None)
def test_every_door_leads_to_the_same_graph(sample):
    labels, pairs = sample
    labels[:2] = [0, 1]
    n = len(labels)
    features = np.eye(n, 3, dtype=np.float32) + 1
    one = Graph.from_arrays(features, np.array(pairs).T, np.array(labels), ("0", "1", "2"))
    assert {tuple(e) for e in one.edges.T.tolist()} == {
        (min(a, b), max(a, b)) for a, b in pairs if a != b
    }
    back = Graph.from_pyg(one.to_pyg(), one.class_names)
    assert parts(back) == parts(one) and back.notes == ()

    peer = nx.Graph()
    for i in range(n):
        peer.add_node(i, label=labels[i], **{f"x{k}": features[i, k] for k in range(3)})
    peer.add_edges_from(pairs)
    again = Graph.from_networkx(peer, features=["x0", "x1", "x2"])
    assert parts(again)[:2] == parts(one)[:2]
    names = [again.class_names[c] for c in again.labels]
    assert names == [str(c) for c in labels]


def test_what_is_dropped_is_counted():
    edges = np.array([[0, 1, 0, 2, 2], [1, 0, 1, 2, 1]])
    graph = Graph.from_arrays(np.ones((3, 1)), edges, np.array([0, 1, 0]))
    assert graph.edges.tolist() == [[0, 1], [1, 2]] and graph.class_names == ("0", "1")
    assert graph.notes == (
        "1 of 5 links join a node to itself; dropped.",
        "2 of 5 links repeat another one; each is kept once.",
    )


def test_frames_keep_names_titles_and_what_is_unknown():
    graph = Graph.from_frames(NODES, EDGES, title="name", features=["size"])
    assert graph.ids == ("a", "b", "c", "d") and graph.class_names == ("blue", "red")
    assert graph.labels.tolist() == [1, 0, -1, 1]
    assert graph.titles == ("Ann", "Bob", "", "Dee 🦊")
    assert graph.features.ravel().tolist() == [1.0, 2.5, 0.0, 4.0]
    matrix = sparse.csr_array(np.eye(4))
    assert Graph.from_frames(NODES, EDGES, features=matrix).num_features == 4


def test_whole_numbers_that_pandas_made_floats_keep_their_names():
    nodes = pd.DataFrame({"id": [7, 8, 9], "label": [10, np.nan, 9]})
    graph = Graph.from_frames(nodes, pd.DataFrame({"source": [7.0], "target": [9.0]}))
    assert graph.class_names == ("9", "10") and graph.labels.tolist() == [1, -1, 0]
    assert graph.ids == ("7", "8", "9") and graph.edges.tolist() == [[0], [2]]
    assert graph.num_features == 3 and "no features" in graph.notes[0]


def test_a_column_of_text_becomes_words():
    graph = Graph.from_frames(NODES, EDGES, text=["text", "name"])
    assert graph.words is not None and {"graphs", "links"} <= set(graph.words)
    rows = np.array(parts(graph)[0])
    assert (rows[0] > 0).sum() >= 2 and (rows[2] > 0).sum() == 0  # its words occur nowhere else


def test_words_and_numbers_go_together():
    words = Graph.from_frames(NODES, EDGES, text=["text", "name"])
    both = Graph.from_frames(NODES, EDGES, text=["text", "name"], features=["size"])
    assert both.words == (*words.words, "size")
    rows, before = (np.array(parts(g)[0]) for g in (both, words))
    assert np.array_equal(rows[:, :-1], before)
    assert rows[:, -1].tolist() == [0.25, 0.625, 0.0, 1.0]  # of 1, 2.5, 0 and 4
    assert "'size'" in " ".join(both.notes)
    same = Graph.from_frames(NODES.assign(size=3), EDGES, text="text", features=["size"])
    assert np.array(parts(same)[0])[:, -1].tolist() == [0.0] * 4


@pytest.mark.parametrize(
    ("nodes", "edges", "columns", "message"),
    [
        ({}, {}, {"label": "colour"}, "no column 'colour': it has 'id', 'label'"),
        ({}, {}, {"source": "from"}, "links has no column 'from'"),
        ({"label": ["x"] * 4}, {}, {}, "only the class 'x'"),
        ({"label": [None] * 4}, {}, {}, "no label at all"),
        ({"label": [0.5, 1, 1, 0]}, {}, {}, "0.5, and labels must be"),
        ({"id": ["a", "b", "c", "a"]}, {}, {}, "'a' occurs twice"),
        ({"id": ["a", "", "c", "d"]}, {}, {}, "row 2: the id is empty"),
        ({"size": ["1", "2,5", "0", "0"]}, {}, {"features": ["size"]}, "'2,5' is not a finite"),
        ({"size": [1, np.nan, 0, 0]}, {}, {"features": ["size"]}, "node 'b': 'nan' is not"),
        ({}, {"target": ["b", "x", "d"]}, {}, "row 2: 'x' is no node's id"),
        ({"text": ["", "1 2", "-", "."]}, {}, {"text": "text"}, "no word in 4 texts"),
        ({}, {}, {"text": "text", "features": np.eye(4)}, "names of columns, not a matrix"),
    ],
)
def test_what_cannot_be_guessed_is_refused(nodes, edges, columns, message):
    with pytest.raises(bup.BupError, match=message):
        Graph.from_frames(NODES.assign(**nodes), EDGES.assign(**edges), **columns)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": None}, "no y"),
        ({"y": torch.zeros(3, 2)}, "one class a node"),
        ({"y": torch.tensor([0.5, 1, 0])}, "labels must be whole numbers"),
        ({"x": torch.full((3, 1), torch.nan)}, "finite"),
        ({"edge_index": torch.tensor([[0.0], [1.0]])}, "whole numbers"),
        ({"edge_index": torch.tensor([[0], [3]])}, "nodes 0 to 2"),
    ],
)
def test_pyg_data_that_is_no_graph_is_refused(changes, message):
    given = {
        "x": torch.eye(3),
        "y": torch.tensor([0, 1, 0]),
        "edge_index": torch.tensor([[0], [1]]),
    }
    with pytest.raises(bup.BupError, match=message):
        Graph.from_pyg(Data(**(given | changes)))


def test_pyg_labels_may_be_missing_and_have_a_column_of_their_own():
    given = {"x": torch.eye(3).to_sparse(), "edge_index": torch.tensor([[0], [1]])}
    nan = Graph.from_pyg(Data(**given, y=torch.tensor([[0.0], [torch.nan], [1.0]])))
    assert nan.labels.tolist() == [0, -1, 1]


def weighted(weights: list) -> dict[str, object]:
    peer = nx.Graph([(0, 1, {"weight": weights[0]}), (1, 2, {"weight": weights[1]}), (2, 3, {})])
    nx.set_node_attributes(peer, dict(enumerate("abab")), "label")
    ends = torch.tensor([[0, 1], [1, 2]])
    data = Data(x=torch.eye(3), edge_index=ends, y=torch.tensor([0, 1, 0]))
    column = {"source": ["a", "b"], "target": ["b", "c"], "Weight": weights}
    return {
        "networkx": lambda **more: Graph.from_networkx(peer, **more),
        "frames": lambda **more: Graph.from_frames(NODES, pd.DataFrame(column), **more),
        "pyg": lambda **more: Graph.from_pyg(
            data.clone().update({"edge_weight": torch.tensor(weights)}), **more
        ),
        "attributes": lambda **more: Graph.from_pyg(
            data.clone().update({"edge_attr": torch.tensor([weights, weights]).T}), **more
        ),
    }


@pytest.mark.parametrize("door", weighted([1, 1]))
def test_weights_of_links_are_not_lost_in_silence(door):
    with pytest.warns(UserWarning, match="of links is not used: every link counts") as said:
        graph = weighted([1, 2])[door]()
    assert len(said) == 1 and "of links is not used" in " ".join(graph.notes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accepted = weighted([1, 2])[door](unweighted=True)
        assert "of links is not used" not in " ".join(accepted.notes)
        weighted([1, 1])[door]()  # nothing is lost


def test_what_others_call_a_graph_can_be_trained_on():
    peer = nx.stochastic_block_model([20, 20], [[0.4, 0.02], [0.02, 0.4]], seed=0)
    nx.set_node_attributes(peer, {i: "ab"[i // 20] for i in peer}, "label")
    graph = Graph.from_networkx(peer)
    sizes = {"per_class": 2, "validation": 4, "test": None, "epochs": 2}
    for known in (peer, graph.to_pyg(), graph):
        result = bup.fit(known, "gcn", **sizes)
        assert result.probs.shape == (40, 2)
        assert bup.evaluate(result, known) == bup.evaluate(result)
    nx.set_node_attributes(peer, "?", "club")
    for attributes in peer.nodes.values():
        del attributes["label"]
    with pytest.raises(bup.BupError, match=r"no column 'label'.*'club'.*choose one with label="):
        bup.fit(peer)


@pytest.mark.parametrize("thing", [None, 3, NODES, [1, 2], np.eye(3)])
def test_what_is_no_graph_is_said(thing):
    with pytest.raises(bup.BupError, match=r"a graph is a bup.Graph, .* got"):
        bup.fit(thing)
    with pytest.raises(bup.BupError, match="by its name, got"):
        bup.load_graph(thing)


def test_arrays_may_come_without_features():
    graph = Graph.from_arrays(None, np.array([[0, 1], [1, 2]]), np.array([0, 1, 0]))
    assert parts(graph)[0] == np.eye(3).tolist() and "no features" in graph.notes[0]


@pytest.mark.parametrize("features", [np.array([["a"]] * 3), np.array([[None]] * 3)])
def test_features_are_numbers(features):
    with pytest.raises(bup.BupError, match="features must be numbers, got"):
        Graph.from_arrays(features, np.array([[0], [1]]), np.array([0, 1, 0]))


def test_a_graph_says_how_large_it_is():
    graph = Graph.from_arrays(np.ones((1200, 3)), np.array([[0, 1], [1, 2]]), np.arange(1200) % 2)
    assert repr(graph) == "Graph('arrays', 1,200 nodes, 2 links, 3 features, classes ('0', '1'))"
