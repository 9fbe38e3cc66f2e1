import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bup.datasets import folder
from bup.graph import UNLABELLED, Graph, simple_edges
from tests.support.folder_files import (
    BAG,
    NODES,
    TABLE,
    TEXT_NODES,
    csr_parts,
    dense,
    graph_or_error,
    load,
    put,
    save_csr,
    savez,
    write,
)


def test_feature_columns_give_exactly_this_graph(tmp_path):
    graph = load(tmp_path, NODES)
    assert graph.name == f"folder:{tmp_path}"
    assert graph.ids == ("a", "b", "c", "d")
    assert graph.class_names == ("blue", "red")
    assert graph.labels.tolist() == [1, 0, UNLABELLED, 1]
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.titles is None
    assert graph.notes == ()
    assert isinstance(graph.features, np.ndarray) and graph.features.dtype == np.float32
    np.testing.assert_array_equal(graph.features, TABLE)


def test_the_name_is_the_path_as_given(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    put(tmp_path / "mine", NODES)
    monkeypatch.chdir(tmp_path)
    assert folder.load("./mine/").name == "folder:./mine/"


@pytest.mark.parametrize(
    "features",
    [
        save_csr(sparse.csr_matrix(BAG)),
        save_csr(sparse.csr_array(BAG)),
        csr_parts(data=np.array([1, 2, 0.5], ">f4")),
        csr_parts(format="csr"),
        csr_parts(indices=np.array([3, 1, 0], np.uint64), indptr=np.array([0, 1, 2, 2, 3], ">i2")),
        # Not canonical: columns out of order, a stored zero, and 2 given as 1.5 + 0.5.
        csr_parts(
            data=np.array([1.0, 0, 1.5, 0.5, 0.5]),
            indices=np.array([3, 0, 1, 1, 0]),
            indptr=np.array([0, 2, 4, 4, 5]),
        ),
        csr_parts(something_else=np.arange(3)),
        savez(features=BAG),
        savez(features=np.asfortranarray(BAG)),
        savez(features=BAG.astype(np.float16)),
        savez(features=BAG, other=np.array([{}], dtype=object)),
    ],
)
def test_every_form_of_features_gives_the_same_graph_as_columns(tmp_path, features):
    columns = "id,label,p,q,r,s\na,red,0,0,0,1\nb,blue,0,2,0,0\nc,,0,0,0,0\nd,red,0.5,0,0,0\n"
    (tmp_path / "columns").mkdir()
    expected = load(tmp_path / "columns", columns)
    graph = load(tmp_path, TEXT_NODES, features=features)
    np.testing.assert_array_equal(dense(graph.features), BAG)
    assert sparse.issparse(graph.features)
    assert graph.digest == expected.digest


@pytest.mark.parametrize(
    "array", [np.eye(4, dtype=bool), np.eye(4, dtype=np.int8), np.eye(4, dtype=np.uint64)]
)
def test_counts_and_flags_are_features_too(tmp_path, array):
    np.testing.assert_array_equal(
        dense(load(tmp_path, TEXT_NODES, features=savez(features=array)).features), np.eye(4)
    )


@pytest.mark.parametrize(
    "save", [lambda x: savez(features=x), lambda x: save_csr(sparse.csr_array(x))]
)
@pytest.mark.parametrize(("filled", "is_sparse"), [(0, True), (11, True), (12, False), (40, False)])
def test_features_are_sparse_below_three_tenths(tmp_path, save, filled, is_sparse):
    table = np.zeros(40)
    table[:filled] = 1
    graph = load(tmp_path, TEXT_NODES, features=save(table.reshape(4, 10)))
    assert sparse.issparse(graph.features) is is_sparse
    assert dense(graph.features).sum() == filled


def test_ids_labels_and_titles_are_text_as_written(tmp_path):
    big = str(2**70)
    nodes = (
        '\ufeffid,x,label,title\r\nNA,1,null,"One, two"\r\n007,2,NaN,\r\n'
        f'7,3,1.0,"say ""so"""\r\n{big},4,<b onclick=x>,"two\nlines"\r\nnull,5,1,é\u2028\u202eb\r\n'
    )
    graph = load(tmp_path, nodes, f"source,target\r\nNA,007\r\n\r\n{big},null\r\n")
    assert graph.ids == ("NA", "007", "7", big, "null")
    assert graph.class_names == ("1", "1.0", "<b onclick=x>", "NaN", "null")
    assert [graph.class_names[k] for k in graph.labels] == [
        "null", "NaN", "1.0", "<b onclick=x>", "1",
    ]  # fmt: skip
    assert graph.titles == ("One, two", "", 'say "so"', "two\nlines", "é\u2028\u202eb")
    assert graph.edges.tolist() == [[0, 3], [1, 4]]


def test_white_space_around_cells_is_removed_and_nowhere_else(tmp_path):
    nodes = " id , label ,title, x\n a ,\tred, T 1 , 1 \nb, deep  blue ,,2\n"
    graph = load(tmp_path, nodes, "source, target\na , b\n")
    assert graph.ids == ("a", "b")
    assert graph.class_names == ("deep  blue", "red")
    assert graph.titles == ("T 1", "")
    assert graph.features.tolist() == [[1], [2]]


def test_dropped_edges_and_unused_columns_are_counted_in_the_notes(tmp_path):
    edges = "weight,source,target\n1,a,b\n1,b,a\n1,a,b\n1,c,c\n1,b,c\n"
    graph = load(tmp_path, NODES, edges)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.notes == (
        "edges.csv: 1 of 5 rows link a node to itself; dropped.",
        "edges.csv: 2 of 5 rows repeat a link, in the same or the other direction; "
        "each link is kept once.",
        "edges.csv: columns that are not used: 'weight'.",
    )


@given(st.lists(st.tuples(*[st.sampled_from("abcd")] * 2), min_size=1, max_size=12))
@settings(max_examples=50, deadline=None)
def test_edges_are_the_set_of_unordered_pairs(pairs):
    links = {frozenset(pair) for pair in pairs if pair[0] != pair[1]}
    edges = "source,target\n" + "".join(f"{a},{b}\n" for a, b in pairs)
    graph = graph_or_error(nodes=NODES, edges=edges)
    if not links:
        assert graph is None
        return
    assert {frozenset("abcd"[i] for i in edge) for edge in graph.edges.T} == links
    loops = sum(a == b for a, b in pairs)
    repeated = len(pairs) - loops - len(links)
    assert len(graph.notes) == (loops > 0) + (repeated > 0)
    assert all(f"{k} of {len(pairs)} rows" in str(graph.notes) for k in (loops, repeated) if k)


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6).map(str.strip)
names = cells.filter(bool)


