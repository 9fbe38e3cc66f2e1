"""Predictions that were made elsewhere: read, checked row by row, stored by their content.

A file has a row per node: ``id``, a column for each class, perhaps columns whose names begin with
``score`` (higher means less certain) and a column ``split`` (train, validation, test or empty).
Classes without a column are those that the model never learned.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from bup.datasets.tables.archive import open_archive
from bup.datasets.tables.csv import numbers, read_frame
from bup.datasets.tables.npz import NpzFile
from bup.datasets.uploads.store import Uploader, UploadStore
from bup.errors import BupError, quote, quote_all
from bup.graph import PARTS, Graph
from bup.io import files, limits, run_folders
from bup.io.csv import escape_formula
from bup.io.lazy import pandas as pd
from bup.run.custom_split import parse_parts
from bup.run.splits import Split

STORE = UploadStore(
    "predictions",
    "these predictions are not here: they were deleted, their time is over, or their key is "
    "incomplete. Bring them again, on the page Your own or with 'bup import'",
)
MOST_SCORES = 3
LONGEST_TITLE = 40
LONGEST_SCORE = 40  # letters of a name
_VERSION = 1
_TOLERANCE = 0.01
_OPTIONAL = ("probs", "mean", "var", "parts")  # arrays of a file, besides scores


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions for every node: class probabilities, or messages with variances."""

    digest: str  # of the graph
    classes: tuple[int, ...]  # of the graph, one per column
    probs: np.ndarray | None = None  # [n, c]
    mean: np.ndarray | None = None  # [n, c], with ``var`` instead of ``probs``
    var: np.ndarray | None = None
    scores: Mapping[str, np.ndarray] = field(default_factory=dict)  # [n] each
    parts: np.ndarray | None = None  # [n] index in ``PARTS``, -1 for none
    title: str = ""  # not part of the key

    @property
    def method(self) -> str:
        """The method of the runs that show them."""
        return "own" if self.probs is not None else "own_messages"

    def split(self, usual: Split) -> Split:
        """The split that came with them, or ``usual``."""
        if self.parts is None:
            return usual
        train, validation, test = (np.flatnonzero(self.parts == k) for k in range(len(PARTS)))
        return Split(train, validation, test, usual.classes, usual.left_out)

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {name: getattr(self, name) for name in _OPTIONAL}
        arrays |= {f"scores.{name}": values for name, values in self.scores.items()}
        return {name: array for name, array in arrays.items() if array is not None}

    @property
    def key(self) -> str:
        """A name that depends on the content alone."""
        content = hashlib.sha256(repr((self.digest, self.classes)).encode())
        files.hash_arrays(content, self._arrays())
        return files.key_of(content)

    def pack(self) -> bytes:
        values = {name: getattr(self, name) for name in ("digest", "classes", "title")}
        return files.pack(self._arrays(), {"version": _VERSION, **values})

    def save(self, uploader: Uploader | None = None) -> str:
        """Store them; returns the key by which runs find them."""
        STORE.save(self.key, self.pack(), uploader)
        return self.key

    def register(self) -> None:
        """Let runs of this process find them for as long as this object exists."""
        _registered[self.key] = self


_registered: WeakValueDictionary[str, Predictions] = WeakValueDictionary()


def load(key: str, graph: Graph) -> Predictions:
    """Predictions by their key; those for this graph have been checked."""
    if (registered := _registered.get(key)) is not None:
        return registered
    return STORE.load(key, lambda contents: _check_stored(unpack(contents), graph))


def unpack(contents: files.Contents) -> Predictions:
    arrays, values = contents
    scores = contents.group("scores.")
    outputs: dict[str, Any] = {name: arrays.get(name) for name in _OPTIONAL}
    try:
        if values["version"] != _VERSION:
            raise BupError(STORE.not_found)
        title = str(values.get("title", ""))[:LONGEST_TITLE]
        classes = tuple(values["classes"])
        return Predictions(values["digest"], classes, scores=scores, title=title, **outputs)
    except (KeyError, TypeError) as error:
        raise files.DamagedFile(f"it lacks {error}") from error


def _check_stored(stored: Predictions, graph: Graph) -> Predictions:
    """Refuse a stored file that ``check`` could not have made for this graph."""
    if stored.digest != graph.digest:
        return stored  # the method that asks for them refuses them
    classes, parts = stored.classes, stored.parts
    tables = stored.probs, stored.mean, stored.var
    if not all(type(c) is int and 0 <= c < graph.num_classes for c in classes):
        raise files.DamagedFile(f"its classes are {classes}, not those of the graph")
    if len(classes) < 2 or list(classes) != sorted(set(classes)):
        raise files.DamagedFile("its classes are not two or more, each once, in order")
    if any(table is not None and table.dtype != np.float32 for table in tables):
        raise files.DamagedFile("its numbers are not of single precision")
    if parts is not None and parts.shape != (graph.num_nodes,):
        raise files.DamagedFile("its split is not a part for every node")
    check(graph, *tables, classes, stored.scores, parts)
    return stored


