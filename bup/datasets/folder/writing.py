"""A graph as the files that are read."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable

import numpy as np
from scipy import sparse

from bup.datasets.folder.files import EDGES, FEATURES, NODES
from bup.datasets.folder.wording import shown
from bup.errors import BupError
from bup.graph import UNLABELLED, Graph


def write(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write ``graph`` as a folder that ``load`` reads; dense features become columns.

    Classes are read back in alphabetical order, and those without a node not at all.
    """
    folder = os.fspath(path)
    ids = graph.ids or tuple(map(str, range(graph.num_nodes)))
    labels = ["" if k == UNLABELLED else graph.class_names[k] for k in graph.labels]
    columns: list[Iterable[object]] = [ids, labels]
    names = ["id", "label"]
    for text in (*ids, *graph.class_names):
        _check_writable(text, empty_is_fine=False)
    if graph.titles is not None:
        for text in graph.titles:
            _check_writable(text, empty_is_fine=True)
        columns.append(graph.titles)
        names.append("title")
    if isinstance(graph.features, np.ndarray):
        columns += graph.features.T.tolist()
        names += [f"feature {k}" for k in range(graph.num_features)]
    try:
        os.makedirs(folder, exist_ok=True)
        for name in (NODES, EDGES, FEATURES):
            if os.path.lexists(os.path.join(folder, name)):
                raise BupError(f"{shown(folder, 200)} already has {name}: give an empty folder")
        ends = ((ids[i], ids[j]) for i, j in graph.edges.T)
        _write_csv(os.path.join(folder, NODES), names, zip(*columns, strict=True))
        _write_csv(os.path.join(folder, EDGES), ["source", "target"], ends)
        if not isinstance(graph.features, np.ndarray):
            sparse.save_npz(os.path.join(folder, FEATURES), graph.features)
    except OSError as error:
        raise BupError(
            f"cannot write to {shown(folder, 200)} ({error.strerror}): give another folder"
        ) from error


def _check_writable(text: str, empty_is_fine: bool) -> None:
    readable = text == text.strip() and "\0" not in text and (text or empty_is_fine)
    if not readable or text != text.encode(errors="ignore").decode():
        raise BupError(
            f"{shown(text)} would not be read back as it is: ids, classes and titles must be "
            "UTF-8 text without NUL and without white space around it; only titles may be empty"
        )


def _write_csv(path: str, names: list[str], rows: Iterable[Iterable[object]]) -> None:
    with open(path, "x", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names])
        csv.writer(file).writerows(rows)
