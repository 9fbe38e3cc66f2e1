"""Custom splits: checked, and stored as a number per node under a name made of their content."""

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bup.datasets.tables.csv import read_frame
from bup.errors import BupError, explain_os_error, quote, quote_all
from bup.graph import NO_PART, PARTS, Graph
from bup.io import files

PREFIX = "own:"
OF_GRAPH = "graph"
"""The name of the split that came with a graph."""

_ALIASES = {
    **dict.fromkeys(("training", "train_mask"), "train"),
    **dict.fromkeys(("val", "valid", "dev", "val_mask", "validation_mask"), "validation"),
    "test_mask": "test",
}
_VERSION = 1


def parts_of(graph: Graph, given: Any) -> np.ndarray:
    """The place in ``PARTS`` [n] of every node.

    ``given`` is three masks or lists of nodes, a mapping of them by name, an object with them as
    attributes, or ``OF_GRAPH``.
    """
    if isinstance(given, str) and given == OF_GRAPH:
        if graph.parts is None:
            raise BupError(
                f"no split came with {graph.name}: give one, as bup.Split(train, validation, test)"
            )
        given = [graph.parts == place for place in range(len(PARTS))]
    parts = np.full(graph.num_nodes, NO_PART, dtype=np.int8)
    for place, (name, part) in enumerate(_by_name(given).items()):
        nodes = _nodes(graph, name, part)
        before = nodes[parts[nodes] != NO_PART]
        if len(before):
            other = PARTS[parts[before[0]]]
            raise BupError(
                f"node {graph.node_id(before[0])!r} is in the {other} part and in the {name} part "
                f"of the split, and so are {len(before) - 1:,} others: give each node to one part"
            )
        parts[nodes] = place
    return parts


def _by_name(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        named = {_ALIASES.get(str(name), str(name)): part for name, part in given.items()}
    elif all(hasattr(given, name) for name in PARTS):
        named = {name: getattr(given, name) for name in PARTS}
    elif isinstance(given, list | tuple | np.ndarray) and len(given) == len(PARTS):
        named = dict(zip(PARTS, given, strict=True))
    else:
        raise BupError(
            "a split of your own is bup.Split(train, validation, test) of masks or of node "
            f"numbers, or these three in a tuple, got {type(given).__name__}"
        )
    if set(named) != set(PARTS):
        raise BupError(f"a split has {', '.join(PARTS)}, got {', '.join(named) or 'nothing'}")
    return {name: named[name] for name in PARTS}


def _nodes(graph: Graph, name: str, given: Any) -> np.ndarray:
    """The nodes of one part, as numbers."""
    values, n = np.asarray(given), graph.num_nodes
    if values.ndim != 1 or (values.dtype.kind not in "biu" and values.size):
        raise BupError(
            f"the {name} part of a split is a mask of {n:,} nodes or a list of their numbers, got "
            f"{values.dtype} of shape {values.shape}"
        )
    if values.dtype.kind == "b":
        if len(values) != n:
            raise BupError(f"the {name} mask has {len(values):,} entries, {graph.name} {n:,} nodes")
        values = np.flatnonzero(values)
    if not len(values):
        raise BupError(f"the {name} part of the split is empty: give it at least one node")
    low, high = int(values.min()), int(values.max())
    if low < 0 or high >= n:
        raise BupError(
            f"the {name} part of the split has node {low if low < 0 else high}, and {graph.name} "
            f"has nodes 0 to {n - 1}"
        )
    values = values.astype(np.int64)
    times = np.bincount(values, minlength=n)
    if times.max() > 1:
        raise BupError(
            f"the {name} part of the split has node {int(times.argmax())} more than once: give "
            "each node once"
        )
    unknown = values[~graph.labelled[values]]
    if len(unknown):
        raise BupError(
            f"{len(unknown):,} nodes of the {name} part have no class, such as "
            f"{graph.node_id(unknown[0])!r}: leave them out of the split"
        )
    return values


def save(graph: Graph, parts: np.ndarray) -> str:
    """Store a split and return its name."""
    name = PREFIX + files.key_of(hashlib.sha256(graph.digest.encode() + parts.tobytes()))
    path = _path(name)
    values = {"version": _VERSION, "digest": graph.digest}
    remedy = "free some space there, or set BUP_CACHE to another folder"
    with explain_os_error(f"the split cannot be kept in {path.parent}", remedy):
        if not path.exists():
            files.write_atomically(path, files.pack({"parts": parts}, values))
    return name


def load(graph: Graph, name: str) -> np.ndarray:
    """A split that ``save`` stored."""
    try:
        arrays, values = files.read(_path(name))
        parts = arrays["parts"]
        if values["version"] != _VERSION or parts.dtype != np.int8:
            raise files.DamagedFile("it is of another version")
    except (OSError, files.DamagedFile, KeyError, TypeError) as error:
        raise BupError(
            f"the split {name} is not here: give its nodes again, as split= in Python or as a file "
            "to --split"
        ) from error
    if values["digest"] != graph.digest or parts.shape != (graph.num_nodes,):
        raise BupError(f"the split {name} is of another graph than {graph.name}")
    return parts


def exists(graph: Graph, name: str) -> bool:
    """Whether a split of this name is stored for this graph."""
    try:
        return name.startswith(PREFIX) and len(load(graph, name)) > 0
    except BupError:
        return False


def _path(name: str) -> Path:
    return files.cache_folder() / "splits" / f"{name.removeprefix(PREFIX)}.bup"


def read(graph: Graph, name: str, content: bytes) -> np.ndarray:
    """A split from a file: a table with columns id and split, or an npz with an array per part."""
    if name.lower().endswith(".npz"):
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as archive:
                return parts_of(graph, {key: archive[key] for key in archive.files})
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise BupError(
                f"{quote(name)} cannot be read ({error}): write it with numpy.savez and the "
                "arrays train, validation and test"
            ) from error
    table, _ = read_frame(name, content)
    columns = {column.lower(): column for column in table.columns}
    if not {"id", "split"} <= set(columns):
        raise BupError(
            f"{quote(name)} needs the columns 'id' and 'split': it has {quote_all(table.columns)}"
        )
    ids, cells = table[columns["id"]].tolist(), table[columns["split"]].to_numpy()
    nodes = [graph.find(node_id) for node_id in ids]
    if len(set(nodes)) != len(nodes):
        twice = next(node_id for node_id in ids if ids.count(node_id) > 1)
        raise BupError(f"{quote(name)} has the id {quote(twice)} twice: give each node once")
    places = parse_parts(name, cells)
    return parts_of(graph, [np.array(nodes)[places == place] for place in range(len(PARTS))])


def parse_parts(file: str, cells: np.ndarray) -> np.ndarray:
    """Places in ``PARTS`` [n] from the words in a file's column."""
    places_of = {part: place for place, part in enumerate(PARTS)}
    places_of |= dict.fromkeys(("", "unused", "none"), NO_PART)
    words = [str(cell).strip().lower() for cell in cells.tolist()]
    places = [places_of.get(_ALIASES.get(word, word)) for word in words]
    if None in places:
        cell = str(cells[places.index(None)])
        raise BupError(
            f"{quote(file)}: {quote(cell)} is no part of a split: write train, validation, test "
            "or nothing"
        )
    return np.array(places, dtype=np.int8)
