"""Files of a graph, whole and broken, for the tests that read them."""

import csv
import dataclasses
import io
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from scipy import sparse

from bup.datasets import folder
from bup.errors import BupError
from bup.graph import UNLABELLED

NODES = "id,label,x,y\na,red,1,0.5\nb,blue,2,-1\nc,,3,4\nd,red,5,6\n"
TEXT_NODES = "id,label\na,red\nb,blue\nc,\nd,red\n"
EDGES = "source,target\na,b\nb,c\n"
TABLE = np.array([[1, 0.5], [2, -1], [3, 4], [5, 6]])
BAG = np.array([[0, 0, 0, 1], [0, 2, 0, 0], [0, 0, 0, 0], [0.5, 0, 0, 0]])

fuzz = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def set_limit(monkeypatch, limit, value):
    monkeypatch.setattr(folder, "LIMITS", dataclasses.replace(folder.LIMITS, **{limit: value}))


def put(place, nodes=None, edges=EDGES, features=None):
    """Write the files of a folder; None leaves a file out."""
    place = Path(place)
    for name, content in (("nodes.csv", nodes), ("edges.csv", edges), ("features.npz", features)):
        if content is not None:
            (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return place


def write(graph, place):
    """The files of a graph; dense features become columns."""
    ids = [graph.node_id(i) for i in range(graph.num_nodes)]
    labels = ["" if k == UNLABELLED else graph.class_names[k] for k in graph.labels]
    columns = {"id": ids, "label": labels}
    if graph.titles is not None:
        columns["title"] = graph.titles
    dense_features = isinstance(graph.features, np.ndarray)
    if dense_features:
        columns |= {f"feature {k}": x for k, x in enumerate(graph.features.T.tolist())}
    ends = ((ids[i], ids[j]) for i, j in graph.edges.T)
    put(
        place,
        nodes=csv_of(columns, zip(*columns.values(), strict=True)),
        edges=csv_of(["source", "target"], ends),
        features=None if dense_features else save_csr(graph.features),
    )


def csv_of(names, rows):
    file = io.StringIO()
    csv.writer(file).writerow(names)
    csv.writer(file).writerows(rows)
    return file.getvalue()


def load(place, nodes=None, edges=EDGES, features=None):
    return folder.load(put(place, nodes, edges, features))


def message(place, nodes=None, edges=EDGES, features=None):
    with pytest.raises(BupError) as caught:
        load(place, nodes, edges, features)
    assert_readable(caught.value)
    return str(caught.value)


def assert_readable(error):
    assert str(error).isprintable(), "one line, and nothing that could rewrite a terminal"
    assert len(str(error)) < 700


def graph_or_error(**files):
    """Either way of ending is right; every other exception is left to fail the test."""
    with tempfile.TemporaryDirectory() as place:
        try:
            graph = load(place, **files)
        except BupError as error:
            assert_readable(error)
            return None
    assert np.isfinite(dense(graph.features)).all()
    return graph


def dense(features):
    return features.toarray() if sparse.issparse(features) else features


def savez(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def save_csr(matrix, compressed=True):
    file = io.BytesIO()
    sparse.save_npz(file, matrix, compressed=compressed)
    return file.getvalue()


def csr_parts(**changes):
    matrix = sparse.csr_array(BAG)
    parts = {
        "format": b"csr",
        "shape": matrix.shape,
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
    }
    parts |= changes
    return savez(**{name: value for name, value in parts.items() if value is not None})


def npy(array):
    file = io.BytesIO()
    np.lib.format.write_array(file, array)
    return file.getvalue()


def npy_claiming(descr, shape, content=b""):
    file = io.BytesIO()
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + content


def zipped(members, compression=zipfile.ZIP_DEFLATED, comment=b""):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.comment = comment
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


EXAMPLES = {
    "csr": save_csr(sparse.csr_array(BAG), compressed=False),
    "compressed csr": save_csr(sparse.csr_array(BAG)),
    "table": savez(features=TABLE),
}
