"""The published files as arrays: arguments of ``Graph`` by name."""

import io
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np

from bup.datasets.citation.fetch import CITATION_GRAPHS, CannotFetch
from bup.graph import UNLABELLED, simple_edges
from bup.io.lazy import sparse


def parse_linqs(raw: Mapping[str, bytes]) -> dict[str, Any]:
    """From the text files of Cora."""
    class_number = {name: i for i, name in enumerate(CITATION_GRAPHS["cora"].class_sizes)}
    ids, words, labels = [], [], []
    for line in raw["cora.content"].decode("ascii").splitlines():
        paper, *bits, class_name = line.split("\t")
        ids.append(paper)
        words.append(np.array(bits, dtype=np.uint8))
        labels.append(class_number[class_name.replace("_", " ")])
    index = {paper: i for i, paper in enumerate(ids)}
    pairs = [line.split() for line in raw["cora.cites"].decode("ascii").splitlines()]
    ends = np.array([[index[a], index[b]] for a, b in pairs])
    return {
        "features": sparse.csr_array(np.stack(words), dtype=np.float32),
        "edges": simple_edges(ends[:, 0], ends[:, 1]),
        "labels": np.array(labels),
        "ids": tuple(ids),
    }


def parse_planetoid(raw: Mapping[str, bytes]) -> dict[str, Any]:
    """From Planetoid's pickles, which have no ids."""
    part = {name.split(".", 2)[2]: data for name, data in raw.items()}
    allx, ally, tx, ty = (restricted_unpickle(part[p]) for p in ("allx", "ally", "tx", "ty"))
    links = restricted_unpickle(part["graph"])
    test = np.array(part["test.index"].split(), dtype=np.int64)

    nodes = len(links)
    one_hot = np.zeros((nodes, ally.shape[1]), dtype=np.int64)
    one_hot[: len(ally)] = ally
    one_hot[test] = ty
    # Citeseer's test range has gaps: those nodes keep an empty row and no label.
    labels = np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), UNLABELLED)
    rows = np.concatenate([np.arange(allx.shape[0]), test])
    stacked = sparse.coo_array(sparse.vstack([allx, tx]))
    features = sparse.csr_array(
        (stacked.data, (rows[stacked.coords[0]], stacked.coords[1])), (nodes, allx.shape[1])
    )
    sources = np.concatenate([np.full(len(targets), node) for node, targets in links.items()])
    targets = np.concatenate([np.asarray(targets, dtype=np.int64) for targets in links.values()])
    return {"features": features, "edges": simple_edges(sources, targets), "labels": labels}


class _RestrictedUnpickler(pickle.Unpickler):
    """Builds arrays, sparse matrices and lists; refuses to import anything else."""

    _ALLOWED = {  # noqa: RUF012  (a constant, read only)
        ("collections", "defaultdict"),
        ("__builtin__", "list"),
        ("builtins", "list"),
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("scipy.sparse.csr", "csr_matrix"),
        ("scipy.sparse._csr", "csr_matrix"),
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"the file asks for {module}.{name}, which is not allowed")
        # The old files name modules that NumPy and SciPy have moved since.
        module = module.replace("numpy.core", "numpy._core").replace("sparse.csr", "sparse._csr")
        return super().find_class(module, name)


def restricted_unpickle(data: bytes) -> Any:
    """Read one of Planetoid's Python 2 pickles; it cannot run code."""
    try:
        return _RestrictedUnpickler(io.BytesIO(data), encoding="latin1").load()
    except Exception as error:  # a damaged pickle can fail in any way
        raise CannotFetch(f"a data file cannot be read ({error})") from error
