"""Predictions that were made elsewhere: read, checked row by row, kept by their content.

A file has a row per node: ``id``, a column for each class, perhaps columns whose names begin with
``score`` (higher means less certain) and a column ``split`` (train, validation, test or empty).
Classes without a column are those that the model was never shown.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import re
import shutil
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from bup.datasets.uploads import limits
from bup.datasets.uploads.store import Uploader, UploadStore
from bup.datasets.zips import array_in, check_zip
from bup.errors import BupError
from bup.graph import PARTS, Graph
from bup.io import files, run_folders
from bup.io.csv import escape_formula
from bup.io.files import DamagedFile
from bup.io.quoting import quote, quote_all
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


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says of every node: class probabilities, or messages with variances."""

    digest: str  # of the graph
    classes: tuple[int, ...]  # of the graph, one a column
    probs: np.ndarray | None = None  # [n, c]
    mean: np.ndarray | None = None  # [n, c], with ``var`` instead of ``probs``
    var: np.ndarray | None = None
    scores: Mapping[str, np.ndarray] = field(default_factory=dict)  # [n] each
    parts: np.ndarray | None = None  # [n] place in ``PARTS``, -1 for none
    title: str = ""  # what people call them; no part of what they are

    @property
    def method(self) -> str:
        """The method as which they are a run."""
        return "own" if self.probs is not None else "own_messages"

    def split(self, usual: Split) -> Split:
        """The split that came with them, or the usual one."""
        if self.parts is None:
            return usual
        train, validation, test = (np.flatnonzero(self.parts == k) for k in range(len(PARTS)))
        return Split(train, validation, test, usual.classes, usual.left_out)

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {"probs": self.probs, "mean": self.mean, "var": self.var, "parts": self.parts}
        arrays |= {f"scores.{name}": values for name, values in self.scores.items()}
        return {name: array for name, array in arrays.items() if array is not None}

    @property
    def key(self) -> str:
        """A name that follows from the content alone."""
        content = hashlib.sha256(repr((self.digest, self.classes)).encode())
        for name, array in sorted(self._arrays().items()):
            content.update(f"{name}{array.dtype}{array.shape}".encode())
            content.update(np.ascontiguousarray(array).data)
        return base64.b32encode(content.digest()).decode().lower()[:20]

    def pack(self) -> bytes:
        values = {
            "version": _VERSION,
            "digest": self.digest,
            "classes": self.classes,
            "title": self.title,
        }
        return files.pack(self._arrays(), values)

    def save(self, owner: Uploader | None = None) -> str:
        """Put them where runs find them, under their key."""
        STORE.save(self.key, self.pack(), owner)
        return self.key

    def register(self) -> None:
        """Let runs of this process find them, as long as somebody holds them."""
        _registered[self.key] = self


_registered: WeakValueDictionary[str, Predictions] = WeakValueDictionary()


def load(key: str, graph: Graph) -> Predictions:
    """Predictions by their key, sound if they are for this graph."""
    if (shown := _registered.get(key)) is not None:
        return shown
    return STORE.load(key, lambda packed: _sound(unpack(packed), graph))


def unpack(packed: files.Contents) -> Predictions:
    arrays, values = packed
    scores = {k.removeprefix("scores."): v for k, v in arrays.items() if k.startswith("scores.")}
    named: dict[str, Any] = {name: arrays.get(name) for name in ("probs", "mean", "var", "parts")}
    try:
        if values["version"] != _VERSION:
            raise BupError(STORE.not_found)
        title = str(values.get("title", ""))[:LONGEST_TITLE]
        classes = tuple(values["classes"])
        return Predictions(values["digest"], classes, scores=scores, title=title, **named)
    except (KeyError, TypeError) as error:
        raise DamagedFile(f"it lacks {error}") from error


def _sound(given: Predictions, graph: Graph) -> Predictions:
    """The same, if they could have been brought for this graph as they are."""
    if given.digest != graph.digest:
        return given  # whoever asks for them is told
    classes = given.classes
    if not all(type(c) is int and 0 <= c < graph.num_classes for c in classes):
        raise DamagedFile(f"its classes are {classes}, not those of the graph")
    if len(classes) < 2 or list(classes) != sorted(set(classes)):
        raise DamagedFile("its classes are not two or more, each once, in order")
    tables = [t for t in (given.probs, given.mean, given.var) if t is not None]
    if any(table.dtype != np.float32 for table in tables):
        raise DamagedFile("its numbers are not of single precision")
    if given.parts is not None and given.parts.shape != (graph.num_nodes,):
        raise DamagedFile("its split is not a part for every node")
    check(graph, given.probs, given.mean, given.var, classes, given.scores, given.parts)
    return given