@st.composite
def graphs(draw):
    ids = draw(st.lists(names, min_size=2, max_size=6, unique=True))
    classes = draw(st.lists(names, min_size=2, max_size=3, unique=True).map(sorted))
    n, c = len(ids), len(classes)
    labels = draw(st.lists(st.integers(UNLABELLED, c - 1), min_size=n, max_size=n))
    labels[:2] = 0, c - 1
    ends = st.tuples(*[st.integers(0, n - 1)] * 2)
    sources, targets = np.array([(0, 1), *draw(st.lists(ends, max_size=8))]).T
    value = st.just(0.0) | st.floats(-1e6, 1e6, width=32)
    columns = draw(st.integers(1, 3))
    rows = st.lists(value, min_size=columns, max_size=columns)
    features = np.array(draw(st.lists(rows, min_size=n, max_size=n)), np.float32)
    return Graph(
        name="any",
        features=sparse.csr_array(features) if draw(st.booleans()) else features,
        edges=simple_edges(sources, targets),
        labels=np.array(labels),
        class_names=tuple(classes),
        ids=draw(st.sampled_from([None, tuple(ids)])),
        titles=draw(st.none() | st.tuples(*[cells] * n)),
    )


@given(graphs())
@settings(max_examples=100, deadline=None)
def test_what_is_written_is_read_back(graph):
    with tempfile.TemporaryDirectory() as place:
        write(graph, place)
        back = folder.load(place)

    def label_names(graph):
        return [None if k == UNLABELLED else graph.class_names[k] for k in graph.labels]

    assert back.ids == tuple(graph.node_id(i) for i in range(graph.num_nodes))
    assert label_names(back) == label_names(graph)
    assert back.titles == graph.titles
    assert back.notes == ()
    np.testing.assert_array_equal(back.edges, graph.edges)
    np.testing.assert_array_equal(dense(back.features), dense(graph.features))