class StoredPredictions(NamedTuple):
    """Stored predictions, as a menu needs them."""

    key: str
    title: str
    digest: str  # of their graph
    classes: tuple[int, ...]
    method: str


def list_stored(digest: str) -> list[StoredPredictions]:
    """All that are stored for a graph; only for a server that has a single user."""
    listed = []
    for path in STORE.paths():
        with contextlib.suppress(OSError):
            stored = _read_summary(path, path.stat().st_mtime_ns)
            if stored is not None and stored.digest == digest:
                listed.append(stored)
    return sorted(listed, key=lambda stored: (stored.title, stored.key))


@lru_cache(maxsize=1024)
def _read_summary(path: Path, stamp: int) -> StoredPredictions | None:
    try:
        names, values = files.read_header(path)
        method = "own" if "probs" in names else "own_messages"
        title = str(values.get("title") or path.stem[:6])[:LONGEST_TITLE]
        return StoredPredictions(
            path.stem, title, values["digest"], tuple(values["classes"]), method
        )
    except (files.DamagedFile, KeyError, TypeError):
        return None


def delete(key: str) -> None:
    """Delete predictions and every run that shows them."""
    _registered.pop(key, None)
    STORE.delete(key)
    for folder in run_folders.of_predictions(key):
        shutil.rmtree(folder, ignore_errors=True)


def check(
    graph: Graph,
    probs: Any = None,
    mean: Any = None,
    var: Any = None,
    classes: tuple[int, ...] | None = None,
    scores: Mapping[str, Any] | None = None,
    parts: np.ndarray | None = None,
) -> Predictions:
    """Predictions for a graph from arrays, with every row checked.

    Parameters
    ----------
    graph : Graph
        The graph; rows are in the order of its nodes.
    probs : array [n, c], default None
        Class probabilities; or ``mean`` and ``var`` instead.
    mean, var : array [n, c], default None
        Means and variances of messages.
    classes : tuple of int, default None
        The class of each column; None: all classes of the graph.
    scores : mapping of arrays [n], default None
        Uncertainty scores by name; higher means less certain.
    parts : array [n], default None
        The split on which the model was made: 0 train, 1 validation, 2 test, -1 none.

    Returns
    -------
    Predictions

    Raises
    ------
    BupError
        If an array has another shape or a row is wrong; the message names the node.

    Examples
    --------
    >>> import bup, numpy as np
    >>> graph = bup.load_graph("synthetic:nodes=60,classes=2,words=20")
    >>> bup.predictions.check(graph, np.full((60, 2), 0.5)).method
    'own'
    """
    classes = tuple(range(graph.num_classes)) if classes is None else classes
    shape = (graph.num_nodes, len(classes))
    arrays: dict[str, Any] = {}
    for name, given in (("probs", probs), ("mean", mean), ("var", var)):
        if given is not None:
            array = np.asarray(given, dtype=np.float64)
            if array.shape != shape:
                raise BupError(
                    f"{name} must have a row per node and a column per class, {shape}, got "
                    f"{array.shape}"
                )
            with np.errstate(over="ignore"):  # as it is stored: 1e300 would be infinite
                narrow = array.astype("f4")
            _refuse(graph, ~np.isfinite(narrow).all(axis=1), array, "is not finite")
            arrays[name] = array
    if "probs" in arrays:
        table = arrays["probs"]
        _refuse(graph, (table < -1e-6).any(axis=1), table, "has a negative probability")
        total = table.sum(axis=1)
        _refuse(graph, np.abs(total - 1) > _TOLERANCE, table, "does not sum to 1")
        arrays["probs"] = (table.clip(0) / table.clip(0).sum(axis=1, keepdims=True)).astype("f4")
    elif "mean" in arrays and "var" in arrays:
        table = arrays["var"]
        arrays = {name: array.astype("f4") for name, array in arrays.items()}
        _refuse(graph, (arrays["var"] <= 0).any(axis=1), table, "has a variance of 0 or less")
    else:
        raise BupError("predictions are class probabilities, or a mean and a variance of messages")
    return Predictions(
        graph.digest,
        classes,
        scores=_scores(graph, scores or {}),
        parts=_parts(graph, classes, parts),
        **arrays,
    )


