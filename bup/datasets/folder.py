"""A person's own graph, read from a folder of two or three files.

``nodes.csv``
    Columns ``id``, ``label`` (empty where the class is unknown), perhaps ``title``; every further
    column is a numeric feature.
``edges.csv``
    Columns ``source`` and ``target``, both ids of ``nodes.csv``; further columns are not used.
``features.npz``
    Instead of feature columns: a csr matrix from ``scipy.sparse.save_npz``, or one table called
    ``features`` from ``numpy.savez``; a row per row of ``nodes.csv``, in the same order.

The csv files are UTF-8 (a byte order mark and CRLF are fine), separated by commas, and may quote
cells. Ids, labels and titles are text: ``007``, ``NA`` and ``null`` stay what they are. Only white
space around a cell is removed, because nobody sees that ``"A "`` is a second class. Links have no
direction: repetitions and self-loops are dropped and counted in the graph's notes.

The files may come from anybody. Whatever they hold, the outcome is a graph or a ``BupError``.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import os
import stat
import zipfile
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import BinaryIO

import numpy as np
from scipy import sparse

from bup.errors import BupError
from bup.graph import UNLABELLED, Graph, simple_edges

MAX_CSV_BYTES = 512 * 2**20
MAX_ROW_BYTES = 16 * 2**20
MAX_NPZ_BYTES = 2**30
"""Limit of features.npz on disk and, separately, of all that would be unpacked from it."""
MAX_NODES = 1_000_000
MAX_EDGES = 20_000_000
MAX_FEATURES = 100_000
MAX_CELLS = 100_000_000
"""Limit of the feature values that are kept: all of a table, or the stored ones of a csr matrix."""
MAX_CLASSES = 1_000
MAX_VALUE = 1e6
"""Larger features are finite, but their squares and exponentials soon are not."""
SPARSE_BELOW = 0.3
"""Features with a smaller share of values other than zero are kept as a sparse matrix."""

NODES, EDGES, FEATURES = "nodes.csv", "edges.csv", "features.npz"
SCALE = "scale the features, for example to between 0 and 1"


def load(path: str | os.PathLike[str]) -> Graph:
    """The graph in the folder ``path``, named ``folder:<path>``."""
    folder = os.fspath(path)
    try:
        _check_folder(folder)
        nodes = _read_nodes(folder)
        labels, class_names = _classes(nodes.labels)
        features = _read_features(folder, nodes.ids) if nodes.features is None else nodes.features
        edges, notes = _read_edges(folder, nodes.ids)
        return Graph(
            name=f"folder:{folder}",
            features=_compact(features),
            edges=edges,
            labels=labels,
            class_names=class_names,
            ids=nodes.ids,
            titles=nodes.titles,
            notes=notes,
        )
    except OSError as error:
        where = _shown(str(error.filename or folder), 200)
        reason = error.strerror or type(error).__name__
        raise BupError(f"cannot read {where} ({reason}): check that you may read it") from error
    except MemoryError as error:
        raise BupError(
            f"not enough memory for the graph in {_shown(folder, 200)}: give a smaller graph"
        ) from error


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
                raise BupError(f"{_shown(folder, 200)} already has {name}: give an empty folder")
        ends = ((ids[i], ids[j]) for i, j in graph.edges.T)
        _write_csv(os.path.join(folder, NODES), names, zip(*columns, strict=True))
        _write_csv(os.path.join(folder, EDGES), ["source", "target"], ends)
        if not isinstance(graph.features, np.ndarray):
            sparse.save_npz(os.path.join(folder, FEATURES), graph.features)
    except OSError as error:
        raise BupError(
            f"cannot write to {_shown(folder, 200)} ({error.strerror}): give another folder"
        ) from error


def _check_writable(text: str, empty_is_fine: bool) -> None:
    readable = text == text.strip() and "\0" not in text and (text or empty_is_fine)
    if not readable or text != text.encode(errors="ignore").decode():
        raise BupError(
            f"{_shown(text)} would not be read back as it is: ids, classes and titles must be "
            "UTF-8 text without NUL and without white space around it; only titles may be empty"
        )


def _write_csv(path: str, names: list[str], rows: Iterable[Iterable[object]]) -> None:
    with open(path, "x", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names])
        csv.writer(file).writerows(rows)


@dataclass(frozen=True)
class _Nodes:
    ids: tuple[str, ...]
    labels: list[str]
    titles: tuple[str, ...] | None
    features: np.ndarray | None  # None: they are in features.npz


def _read_nodes(folder: str) -> _Nodes:
    columns, rows = _read_table(folder, NODES, ("id", "label"), MAX_NODES)
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
                f"{NODES}, line {line}: id {_shown(node_id)} is already on line "
                f"{line_of[node_id]}: give each node once and its own id"
            )
        line_of[node_id] = line
        if names:
            _check_cells(len(line_of) * len(names), NODES)
            values.frombytes(_numbers(cells, names, line).tobytes())
    return _Nodes(
        ids=tuple(texts["id"]),
        labels=texts["label"],
        titles=tuple(texts["title"]) if "title" in texts else None,
        features=np.frombuffer(values, np.float32).reshape(-1, len(names)) if names else None,
    )


def _check_one_source_of_features(folder: str, names: list[str]) -> None:
    in_npz = os.path.lexists(os.path.join(folder, FEATURES))
    if names and in_npz:
        raise BupError(
            f"{NODES} has feature columns ({_listed(names)}) and there is {FEATURES} too: keep one"
        )
    if not names and not in_npz:
        raise BupError(
            f"there are no features: add numeric columns to {NODES}, or the file {FEATURES}"
        )
    if len(names) > MAX_FEATURES:
        raise BupError(f"{NODES} has {len(names):,} feature columns: give at most {MAX_FEATURES:,}")


def _numbers(cells: list[str], names: list[str], line: int) -> np.ndarray:
    """A row of features as float32."""
    written = "".join(cells)
    try:
        numbers = np.array(list(map(float, cells)))
        # float() also reads 1_000 and the digits of other scripts, which are more likely mistakes.
        if "_" not in written and written.isascii() and (np.abs(numbers) <= MAX_VALUE).all():
            return numbers.astype(np.float32)
    except ValueError:
        pass
    raise next(
        BupError(f"{NODES}, line {line}, column {_shown(name)}: {_shown(cell)} {trouble}")
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
    return None if abs(value) <= MAX_VALUE else f"is beyond {MAX_VALUE:,.0f}: {SCALE}"


def _read_edges(folder: str, ids: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Edges as ``Graph`` wants them, and what was dropped on the way."""
    index = {node_id: i for i, node_id in enumerate(ids)}
    columns, rows = _read_table(folder, EDGES, ("source", "target"), MAX_EDGES)
    positions = [(columns.index(name), name) for name in ("source", "target")]
    ends = array("q")
    for line, cells in rows:
        for position, name in positions:
            node_id = cells[position].strip()
            node = index.get(node_id)
            if node is None:
                raise BupError(
                    f"{EDGES}, line {line}, column {name!r}: {_shown(node_id)} is not an id in "
                    f"{NODES}: add that node, or delete this line"
                )
            ends.append(node)
    sources, targets = np.frombuffer(ends, np.int64).reshape(-1, 2).T
    edges = simple_edges(sources, targets)
    loops = int((sources == targets).sum())
    repeated = len(sources) - loops - edges.shape[1]
    if edges.shape[1] == 0:
        raise BupError(
            f"{EDGES}: all {loops} rows link a node to itself: give a link between two nodes"
        )
    notes = []
    if loops:
        notes.append(f"{EDGES}: {loops:,} of {len(sources):,} rows link a node to itself; dropped.")
    if repeated:
        notes.append(
            f"{EDGES}: {repeated:,} of {len(sources):,} rows repeat a link, in the same or the "
            "other direction; each link is kept once."
        )
    unused = [name for name in columns if name not in ("source", "target")]
    if unused:
        notes.append(f"{EDGES}: columns that are not used: {_listed(unused)}.")
    return edges, tuple(notes)


