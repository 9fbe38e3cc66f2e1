"""Arrays in npz files, checked before anything is unpacked."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from bup.datasets.tables.archive import (
    WRITE_NPZ_AGAIN,
    is_compression_safe,
    open_archive,
    read_member,
)
from bup.errors import SCALE, BupError, quote, quote_all
from bup.io.lazy import sparse
from bup.io.limits import TableLimits

FEATURES = "features.npz"
_SAVE_AGAIN = "write it again with scipy.sparse.save_npz"
_KINDS = {
    "f": "fractions",
    "fiub": "numbers",
    "iu": "whole numbers",
    "SU": "text",
    "SUiu": "text or whole numbers",
}


@dataclass(frozen=True)
class NpzFile:
    """An open npz file."""

    name: str  # in errors
    archive: zipfile.ZipFile
    limits: TableLimits

    def array(self, key: str, kinds: str, ndim: int) -> NpzArray:
        """An array that has one of these kinds of dtype and so many dimensions."""
        if f"{key}.npy" not in self.archive.namelist():
            raise BupError(f"{self.name} has no array {key!r}: {WRITE_NPZ_AGAIN}")
        info = self.archive.getinfo(f"{key}.npy")
        self.check_size(info.file_size, f": {key!r}", "as a csr matrix")
        if not is_compression_safe(info):
            raise BupError(
                f"{self.name}: {key!r} has zip compression {info.compress_type}: write it with "
                "numpy.savez_compressed"
            )
        with self.archive.open(info) as stream:
            head = io.BytesIO(stream.read(2**14))  # numpy itself would read a header of any length
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[np.lib.format.read_magic(head)]
        shape, fortran, dtype = read_header(head)
        if dtype.kind not in kinds or len(shape) != ndim:
            raise BupError(
                f"{self.name}: {key!r} has dtype {quote(str(dtype))} and shape "
                f"{quote(str(shape))}: give {ndim}-dimensional {_KINDS[kinds]}"
            )
        size = info.file_size - head.tell()
        if min(shape, default=0) < 0 or size != math.prod(shape) * dtype.itemsize:
            raise BupError(
                f"{self.name}: {key!r} claims dtype {dtype} and shape {quote(str(shape))} but has "
                f"{size:,} bytes: write it again"
            )
        return NpzArray(self, info, head.tell(), dtype, shape, fortran)

    def check_size(self, size: int, what: str, remedy: str) -> None:
        """Refuse what would unpack to more bytes than the limit."""
        most, setting = self.limits.npz_bytes, self.limits.npz_setting
        if size > most:
            raise BupError(
                f"{self.name}{what} unpacks to {size:,} bytes: give at most {most:,}{setting}, for "
                f"example {remedy}"
            )

    def check_total(self, members: Iterable[zipfile.ZipInfo]) -> None:
        total = sum(info.file_size for info in members)
        self.check_size(total, "", "with data as float32 and indices as int32")


@dataclass(frozen=True)
class NpzArray:
    """An array whose header was read and checked, but not its content."""

    file: NpzFile
    info: zipfile.ZipInfo
    start: int
    dtype: np.dtype
    shape: tuple[int, ...]
    fortran: bool

    def read(self) -> np.ndarray:
        content = read_member(self.file.archive, self.info)
        values = np.frombuffer(content, self.dtype, offset=self.start)
        return values.reshape(self.shape, order="F" if self.fortran else "C")


def read_features(
    file: BinaryIO, ids: tuple[str, ...], limits: TableLimits
) -> sparse.csr_array | np.ndarray:
    """The features of nodes: a csr matrix, or a table called ``features``."""
    with open_archive(FEATURES, file) as archive:
        npz, names = NpzFile(FEATURES, archive, limits), set(archive.namelist())
        if {"features.npy", "format.npy"} <= names:
            raise BupError(f"{FEATURES} has both a table and a csr matrix: keep one")
        if "features.npy" in names:
            return _read_dense(npz, ids)
        if "format.npy" in names:
            return _read_csr(npz, ids)
        raise BupError(
            f"{FEATURES} has no array 'features' but {quote_all(sorted(names)) or 'nothing'}: "
            "write it with numpy.savez(..., features=table) or scipy.sparse.save_npz"
        )


def _read_dense(npz: NpzFile, ids: tuple[str, ...]) -> np.ndarray:
    table, largest = npz.array("features", "fiub", 2), npz.limits.largest
    _check_shape(table.shape, len(ids), npz.limits)
    check_number_of_values(FEATURES, math.prod(table.shape), npz.limits)
    values = table.read()
    # The extremes are NaN if any value is, and need no second table in memory. As Python floats,
    # because the largest feature would be infinite in half precision.
    if not (float(values.min()) >= -largest and float(values.max()) <= largest):
        row, column = np.argwhere(~(np.abs(values.astype(np.float64)) <= largest))[0]
        raise _bad_value(values[row, column], row, column, ids, largest)
    return values.astype(np.float32)


def _read_csr(npz: NpzFile, ids: tuple[str, ...]) -> sparse.csr_array:
    form = npz.array("format", "SU", 0)
    name = form.read().item() if form.dtype.itemsize <= 64 else "?"
    if name not in (b"csr", "csr"):
        raise BupError(f"{FEATURES} holds format {name!r}: save the matrix as csr, with .tocsr()")
    dimensions = npz.array("shape", "iu", 1)
    if dimensions.shape != (2,):
        raise BupError(f"{FEATURES} holds {dimensions.shape[0]} dimensions: save a table of 2")
    rows, columns = shape = tuple(map(int, dimensions.read()))
    _check_shape(shape, len(ids), npz.limits)
    kinds = {"data": "fiub", "indices": "iu", "indptr": "iu"}
    parts = {key: npz.array(key, kind, 1) for key, kind in kinds.items()}
    stored = parts["data"].shape[0]
    check_number_of_values(FEATURES, stored, npz.limits)
    for key, expected in (("indices", stored), ("indptr", rows + 1)):
        if parts[key].shape[0] != expected:
            raise BupError(
                f"{FEATURES}: {key!r} has {parts[key].shape[0]:,} entries where {expected:,} "
                f"belong: {_SAVE_AGAIN}"
            )
    npz.check_total(part.info for part in parts.values())
    data, indices, indptr = (part.read() for part in parts.values())
    # Before any cast: 2**33 as int32 is 0, a valid index.
    falling = np.flatnonzero(indptr[1:] < indptr[:-1])
    if indptr[0] != 0 or indptr[-1] != stored or len(falling):
        row = int(falling[0]) if len(falling) else (0 if indptr[0] != 0 else rows - 1)
        raise BupError(
            f"{FEATURES}, row {row + 1}: 'indptr' goes from {indptr[row]} to {indptr[row + 1]}, "
            f"it must rise from 0 to {stored}: {_SAVE_AGAIN}"
        )
    outside = np.flatnonzero((indices < 0) | (indices >= columns))
    if len(outside):
        row = int(np.searchsorted(indptr, outside[0], side="right")) - 1
        raise BupError(
            f"{FEATURES}, row {row + 1}: 'indices' has {indices[outside[0]]}, it must be between "
            f"0 and {columns - 1}: {_SAVE_AGAIN}"
        )
    csr = data.astype(np.float64), indices.astype(np.int32), indptr.astype(np.int32)
    matrix = sparse.csr_array(csr, shape=shape)
    matrix.sum_duplicates()
    bad = np.flatnonzero(~(np.abs(matrix.data) <= npz.limits.largest))
    if len(bad):
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        column = matrix.indices[bad[0]]
        raise _bad_value(matrix.data[bad[0]], row, column, ids, npz.limits.largest)
    matrix = matrix.astype(np.float32)
    matrix.eliminate_zeros()
    return matrix


def _check_shape(shape: tuple[int, ...], num_nodes: int, limits: TableLimits) -> None:
    if shape[0] != num_nodes:
        raise BupError(
            f"{FEATURES} has {shape[0]:,} rows but nodes.csv has {num_nodes:,} nodes: give a row "
            "of features for each node, in the same order"
        )
    if not 1 <= shape[1] <= limits.features:
        raise BupError(
            f"{FEATURES} has {shape[1]:,} columns: give between 1 and {limits.features:,} features"
        )


def check_number_of_values(name: str, values: int, limits: TableLimits) -> None:
    if values > limits.values:
        raise BupError(
            f"{name} has {values:,} or more feature values: give at most {limits.values:,}; "
            f"in a csr matrix in {FEATURES} zeros do not count"
        )


def _bad_value(
    value: float, row: int, column: int, ids: tuple[str, ...], largest: float
) -> BupError:
    where = f"{FEATURES}, row {row + 1} (node {quote(ids[row])}), column {column + 1}"
    if np.isfinite(value):
        return BupError(f"{where}: {value} is beyond {largest:,.0f}: {SCALE}")
    return BupError(f"{where}: {value} is not finite: replace it by a number, 0 for none")