def _refuse(graph: Graph, bad: Any, table: np.ndarray, what: str) -> None:
    if bad.any():
        nodes = np.flatnonzero(bad)
        ids = quote_all([graph.node_id(int(i)) for i in nodes])
        raise BupError(
            f"the row of {ids} {what}: {np.round(table[nodes[0]], 4).tolist()}. Give each node "
            "probabilities from 0 to 1 that sum to 1"
        )


def _check_number_of_scores(scores: Collection[str]) -> None:
    if len(scores) > MOST_SCORES:
        raise BupError(f"there are {len(scores)} scores: give at most {MOST_SCORES}")


def _scores(graph: Graph, scores: Mapping[str, Any]) -> dict[str, np.ndarray]:
    _check_number_of_scores(scores)
    by_name: dict[str, np.ndarray] = {}
    for name, given in scores.items():
        with np.errstate(over="ignore"):
            values = np.asarray(given, dtype=np.float32)
        if values.shape != (graph.num_nodes,) or not np.isfinite(values).all():
            raise BupError(f"score {quote(name)} must be a finite number for each node")
        # A name from a file appears in sentences, charts and tables: no markup.
        plain = " ".join(re.sub(r"[^\w .,()+-]", " ", name).split())[:LONGEST_SCORE]
        if plain in by_name:
            raise BupError(f"two scores are called {quote(plain)}: give each a name of its own")
        by_name[plain] = values
    return by_name


def _parts(graph: Graph, classes: tuple[int, ...], parts: np.ndarray | None) -> np.ndarray | None:
    """The split of a file; nodes of a class without a column can only be in its test part."""
    if parts is None:
        return None
    may_learn = np.isin(graph.labels, classes)
    parts = np.where(may_learn | (graph.labelled & (parts == 2)), parts, -1).astype(np.int8)
    for k, name in enumerate(PARTS):
        if not (parts == k).any():
            raise BupError(
                f"the split has no {name} node with a class: give some, or leave the split out"
            )
    return parts


def read(graph: Graph, name: str, content: bytes) -> Predictions:
    """Predictions for a graph from a file.

    Parameters
    ----------
    graph : Graph
        The graph.
    name : str
        The file's name, which ends in .csv, .tsv, .txt or .npz.
    content : bytes
        What is in it: a table with a column ``id`` and one per class, or an npz with ``probs``.

    Returns
    -------
    Predictions

    Raises
    ------
    BupError
        If the file cannot be read, or does not suit the graph.

    Examples
    --------
    >>> import bup
    >>> graph = bup.load_graph("synthetic:nodes=60,classes=2,words=20")
    >>> rows = [f"{graph.node_id(i)},0.25,0.75" for i in range(60)]
    >>> table = chr(10).join([",".join(("id", *graph.class_names)), *rows])
    >>> bup.predictions.read(graph, "probs.csv", table.encode()).title
    'probs'
    """
    if len(content) > limits.UPLOAD_MB.bytes:
        raise BupError(
            f"{quote(name)} is larger than {limits.UPLOAD_MB.value} MB ({limits.UPLOAD_MB.name})"
        )
    if name.lower().endswith(".npz"):
        predictions = _read_npz(graph, name, content)
    elif name.lower().endswith((".csv", ".tsv", ".txt")):
        predictions = _read_table(graph, name, content)
    else:
        raise BupError(f"predictions come as csv or npz, got {quote(name)}")
    return replace(predictions, title=name.rpartition(".")[0][:LONGEST_TITLE])


def _read_table(graph: Graph, name: str, content: bytes) -> Predictions:
    table, _ = read_frame(name, content)
    by_name = {column.lower(): column for column in table.columns}
    if "id" not in by_name:
        raise BupError(f"{quote(name)} has no column 'id': it has {quote_all(table.columns)}")
    order = _order(graph, name, table[by_name["id"]].tolist())
    classes, columns = _class_columns(graph, name, list(table.columns))
    scores = [c for c in table.columns if c.lower().startswith("score") and c not in columns]
    values = {c: _numbers(name, table[c])[order] for c in (*columns, *scores)}
    probs = np.stack([values[c] for c in columns], axis=1)
    split = by_name.get("split")
    unused = [c for c in table.columns if c not in {by_name["id"], split, *columns, *scores}]
    missing = [n for c, n in enumerate(graph.class_names) if c not in classes]
    if unused and missing and (np.abs(probs.sum(axis=1) - 1) > _TOLERANCE).any():
        raise BupError(
            f"{quote(name)} has no column for {quote_all(missing)}, and {quote_all(unused)} is "
            "no class: name each column after its class, or leave out what is none"
        )
    has_split = split is not None and split not in columns
    parts = parse_parts(name, table[split].to_numpy()[order]) if has_split else None
    return check(graph, probs, classes=classes, scores={c: values[c] for c in scores}, parts=parts)


