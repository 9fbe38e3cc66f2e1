"""A person's own graph, read from a folder of two or three files, which the README describes.

Ids, labels and titles are text: ``007``, ``NA`` and ``null`` stay what they are. Only white space
around a cell is removed, because people do not see that ``"A "`` would be a second class.
"""

import math
import os
import stat
from array import array
from collections.abc import Hashable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bup.datasets.graph_source import GraphSource
from bup.datasets.tables.csv import read_rows
from bup.datasets.tables.npz import FEATURES, check_number_of_values, read_features
from bup.errors import SCALE, BupError, quote, quote_all
from bup.graph import Graph, compact, simple_edges
from bup.graph.arrays import number_classes
from bup.io.limits import TableLimits

PREFIX = "folder:"
NODES, EDGES = "nodes.csv", "edges.csv"
LIMITS = TableLimits()


def load(path: str | os.PathLike[str]) -> Graph:
    """The graph in the folder ``path``, named ``folder:<path>``."""
    folder = os.fspath(path)
    try:
        _check_folder(folder)
        with _open(folder, NODES, LIMITS.csv_bytes) as file:
            columns, table = _read_nodes(folder, file)
        labels, class_names = number_classes(columns["label"], f"{NODES}, column 'label':")
        if len(class_names) > LIMITS.classes:
            raise BupError(
                f"{NODES}, column 'label': {len(class_names):,} different labels "
                f"({quote_all(class_names)}): give at most {LIMITS.classes:,} classes"
            )
        ids = tuple(columns["id"])
        if table is None:
            with _open(folder, FEATURES, LIMITS.npz_bytes) as file:
                table = read_features(file, ids, LIMITS)
        with _open(folder, EDGES, LIMITS.csv_bytes) as file:
            edges, notes = _read_edges(file, ids)
        return Graph(
            name=f"{PREFIX}{folder}",
            features=compact(table),
            edges=edges,
            labels=labels,
            class_names=class_names,
            ids=ids,
            titles=tuple(columns["title"]) if "title" in columns else None,
            notes=notes,
        )
    except OSError as error:
        where = quote(str(error.filename or folder), 200)
        reason = error.strerror or type(error).__name__
        raise BupError(f"cannot read {where} ({reason}): check that you may read it") from error
    except MemoryError as error:
        raise BupError(
            f"not enough memory for the graph in {quote(folder, 200)}: give a smaller graph"
        ) from error


def _check_folder(folder: str) -> None:
    remedy = f"give the path of a folder with {NODES} and {EDGES}"
    try:
        status = os.stat(folder)
    except (OSError, ValueError) as error:  # ValueError: NUL or unpaired surrogates in the path
        reason = getattr(error, "strerror", None) or "not a path"
        raise BupError(f"cannot open {quote(folder, 200)} ({reason}): {remedy}") from error
    if not stat.S_ISDIR(status.st_mode):
        raise BupError(f"{quote(folder, 200)} is not a folder: {remedy}")


def _open(folder: str, name: str, max_bytes: int) -> BinaryIO:
    path = os.path.join(folder, name)
    try:
        status = os.stat(path)
    except FileNotFoundError as error:
        raise BupError(f"{quote(folder, 200)} has no {name}: add that file") from error
    # Before opening: to open a named pipe would wait for ever.
    if not stat.S_ISREG(status.st_mode):
        raise BupError(f"{name} in {quote(folder, 200)} is not a plain file: replace it by one")
    if status.st_size > max_bytes:
        raise BupError(
            f"{name} has {status.st_size:,} bytes: give a file of at most {max_bytes:,} bytes"
        )
    return open(path, "rb")


def _read_nodes(folder: str, file: BinaryIO) -> tuple[dict[str, list[str]], np.ndarray | None]:
    """The columns of text, and the columns of features; None if those are in features.npz."""
    columns, rows = read_rows(NODES, file, ("id", "label"), LIMITS.nodes, LIMITS)
    texts: dict[str, list[str]] = {n: [] for n in ("id", "label", "title") if n in columns}
    # Popped from the right, so that the positions further left stay true.
    positions = sorted(((columns.index(name), name) for name in texts), reverse=True)
    names = [name for name in columns if name not in texts]
    _check_one_source_of_features(folder, names)
    line_of: dict[str, int] = {}
    values = array("f")
    for line, cells in rows:
        for position, name in positions:
            texts[name].append(cells.pop(position).strip())
        node_id = texts["id"][-1]
        if not node_id:
            raise BupError(f"{NODES}, line {line}, column 'id': '' is empty: give the node an id")
        if node_id in line_of:
            raise BupError(
                f"{NODES}, line {line}: id {quote(node_id)} is already on line "
                f"{line_of[node_id]}: give each node once and its own id"
            )
        line_of[node_id] = line
        if names:
            check_number_of_values(NODES, len(line_of) * len(names), LIMITS)
            values.frombytes(_numbers(cells, names, line).tobytes())
    return texts, np.frombuffer(values, np.float32).reshape(-1, len(names)) if names else None