def _classes(labels: list[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    class_names = tuple(sorted(set(labels) - {""}))
    if len(class_names) < 2:
        found = f"only the class {_shown(class_names[0])}" if class_names else "no label at all"
        raise BupError(f"{NODES}, column 'label': {found}: give labels of at least two classes")
    if len(class_names) > MAX_CLASSES:
        raise BupError(
            f"{NODES}, column 'label': {len(class_names):,} different labels "
            f"({_listed(class_names)}): give at most {MAX_CLASSES:,} classes"
        )
    number = {name: k for k, name in enumerate(class_names)} | {"": UNLABELLED}
    return np.array([number[label] for label in labels]), class_names


def _read_table(
    folder: str, name: str, required: tuple[str, ...], max_rows: int
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The column names and the rows, each with the line where it starts; at least one row."""
    lines = _read_rows(folder, name)
    line, columns = next(lines, (1, []))
    columns = [column.strip() for column in columns]
    if not columns:
        raise BupError(f"{name} is empty: start it with the column names {','.join(required)}")
    for column in required:
        if column not in columns:
            raise BupError(
                f"{name}, line {line}: no column {column!r} among {_listed(columns)}: the first "
                f"line must name the columns {' and '.join(required)}, separated by commas"
            )
    if "" in columns:
        raise BupError(
            f"{name}, line {line}: the name of column {columns.index('') + 1} is '': "
            "name the column or delete it"
        )
    column, times = Counter(columns).most_common(1)[0]
    if times > 1:
        raise BupError(
            f"{name}, line {line}: {times} columns are called {_shown(column)}: rename or "
            "delete all but one"
        )

    def rows() -> Iterator[tuple[int, list[str]]]:
        number = 0
        for number, (line, cells) in enumerate(lines, 1):
            if number > max_rows:
                raise BupError(f"{name}, line {line}: more than {max_rows:,} rows: give fewer")
            if len(cells) != len(columns):
                raise BupError(
                    f"{name}, line {line}, starting {_shown(cells[0])}: cells: {len(cells)}, "
                    f"columns: {len(columns)}: give one cell per column, quote cells with commas"
                )
            yield line, cells
        if number == 0:
            raise BupError(f"{name} has a header but no rows: add them below it")

    return columns, rows()


def _read_rows(folder: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line where it starts."""
    start = 1
    size = 0  # bytes of the present row, which goes on over lines inside quotes

    def lines(file: BinaryIO) -> Iterator[str]:
        nonlocal size
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)
        for line in count(1):
            raw = file.readline(MAX_ROW_BYTES + 1)
            if not raw:
                return
            size += len(raw)
            if size > MAX_ROW_BYTES:
                raise BupError(
                    f"{name}, line {start}: the row has over {MAX_ROW_BYTES:,} bytes: check the "
                    "line ends and the quotes"
                )
            if b"\0" in raw:
                raise BupError(
                    f"{name}, line {line}: a NUL byte: save the file as plain UTF-8 text"
                )
            try:
                yield raw.decode()
            except UnicodeDecodeError as error:
                offset = file.tell() - len(raw) + error.start
                raise BupError(
                    f"{name}, line {line}: byte {raw[error.start]:#04x} at offset {offset} is not "
                    "UTF-8: save the file as UTF-8"
                ) from error

    with _opened(folder, name, MAX_CSV_BYTES) as file:
        reader = csv.reader(lines(file), strict=True)
        try:
            for cells in reader:
                if cells:
                    yield start, cells
                start, size = reader.line_num + 1, 0
        except csv.Error as error:
            raise BupError(
                f"{name}, line {start}: not valid CSV ({error}): close each quote, double those "
                "inside quoted cells, end lines with LF or CRLF"
            ) from error


def _opened(folder: str, name: str, max_bytes: int) -> BinaryIO:
    path = os.path.join(folder, name)
    try:
        status = os.stat(path)
    except FileNotFoundError as error:
        raise BupError(f"{_shown(folder, 200)} has no {name}: add that file") from error
    # Before opening: to open a named pipe would wait for ever.
    if not stat.S_ISREG(status.st_mode):
        raise BupError(f"{name} in {_shown(folder, 200)} is not a plain file: replace it by one")
    if status.st_size > max_bytes:
        raise BupError(
            f"{name} has {status.st_size:,} bytes: give a file of at most {max_bytes:,} bytes"
        )
    return open(path, "rb")


def _check_folder(folder: str) -> None:
    remedy = f"give the path of a folder with {NODES} and {EDGES}"
    try:
        status = os.stat(folder)
    except (OSError, ValueError) as error:  # ValueError: NUL or unpaired surrogates in the path
        reason = getattr(error, "strerror", None) or "not a path"
        raise BupError(f"cannot open {_shown(folder, 200)} ({reason}): {remedy}") from error
    if not stat.S_ISDIR(status.st_mode):
        raise BupError(f"{_shown(folder, 200)} is not a folder: {remedy}")


def _read_features(folder: str, ids: tuple[str, ...]) -> sparse.csr_array | np.ndarray:
    with _opened(folder, FEATURES, MAX_NPZ_BYTES) as file:
        try:
            _check_directory(file)
            with zipfile.ZipFile(file) as archive:
                names = set(archive.namelist())
                if {"features.npy", "format.npy"} <= names:
                    raise BupError(f"{FEATURES} has both a table and a csr matrix: keep one")
                if "features.npy" in names:
                    return _read_dense(archive, ids)
                if "format.npy" in names:
                    return _read_csr(archive, ids)
                found = _listed(sorted(names)) or "nothing"
                raise BupError(
                    f"{FEATURES} has no array 'features' but {found}: write it with "
                    "numpy.savez(..., features=table) or scipy.sparse.save_npz"
                )
        except (BupError, MemoryError):
            raise
        except Exception as error:
            # zipfile, zlib and numpy answer damage with a dozen kinds of exceptions.
            raise BupError(
                f"{FEATURES} is damaged or no npz file ({type(error).__name__}): write it again "
                "with numpy.savez or scipy.sparse.save_npz"
            ) from error


def _check_directory(file: BinaryIO) -> None:
    """Refuse what numpy does not write before ``zipfile`` builds an object per entry.

    The last 22 bytes of a zip without a comment tell the size of its directory. The 20 bytes
    before them may point to a second, 64-bit record, which no file within our limit needs.
    """
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - 42))
    tail = file.read()
    if tail[-22:-18] != b"PK\x05\x06" or tail[-2:] != b"\0\0" or tail[-42:-38] == b"PK\x06\x07":
        raise BupError(
            f"{FEATURES} is truncated or no npz file, it ends in {tail[-8:]!r}: write it with "
            "numpy.savez or scipy.sparse.save_npz"
        )
    file.seek(0)
    size = int.from_bytes(tail[-10:-6], "little")
    if size > 2**16:
        raise BupError(f"{FEATURES} lists too many files ({size:,} bytes of names): keep one array")