def _numbers(name: str, column: pd.Series) -> np.ndarray:
    values = numbers(column)
    if values is None:
        row = next(r for r in range(len(column)) if numbers(column.iloc[[r]]) is None)
        raise BupError(
            f"{quote(name)}, row {row + 1}, column {quote(str(column.name))}: "
            f"{quote(column.iloc[row])} is no finite number"
        )
    return values


_ARRAYS = {
    **dict.fromkeys(("probs", "mean", "var"), ("f", 2)),
    **dict.fromkeys(("ids", "classes"), ("SUiu", 1)),
    "split": ("SU", 1),
}
"""What an npz file can have, besides scores: kinds of numbers, and dimensions."""


def _read_npz(graph: Graph, name: str, content: bytes) -> Predictions:
    arrays = _read_arrays(name, content)
    classes = None
    if "classes" in arrays:
        names = list(map(str, arrays.pop("classes").tolist()))
        classes, columns = _class_columns(graph, name, names)
        if len(columns) != len(names):
            raise BupError(f"{quote(name)}: not all of {quote_all(names)} are classes of the graph")
    for key, array in arrays.items():
        if len(array) != graph.num_nodes:
            raise BupError(
                f"{quote(name)}: {quote(key)} has {len(array):,} rows where the graph has "
                f"{graph.num_nodes:,} nodes: give a row for each"
            )
    if "ids" in arrays:
        order = _order(graph, name, list(map(str, arrays.pop("ids").tolist())))
        arrays = {key: array[order] for key, array in arrays.items()}
    parts = parse_parts(name, arrays.pop("split")) if "split" in arrays else None
    outputs = {key: arrays.pop(key) for key in ("probs", "mean", "var") if key in arrays}
    return check(graph, **outputs, classes=classes, scores=arrays, parts=parts)


def _read_arrays(name: str, content: bytes) -> dict[str, np.ndarray]:
    with open_archive(name, io.BytesIO(content)) as archive:
        npz = NpzFile(quote(name), archive, limits.upload_limits())
        npz.check_total(archive.infolist())
        names = [entry.removesuffix(".npy") for entry in archive.namelist()]
        if "probs" not in names and not {"mean", "var"} <= set(names):
            raise BupError(
                f"{quote(name)} has {quote_all(sorted(names)) or 'no arrays'}: give 'probs' "
                "[n, c], or 'mean' and 'var'"
            )
        scores = [key for key in names if key.startswith("score")]
        _check_number_of_scores(scores)
        kinds = _ARRAYS | dict.fromkeys(scores, ("fiub", 1))
        arrays = {key: npz.array(key, *kinds[key]).read() for key in names if key in kinds}
    # Bytes are text as well.
    return {key: a.astype(str) if a.dtype.kind == "S" else a for key, a in arrays.items()}


def _order(graph: Graph, name: str, ids: list[str]) -> np.ndarray:
    """The row [n] of every node of the graph."""
    nodes = [graph.node_id(i) for i in range(graph.num_nodes)]
    # The CSV files that we write have an apostrophe before what looks like a formula.
    spelling = {escape_formula(node_id): node_id for node_id in nodes}
    spelling |= {node_id: node_id for node_id in nodes}
    row_of: dict[str, int] = {}
    for row, text in enumerate(ids):
        node_id = spelling.get(text, text)
        if node_id in row_of:
            raise BupError(
                f"{quote(name)}, row {row + 1}: {quote(node_id)} is already on row "
                f"{row_of[node_id] + 1}: give each node once"
            )
        row_of[node_id] = row
    if unknown := [node_id for node_id in row_of if node_id not in spelling]:
        raise BupError(
            f"{quote(name)}, row {row_of[unknown[0]] + 1}: the graph has no node "
            f"{quote_all(unknown)}"
        )
    if missing := [node_id for node_id in nodes if node_id not in row_of]:
        raise BupError(
            f"{quote(name)} has no row for {len(missing):,} of {len(nodes):,} nodes: "
            f"{quote_all(missing)}"
        )
    return np.array([row_of[node_id] for node_id in nodes])


def _class_columns(
    graph: Graph, name: str, columns: list[str]
) -> tuple[tuple[int, ...], list[str]]:
    """Classes of the graph that are columns, by name or number, and those columns."""
    lookup = {str(c): c for c in range(graph.num_classes)}
    lookup |= {class_name.strip(): c for c, class_name in enumerate(graph.class_names)}
    column_of = {lookup[c]: c for c in columns if c in lookup}
    if len(column_of) < 2:
        raise BupError(
            f"{quote(name)} has columns for {len(column_of)} classes: name a column after each of "
            f"{quote_all(graph.class_names, 20)}, it has {quote_all(columns)}"
        )
    classes = tuple(sorted(column_of))
    return classes, [column_of[c] for c in classes]