def _check_one_source_of_features(folder: str, names: list[str]) -> None:
    in_npz = os.path.lexists(os.path.join(folder, FEATURES))
    if names and in_npz:
        raise BupError(
            f"{NODES} has feature columns ({quote_all(names)}) and there is {FEATURES}: keep one"
        )
    if not names and not in_npz:
        raise BupError(
            f"there are no features: add numeric columns to {NODES}, or the file {FEATURES}"
        )
    if len(names) > LIMITS.features:
        raise BupError(
            f"{NODES} has {len(names):,} feature columns: give at most {LIMITS.features:,}"
        )


def _numbers(cells: list[str], names: list[str], line: int) -> np.ndarray:
    """A row of features as float32."""
    text = "".join(cells)
    try:
        numbers = np.array(list(map(float, cells)))
        # float() also reads 1_000 and the digits of other scripts, which are more likely mistakes.
        if "_" not in text and text.isascii() and (np.abs(numbers) <= LIMITS.largest).all():
            return numbers.astype(np.float32)
    except ValueError:
        pass
    raise next(
        BupError(f"{NODES}, line {line}, column {quote(name)}: {quote(cell)} {problem}")
        for name, cell in zip(names, cells, strict=True)
        if (problem := _problem(cell))
    )


def _problem(cell: str) -> str | None:
    """What is wrong with one feature and what to do, if anything is."""
    if not cell.strip():
        return "is empty: write a number, 0 for none"
    try:
        value = float(cell if cell.isascii() and "_" not in cell else "")
    except ValueError:
        return "is not a number: write one such as 0.5, or delete the column"
    if not math.isfinite(value):
        return "is not finite: write a number, 0 for none"
    return None if abs(value) <= LIMITS.largest else f"is beyond {LIMITS.largest:,.0f}: {SCALE}"


def _read_edges(file: BinaryIO, ids: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Edges as ``Graph`` wants them, and notes about rows that were dropped."""
    index = {node_id: i for i, node_id in enumerate(ids)}
    names = ("source", "target")
    columns, rows = read_rows(EDGES, file, names, LIMITS.edges, LIMITS)
    positions = [(columns.index(name), name) for name in names]
    ends = array("q")
    for line, cells in rows:
        for position, name in positions:
            node_id = cells[position].strip()
            if node_id not in index:
                raise BupError(
                    f"{EDGES}, line {line}, column {name!r}: {quote(node_id)} is not an id in "
                    f"{NODES}: add that node, or delete this line"
                )
            ends.append(index[node_id])
    sources, targets = np.frombuffer(ends, np.int64).reshape(-1, 2).T
    edges, total = simple_edges(sources, targets), len(sources)
    loops = int((sources == targets).sum())
    if edges.shape[1] == 0:
        raise BupError(
            f"{EDGES}: all {loops} rows link a node to itself: give a link between two nodes"
        )
    notes = []
    if loops:
        notes.append(f"{EDGES}: {loops:,} of {total:,} rows link a node to itself; dropped.")
    if repeated := total - loops - edges.shape[1]:
        notes.append(
            f"{EDGES}: {repeated:,} of {total:,} rows repeat a link, in the same or the "
            "other direction; each link is kept once."
        )
    if unused := [name for name in columns if name not in names]:
        notes.append(f"{EDGES}: columns that are not used: {quote_all(unused)}.")
    return edges, tuple(notes)


def _list_names() -> list[str]:
    """The folders that the server offers: a visitor may not ask for another one."""
    folders = os.environ.get("BUP_FOLDERS", "").split(os.pathsep)
    return [PREFIX + folder for folder in folders if folder]


def _stamp(name: str) -> Hashable:
    """When each file was last written, and its size."""
    try:
        with os.scandir(name.removeprefix(PREFIX)) as entries:
            stats: list[tuple[str, Any]] = [(entry.name, entry.stat()) for entry in entries]
        return tuple(sorted((name, s.st_mtime_ns, s.st_size, s.st_ino) for name, s in stats))
    except (OSError, ValueError):  # loading the graph raises an error that says what is wrong
        return None


SOURCE = GraphSource(
    name=f"{PREFIX}PATH",
    title="Your own graph: edges.csv and nodes.csv in a folder",
    load=lambda name: load(name.removeprefix(PREFIX)),
    matches=lambda name: name.startswith(PREFIX) and name != PREFIX,
    label=lambda name: Path(name.removeprefix(PREFIX)).name,
    data="yours",
    list_names=_list_names,
    stamp=_stamp,
)