@dataclass(frozen=True)
class _Member:
    """An array in the archive whose header was read and checked, but not its content."""

    info: zipfile.ZipInfo
    start: int
    dtype: np.dtype
    shape: tuple[int, ...]
    fortran: bool

    def content(self, archive: zipfile.ZipFile) -> np.ndarray:
        with archive.open(self.info) as stream:
            raw = stream.read(self.info.file_size)  # to the end, where the checksum is verified
        values = np.frombuffer(raw, self.dtype, offset=self.start)
        return values.reshape(self.shape, order="F" if self.fortran else "C")


_KINDS = {"fiub": "numbers", "iu": "whole numbers", "SU": "text"}


def _member(archive: zipfile.ZipFile, key: str, kinds: str, ndim: int) -> _Member:
    if f"{key}.npy" not in archive.namelist():
        raise BupError(f"{FEATURES} has no array {key!r}: write it with scipy.sparse.save_npz")
    info = archive.getinfo(f"{key}.npy")
    if info.file_size > MAX_NPZ_BYTES:
        raise BupError(
            f"{FEATURES}: {key!r} unpacks to {info.file_size:,} bytes: give at most "
            f"{MAX_NPZ_BYTES:,}, for example as a csr matrix"
        )
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # zipfile bounds what one read inflates for these two only.
        raise BupError(
            f"{FEATURES}: {key!r} has zip compression {info.compress_type}: write it with "
            "numpy.savez_compressed"
        )
    with archive.open(info) as stream:
        head = io.BytesIO(stream.read(2**14))  # numpy itself would read a header of any length
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[np.lib.format.read_magic(head)]
    shape, fortran, dtype = read_header(head)
    if dtype.kind not in kinds or len(shape) != ndim:
        raise BupError(
            f"{FEATURES}: {key!r} has dtype {_shown(str(dtype))} and shape {_shown(str(shape))}: "
            f"give {ndim}-dimensional {_KINDS[kinds]}"
        )
    size = info.file_size - head.tell()
    if min(shape, default=0) < 0 or size != math.prod(shape) * dtype.itemsize:
        raise BupError(
            f"{FEATURES}: {key!r} claims dtype {dtype} and shape {_shown(str(shape))} but has "
            f"{size:,} bytes: write it again"
        )
    return _Member(info, head.tell(), dtype, shape, fortran)