class StoredPredictions(NamedTuple):
    """Predictions that are kept, as a menu needs them."""

    key: str
    title: str
    digest: str  # of their graph
    classes: tuple[int, ...]
    method: str


def list_stored(digest: str) -> list[StoredPredictions]:
    """All that are kept of a graph: for a machine of one's own, where all of them are one's own."""
    found = []
    for path in STORE.paths():
        with contextlib.suppress(OSError):
            about = _about(path, path.stat().st_mtime_ns)
            if about is not None and about.digest == digest:
                found.append(about)
    return sorted(found, key=lambda about: (about.title, about.key))


@lru_cache(maxsize=1024)
def _about(path: Path, stamp: int) -> StoredPredictions | None:
    try:
        names, values = files.read_header(path)
        method = "own" if "probs" in names else "own_messages"
        title = str(values.get("title") or path.stem[:6])[:LONGEST_TITLE]
        return StoredPredictions(
            path.stem, title, values["digest"], tuple(values["classes"]), method
        )
    except (DamagedFile, KeyError, TypeError):
        return None


def delete(key: str) -> None:
    """Take predictions out of the space, and every run of them."""
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
    """Predictions in the order of the graph's nodes, if every row is sound."""
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
            with np.errstate(over="ignore"):  # as it is kept: 1e300 would be infinite
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
        _refuse(
            graph,
            (arrays["var"].astype("f4") <= 0).any(axis=1),
            arrays["var"],
            "has a variance of 0 or less",
        )
        arrays = {name: array.astype("f4") for name, array in arrays.items()}
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


def _refuse_many(scores: Collection[str]) -> None:
    if len(scores) > MOST_SCORES:
        raise BupError(f"there are {len(scores)} scores: give at most {MOST_SCORES}")


def _scores(graph: Graph, scores: Mapping[str, Any]) -> dict[str, np.ndarray]:
    _refuse_many(scores)
    found = {}
    for name, given in scores.items():
        with np.errstate(over="ignore"):
            values = np.asarray(given, dtype=np.float32)
        if values.shape != (graph.num_nodes,) or not np.isfinite(values).all():
            raise BupError(f"score {quote(name)} must be a finite number for each node")
        # A name from a file stands in sentences, charts and tables: no markup.
        plain = " ".join(re.sub(r"[^\w .,()+-]", " ", name).split())[:LONGEST_SCORE]
        if plain in found:
            raise BupError(f"two scores are called {quote(plain)}: give each a name of its own")
        found[plain] = values
    return found


def _parts(graph: Graph, classes: tuple[int, ...], parts: np.ndarray | None) -> np.ndarray | None:
    """The split that was brought; a class without a column can only be in its test part."""
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
    """Predictions for a graph from ``probs.csv`` or ``probs.npz``."""
    if len(content) > limits.UPLOAD_MB.value * limits.MEGABYTE:
        raise BupError(
            f"{quote(name)} is larger than {limits.UPLOAD_MB.value} MB ({limits.UPLOAD_MB.name})"
        )
    if name.lower().endswith(".npz"):
        found = _read_npz(graph, name, content)
    elif name.lower().endswith((".csv", ".tsv", ".txt")):
        found = _read_table(graph, name, content)
    else:
        raise BupError(f"predictions come as csv or npz, got {quote(name)}")
    return replace(found, title=name.rpartition(".")[0][:LONGEST_TITLE])


def _read_table(graph: Graph, name: str, content: bytes) -> Predictions:
    from bup.datasets.uploads import tables

    table = tables.read_table(name, tables.decoded(name, content)[0])
    by_name = {column.lower(): column for column in table.columns}
    if "id" not in by_name:
        raise BupError(f"{quote(name)} has no column 'id': it has {quote_all(table.columns)}")
    order = _order(graph, name, table[by_name["id"]].tolist())
    classes, columns = _class_columns(graph, name, list(table.columns))
    numbers = {}
    scores = [c for c in table.columns if c.lower().startswith("score") and c not in columns]
    meant = {by_name["id"], by_name.get("split"), *columns, *scores}
    strange = [c for c in table.columns if c not in meant]
    for column in (*columns, *scores):
        values = tables.numbers(table[column])
        if values is None:
            cell, row = next(
                (cell, row)
                for row, cell in enumerate(table[column])
                if tables.numbers(table[column].iloc[[row]]) is None
            )
            raise BupError(
                f"{quote(name)}, row {row + 1}, column {quote(column)}: {quote(cell)} is no finite "
                "number"
            )
        numbers[column] = values[order]
    sums = np.stack([numbers[c] for c in columns]).sum(axis=0)
    missing = [n for c, n in enumerate(graph.class_names) if c not in classes]
    if strange and missing and (np.abs(sums - 1) > _TOLERANCE).any():
        raise BupError(
            f"{quote(name)} has no column for {quote_all(missing)}, and {quote_all(strange)} is "
            "no class: name each column after its class, or leave out what is none"
        )
    return check(
        graph,
        np.stack([numbers[c] for c in columns], axis=1),
        classes=classes,
        scores={c: numbers[c] for c in scores},
        parts=parse_parts(name, table[by_name["split"]].to_numpy()[order])
        if "split" in by_name and by_name["split"] not in columns
        else None,
    )


