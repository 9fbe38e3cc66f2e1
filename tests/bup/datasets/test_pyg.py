"""Graphs that PyTorch Geometric knows, from raw files put in place."""

import gzip
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
import torch_geometric.data
from scipy import sparse
from torch_geometric.io import read_npz
from torch_geometric.utils import is_undirected

import bup
from bup import datasets
from bup.datasets import pyg

WORDS = sparse.csr_matrix(np.array([[2, 0, 1], [0, 1, 0], [0, 0, 3], [1, 1, 0]], np.float32))
LINKS = sparse.csr_matrix(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 1, 0]]))
LABELS = np.array([0, 1, 1, 0])


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))


def put(key: str, **contents: bytes) -> None:
    folder = pyg.raw_folder(key)
    folder.mkdir(parents=True)
    for name, content in zip(pyg.GRAPHS[key].files, contents.values(), strict=True):
        (folder / name).write_bytes(content)


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def benchmark(**more) -> bytes:
    matrices = {
        f"{part}_{piece}": getattr(matrix, piece)
        for part, matrix in (("attr", WORDS), ("adj", LINKS))
        for piece in ("data", "indices", "indptr", "shape")
    }
    return npz(**matrices, labels=LABELS, **more)


@pytest.mark.parametrize("key", ["Amazon/Photo", "Coauthor/CS", "CitationFull/Cora_ML"])
def test_the_benchmarks_are_what_pyg_makes_of_them(key):
    put(key, file=benchmark(class_names=np.array(["Film", "Bag"])))
    graph = bup.load_graph(f"pyg:{key}")
    theirs = read_npz(pyg.raw_folder(key) / pyg.GRAPHS[key].files[0])
    assert is_undirected(theirs.edge_index) and theirs.num_edges == 2 * graph.num_edges
    assert graph.to_pyg().x.tolist() == theirs.x.tolist()
    assert set(map(tuple, graph.to_pyg().edge_index.T.tolist())) == set(
        map(tuple, theirs.edge_index.T.tolist())
    )
    assert graph.class_names == ("Film", "Bag") and graph.labels.tolist() == theirs.y.tolist()
    assert graph.name == f"pyg:{key}" and "itself" in graph.notes[0]


def test_names_that_are_pickled_stay_shut():
    put("Amazon/Photo", file=benchmark(class_names=np.array(["a", None], dtype=object)))
    assert bup.load_graph("pyg:Amazon/Photo").class_names == ("0", "1")


def test_the_other_forms():
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    edges = np.array([[0, 1], [1, 2], [2, 3]])
    put(
        "HeterophilousGraphDataset/Roman-empire",
        file=npz(node_features=x, node_labels=LABELS, edges=edges),
    )
    links = [[1], [0, 2], [3], []]
    wiki = {"features": x.tolist(), "labels": LABELS.tolist(), "links": links}
    put("WikiCS", file=json.dumps(wiki).encode())
    one, two = map(bup.load_graph, ("pyg:HeterophilousGraphDataset/Roman-empire", "pyg:WikiCS"))
    for graph in (one, two):
        assert graph.edges.tolist() == edges.T.tolist() and graph.to_pyg().x.tolist() == x.tolist()
    assert two.names is None


def test_articles_and_classes_have_their_names():
    articles = [
        {"id": "12", "title": "Hash table", "label": "Data", "tokens": ["a", "hash", "table"]},
        {"id": "25", "title": "B-tree", "label": "Data", "tokens": ["a", "tree"]},
    ]
    about = {"labels": {"0": "Systems", "1": "Data"}, "nodes": articles}
    wiki = {"features": [[0.5], [1.0]], "labels": [1, 1], "links": [[1], []]}
    put("WikiCS", file=json.dumps(wiki).encode())
    (pyg.raw_folder("WikiCS") / "metadata.json").write_text(json.dumps(about))
    graph = bup.load_graph("pyg:WikiCS")
    assert graph.class_names == ("Systems", "Data") and graph.names == ("Hash table", "B-tree")
    assert graph.name_of(1) == "B-tree" and graph.about(1) == graph.node_id(1) == "1"


def test_texts_are_titles():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        for name, text in (
            ("edge", "0,1\n1,2\n"),
            ("node-feat", "0.5,1\n1,0\n0,0\n"),
            ("node-label", "0\n1\n1\n"),
        ):
            made.writestr(f"arxiv/raw/{name}.csv.gz", gzip.compress(text.encode()))
        classes = b"label idx,arxiv category\n0,arxiv cs na\n1,arxiv cs mm\n"
        path = "arxiv/mapping/labelidx2arxivcategeory.csv.gz"
        made.writestr(path, gzip.compress(classes))
    texts = gzip.compress(b"node_id,text\n0,A paper\n1,NA\n2,\n")
    put("TAGDataset/ogbn-arxiv", zip=archive.getvalue(), texts=texts)
    graph = bup.load_graph("pyg:TAGDataset/ogbn-arxiv")
    assert graph.titles == ("A paper", "NA", "") and graph.num_edges == 2
    assert graph.class_names == ("arxiv cs na", "arxiv cs mm")


def test_planetoid_unpickles_arrays_only():
    key = "Planetoid/Cora"
    evil = pickle.dumps(print)
    put(key, **{f"f{i}": evil for i in range(len(pyg.GRAPHS[key].files))})
    with pytest.raises(bup.BupError, match=r"cannot be read.*not allowed"):
        bup.load_graph(f"pyg:{key}")


def test_without_internet_the_error_says_what_to_do(monkeypatch):
    def no_network(url, folder, log, filename):
        (pyg.raw_folder("Amazon/Photo") / filename).write_bytes(b"half of it")
        raise OSError(f"cannot reach {url}")

    monkeypatch.setattr(torch_geometric.data, "download_url", no_network)
    with pytest.raises(bup.BupError, match=r"photo\.npz.*connect.*put amazon_electronics_photo"):
        bup.load_graph("pyg:Amazon/Photo")
    assert list(pyg.raw_folder("Amazon/Photo").iterdir()) == []
    with pytest.raises(bup.BupError, match="Amazon/Computers"):
        bup.load_graph("pyg:Amazon/Camera")


@pytest.mark.parametrize("key", pyg.GRAPHS)
def test_pyg_knows_every_address(key, monkeypatch):
    asked = []

    def fetched(url, folder, log, filename):
        asked.append(url)
        (pyg.raw_folder(key) / filename).write_bytes(b"damaged")

    for name in ("download_url", "download_google_url"):
        monkeypatch.setattr(
            torch_geometric.data,
            name,
            lambda url, folder, filename, log: fetched(url, folder, log, filename),
        )
    with pytest.raises(bup.BupError, match=r"cannot be read.*delete them"):
        bup.load_graph(f"pyg:{key}")
    raw = pyg.GRAPHS[key]
    assert len(asked) == len(raw.files) + bool(raw.about) and "{}" not in str(asked)


def test_only_what_was_fetched_is_offered():
    source = datasets.find_source("pyg:Amazon/Photo")
    assert source.names() == []
    put("Amazon/Photo", file=benchmark())
    assert source.names() == ["pyg:Amazon/Photo"]