def _read_dense(archive: zipfile.ZipFile, ids: tuple[str, ...]) -> np.ndarray:
    member = _member(archive, "features", "fiub", ndim=2)
    _check_shape(member.shape, len(ids))
    _check_cells(math.prod(member.shape), FEATURES)
    values = member.content(archive)
    # The extremes are NaN if any value is, and need no second table in memory. As Python floats,
    # because MAX_VALUE in half precision would be infinite.
    if not (float(values.min()) >= -MAX_VALUE and float(values.max()) <= MAX_VALUE):
        row, column = np.argwhere(~(np.abs(values.astype(np.float64)) <= MAX_VALUE))[0]
        raise _bad_value(values[row, column], row, column, ids)
    return values.astype(np.float32)


def _read_csr(archive: zipfile.ZipFile, ids: tuple[str, ...]) -> sparse.csr_array:
    form = _member(archive, "format", "SU", ndim=0)
    name = form.content(archive).item() if form.dtype.itemsize <= 64 else "?"
    if name not in (b"csr", "csr"):
        raise BupError(f"{FEATURES} holds format {name!r}: save the matrix as csr, with .tocsr()")
    shape_member = _member(archive, "shape", "iu", ndim=1)
    if shape_member.shape != (2,):
        raise BupError(f"{FEATURES} holds {shape_member.shape[0]} dimensions: save a table of 2")
    rows, columns = shape = tuple(map(int, shape_member.content(archive)))
    _check_shape(shape, len(ids))
    members = {
        "data": _member(archive, "data", "fiub", ndim=1),
        "indices": _member(archive, "indices", "iu", ndim=1),
        "indptr": _member(archive, "indptr", "iu", ndim=1),
    }
    stored = members["data"].shape[0]
    _check_cells(stored, FEATURES)
    for key, expected in (("indices", stored), ("indptr", rows + 1)):
        if members[key].shape[0] != expected:
            raise BupError(
                f"{FEATURES}: {key!r} has {members[key].shape[0]:,} entries where {expected:,} "
                "belong: write it again with scipy.sparse.save_npz"
            )
    unpacked = sum(member.info.file_size for member in members.values())
    if unpacked > MAX_NPZ_BYTES:
        raise BupError(
            f"{FEATURES} unpacks to {unpacked:,} bytes: give at most {MAX_NPZ_BYTES:,}, for "
            "example with data as float32 and indices as int32"
        )
    data, indices, indptr = (member.content(archive) for member in members.values())
    # Before any cast: 2**33 as int32 is 0, a valid index.
    falling = np.flatnonzero(indptr[1:] < indptr[:-1])
    if indptr[0] != 0 or indptr[-1] != stored or len(falling):
        row = int(falling[0]) if len(falling) else (0 if indptr[0] != 0 else rows - 1)
        raise BupError(
            f"{FEATURES}, row {row + 1}: 'indptr' goes from {indptr[row]} to {indptr[row + 1]}, "
            f"it must rise from 0 to {stored}: write it again with scipy.sparse.save_npz"
        )
    outside = np.flatnonzero((indices < 0) | (indices >= columns))
    if len(outside):
        row = int(np.searchsorted(indptr, outside[0], side="right")) - 1
        raise BupError(
            f"{FEATURES}, row {row + 1}: 'indices' has {indices[outside[0]]}, it must be between "
            f"0 and {columns - 1}: write it again with scipy.sparse.save_npz"
        )
    parts = data.astype(np.float64), indices.astype(np.int32), indptr.astype(np.int32)
    matrix = sparse.csr_array(parts, shape=shape)
    matrix.sum_duplicates()
    bad = np.flatnonzero(~(np.abs(matrix.data) <= MAX_VALUE))
    if len(bad):
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        raise _bad_value(matrix.data[bad[0]], row, matrix.indices[bad[0]], ids)
    matrix = matrix.astype(np.float32)
    matrix.eliminate_zeros()
    return matrix