def _read_npz(graph: Graph, name: str, content: bytes) -> Predictions:
    try:
        arrays = _arrays_of(name, content)
    except (BupError, MemoryError):
        raise
    except Exception as error:  # numpy and zipfile answer damage with a dozen kinds of exceptions
        raise BupError(
            f"{quote(name)} cannot be read ({type(error).__name__}): write it with numpy.savez and "
            "plain numbers or text, no objects"
        ) from error
    classes = None
    if "classes" in arrays:
        named = list(map(str, arrays.pop("classes").tolist()))
        classes, found = _class_columns(graph, name, named)
        if len(found) != len(named):
            raise BupError(f"{quote(name)}: not all of {quote_all(named)} are classes of the graph")
    for key, array in arrays.items():
        if len(array) != graph.num_nodes:
            raise BupError(
                f"{quote(name)}: {quote(key)} has {len(array):,} rows where the graph has "
                f"{graph.num_nodes:,} nodes: give a row for each"
            )
    order: Any = slice(None)
    if "ids" in arrays:
        order = _order(graph, name, list(map(str, arrays.pop("ids").tolist())))
    parts = arrays.pop("split", None)
    given = {key: arrays.pop(key)[order] for key in ("probs", "mean", "var") if key in arrays}
    return check(
        graph,
        **given,
        classes=classes,
        scores={key: array[order] for key, array in arrays.items()},
        parts=None if parts is None else parse_parts(name, parts[order]),
    )


_ARRAYS = {
    "probs": ("f", 2),
    "mean": ("f", 2),
    "var": ("f", 2),
    "ids": ("SUiu", 1),
    "classes": ("SUiu", 1),
    "split": ("SU", 1),
}
"""What an npz file can have, besides scores: kinds of numbers, and dimensions."""


def _arrays_of(name: str, content: bytes) -> dict[str, np.ndarray]:
    file = io.BytesIO(content)
    check_zip(name, file)
    with zipfile.ZipFile(file) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
        if unpacked > limits.UNPACKED_MB.value * limits.MEGABYTE:
            raise BupError(f"{quote(name)} unpacks to {unpacked:,} bytes: give fewer")
        found = [entry.removesuffix(".npy") for entry in archive.namelist()]
        if "probs" not in found and not {"mean", "var"} <= set(found):
            raise BupError(
                f"{quote(name)} has {quote_all(sorted(found)) or 'no arrays'}: give 'probs' "
                "[n, c], or 'mean' and 'var'"
            )
        scores = [key for key in found if key.startswith("score")]
        _refuse_many(scores)
        wanted = _ARRAYS | dict.fromkeys(scores, ("fiub", 1))
        arrays = {
            key: array_in(name, archive, key, *wanted[key]).content(archive)
            for key in found
            if key in wanted
        }
    # Bytes are text as well.
    return {key: a.astype(str) if a.dtype.kind == "S" else a for key, a in arrays.items()}


def _order(graph: Graph, name: str, ids: list[str]) -> np.ndarray:
    """The row [n] of every node of the graph."""
    nodes = [graph.node_id(i) for i in range(graph.num_nodes)]
    # The CSV files that we write have an apostrophe before what looks like a formula.
    written = {escape_formula(node_id): node_id for node_id in nodes} | {
        node_id: node_id for node_id in nodes
    }
    ids = [written.get(node_id, node_id) for node_id in ids]
    row_of: dict[str, int] = {}
    for row, node_id in enumerate(ids):
        if node_id in row_of:
            raise BupError(
                f"{quote(name)}, row {row + 1}: {quote(node_id)} is already on row "
                f"{row_of[node_id] + 1}: give each node once"
            )
        row_of[node_id] = row
    missing = [node_id for node_id in nodes if node_id not in row_of]
    strange = sorted(set(row_of) - set(nodes), key=row_of.__getitem__)
    if strange:
        raise BupError(
            f"{quote(name)}, row {row_of[strange[0]] + 1}: the graph has no node "
            f"{quote_all(strange)}"
        )
    if missing:
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
    found = {lookup[c]: c for c in columns if c in lookup}
    if len(found) < 2:
        raise BupError(
            f"{quote(name)} has columns for {len(found)} classes: name a column after each of "
            f"{quote_all(graph.class_names, 20)}, it has {quote_all(columns)}"
        )
    classes = tuple(sorted(found))
    return classes, [found[c] for c in classes]
