"""The file of nodes: ids, classes, titles and perhaps features."""

from __future__ import annotations

import math
import os
from array import array
from dataclasses import dataclass

import numpy as np

from bup.datasets.folder import limits
from bup.datasets.folder.features import check_cells
from bup.datasets.folder.files import FEATURES, NODES
from bup.datasets.folder.table import read_table
from bup.errors import BupError
from bup.graph import UNLABELLED
from bup.io.quoting import SCALE, quote, quote_all


@dataclass(frozen=True)
class Nodes:
    ids: tuple[str, ...]
    labels: list[str]
    titles: tuple[str, ...] | None
    features: np.ndarray | None  # None: they are in features.npz


def read_nodes(folder: str) -> Nodes:
    columns, rows = read_table(folder, NODES, ("id", "label"), limits.MAX_NODES)
    text_columns = [name for name in ("id", "label", "title") if name in columns]
    # Popped from the right, so that the positions further left stay true.
    positions = sorted(((columns.index(name), name) for name in text_columns), reverse=True)
    names = [name for name in columns if name not in text_columns]
    _check_one_source_of_features(folder, names)
    line_of: dict[str, int] = {}
    texts: dict[str, list[str]] = {name: [] for name in text_columns}
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
            check_cells(len(line_of) * len(names), NODES)
            values.frombytes(_numbers(cells, names, line).tobytes())
    return Nodes(
        ids=tuple(texts["id"]),
        labels=texts["label"],
        titles=tuple(texts["title"]) if "title" in texts else None,
        features=np.frombuffer(values, np.float32).reshape(-1, len(names)) if names else None,
    )


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
    if len(names) > limits.MAX_FEATURES:
        raise BupError(
            f"{NODES} has {len(names):,} feature columns: give at most {limits.MAX_FEATURES:,}"
        )


def _numbers(cells: list[str], names: list[str], line: int) -> np.ndarray:
    """A row of features as float32."""
    written = "".join(cells)
    try:
        numbers = np.array(list(map(float, cells)))
        # float() also reads 1_000 and the digits of other scripts, which are more likely mistakes.
        if "_" not in written and written.isascii() and (np.abs(numbers) <= limits.MAX_VALUE).all():
            return numbers.astype(np.float32)
    except ValueError:
        pass
    raise next(
        BupError(f"{NODES}, line {line}, column {quote(name)}: {quote(cell)} {trouble}")
        for name, cell in zip(names, cells, strict=True)
        if (trouble := _trouble(cell))
    )


def _trouble(cell: str) -> str | None:
    """What is wrong with one feature and what to do, if anything is."""
    if not cell.strip():
        return "is empty: write a number, 0 for none"
    try:
        value = float(cell if cell.isascii() and "_" not in cell else "")
    except ValueError:
        return "is not a number: write one such as 0.5, or delete the column"
    if not math.isfinite(value):
        return "is not finite: write a number, 0 for none"
    return None if abs(value) <= limits.MAX_VALUE else f"is beyond {limits.MAX_VALUE:,.0f}: {SCALE}"


def classes(labels: list[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    class_names = tuple(sorted(set(labels) - {""}))
    if len(class_names) < 2:
        found = f"only the class {quote(class_names[0])}" if class_names else "no label at all"
        raise BupError(f"{NODES}, column 'label': {found}: give labels of at least two classes")
    if len(class_names) > limits.MAX_CLASSES:
        raise BupError(
            f"{NODES}, column 'label': {len(class_names):,} different labels "
            f"({quote_all(class_names)}): give at most {limits.MAX_CLASSES:,} classes"
        )
    number = {name: k for k, name in enumerate(class_names)} | {"": UNLABELLED}
    return np.array([number[label] for label in labels]), class_names