def _check_shape(shape: tuple[int, ...], num_nodes: int) -> None:
    if shape[0] != num_nodes:
        raise BupError(
            f"{FEATURES} has {shape[0]:,} rows but {NODES} has {num_nodes:,} nodes: give a row of "
            "features for each node, in the same order"
        )
    if not 1 <= shape[1] <= MAX_FEATURES:
        raise BupError(
            f"{FEATURES} has {shape[1]:,} columns: give between 1 and {MAX_FEATURES:,} features"
        )


def _check_cells(cells: int, name: str) -> None:
    if cells > MAX_CELLS:
        raise BupError(
            f"{name} has {cells:,} or more feature values: give at most {MAX_CELLS:,}; in a csr "
            f"matrix in {FEATURES} zeros do not count"
        )


def _bad_value(value: float, row: int, column: int, ids: tuple[str, ...]) -> BupError:
    where = f"{FEATURES}, row {row + 1} (node {_shown(ids[row])}), column {column + 1}"
    if np.isfinite(value):
        return BupError(f"{where}: {value} is beyond {MAX_VALUE:,.0f}: {SCALE}")
    return BupError(f"{where}: {value} is not finite: replace it by a number, 0 for none")


def _compact(features: sparse.csr_array | np.ndarray) -> sparse.csr_array | np.ndarray:
    cells = math.prod(features.shape)
    if isinstance(features, np.ndarray):
        few = np.count_nonzero(features) < SPARSE_BELOW * cells
        return sparse.csr_array(features) if few else features
    return features if features.nnz < SPARSE_BELOW * cells else features.toarray()


def _shown(text: str, limit: int = 40) -> str:
    """A person's text as one printable line: control characters could rewrite a terminal."""
    return repr(text) if len(text) <= limit else f"{text[:limit]!r}..."


def _listed(names: Iterable[str], limit: int = 5) -> str:
    names = list(names)
    rest = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return ", ".join(map(_shown, names[:limit])) + rest
