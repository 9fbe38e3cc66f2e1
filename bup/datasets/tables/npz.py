"""Zip and npz files, checked before anything is unpacked."""

from __future__ import annotations

import io
import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from bup.datasets.tables.limits import TableLimits
from bup.errors import BupError
from bup.io.lazy import sparse
from bup.io.quoting import SCALE, quote, quote_all

FEATURES = "features.npz"
_AGAIN = {
    "npz": "write it again with numpy.savez or scipy.sparse.save_npz, without objects",
    "zip": "zip the files again",
}
_END, _LONGEST_COMMENT, _LOCATOR = 22, 2**16, 20  # bytes
_MOST_NAMES = 2**16  # bytes of the directory
_KINDS = {
    "f": "fractions",
    "fiub": "numbers",
    "iu": "whole numbers",
    "SU": "text",
    "SUiu": "text or whole numbers",
}


@contextmanager
def open_archive(name: str, file: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """A zip or npz file; what is wrong with it, or while it is read, becomes a BupError."""
    kind = name.lower().rpartition(".")[2]
    try:
        _check_directory(name, kind, file)
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (BupError, MemoryError):
        raise
    except Exception as error:
        # zipfile, zlib and numpy answer damage with a dozen kinds of exceptions.
        raise BupError(
            f"{quote(name)} is damaged or no {kind} file ({type(error).__name__}): {_AGAIN[kind]}"
        ) from error


def _check_directory(name: str, kind: str, file: BinaryIO) -> None:
    """Refuse a long directory before ``zipfile`` builds an object per entry.

    The end record tells how long the directory is. ``zipfile`` would rather believe a second one,
    of 64 bits, that a locator just before the first one points to; no file within our limits needs
    it.
    """
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - _END - _LONGEST_COMMENT - _LOCATOR))
    tail = file.read()
    file.seek(0)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + _END or tail[max(0, at - _LOCATOR) : at][:4] == b"PK\x06\x07":
        raise BupError(
            f"{quote(name)} is truncated or no {kind} file, it ends in {tail[-8:]!r}: "
            f"{_AGAIN[kind]}"
        )
    if (size := int.from_bytes(tail[at + 12 : at + 16], "little")) > _MOST_NAMES:
        raise BupError(
            f"{quote(name)} lists too many files ({size:,} bytes of names): keep only those that "
            "belong to the graph"
        )


def is_compression_safe(info: zipfile.ZipInfo) -> bool:
    """Whether ``zipfile`` bounds what one read inflates; it does so for two methods only."""
    return info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A file of an archive, to its end, where the checksum is verified, and not beyond its size."""
    with archive.open(info) as stream:
        return stream.read(info.file_size)


@dataclass(frozen=True)
class Member:
    """An array in an archive whose header was read and checked, but not its content."""

    info: zipfile.ZipInfo
    start: int
    dtype: np.dtype
    shape: tuple[int, ...]
    fortran: bool

    def content(self, archive: zipfile.ZipFile) -> np.ndarray:
        values = np.frombuffer(read_member(archive, self.info), self.dtype, offset=self.start)
        return values.reshape(self.shape, order="F" if self.fortran else "C")


def array_in(
    name: str, archive: zipfile.ZipFile, key: str, kinds: str, ndim: int, limits: TableLimits
) -> Member:
    """An array of an npz file, if it has one of these kinds of dtype and so many dimensions."""
    if f"{key}.npy" not in archive.namelist():
        raise BupError(f"{name} has no array {key!r}: {_AGAIN['npz']}")
    info = archive.getinfo(f"{key}.npy")
    if info.file_size > limits.npz_bytes:
        raise BupError(
            f"{name}: {key!r} unpacks to {info.file_size:,} bytes: give at most "
            f"{limits.most_npz}, for example as a csr matrix"
        )
    if not is_compression_safe(info):
        raise BupError(
            f"{name}: {key!r} has zip compression {info.compress_type}: write it with "
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
            f"{name}: {key!r} has dtype {quote(str(dtype))} and shape {quote(str(shape))}: "
            f"give {ndim}-dimensional {_KINDS[kinds]}"
        )
    size = info.file_size - head.tell()
    if min(shape, default=0) < 0 or size != math.prod(shape) * dtype.itemsize:
        raise BupError(
            f"{name}: {key!r} claims dtype {dtype} and shape {quote(str(shape))} but has "
            f"{size:,} bytes: write it again"
        )
    return Member(info, head.tell(), dtype, shape, fortran)


def check_unpacked(name: str, size: int, limits: TableLimits) -> None:
    if size > limits.npz_bytes:
        raise BupError(
            f"{name} unpacks to {size:,} bytes: give at most {limits.most_npz}, for example with "
            "data as float32 and indices as int32"
        )


def read_features(
    file: BinaryIO, ids: tuple[str, ...], limits: TableLimits
) -> sparse.csr_array | np.ndarray:
    """The features of nodes: a csr matrix, or a table called ``features``."""
    with open_archive(FEATURES, file) as archive:
        names = set(archive.namelist())
        if {"features.npy", "format.npy"} <= names:
            raise BupError(f"{FEATURES} has both a table and a csr matrix: keep one")
        if "features.npy" in names:
            return _read_dense(archive, ids, limits)
        if "format.npy" in names:
            return _read_csr(archive, ids, limits)
        raise BupError(
            f"{FEATURES} has no array 'features' but {quote_all(sorted(names)) or 'nothing'}: "
            "write it with numpy.savez(..., features=table) or scipy.sparse.save_npz"
        )


def _read_dense(archive: zipfile.ZipFile, ids: tuple[str, ...], limits: TableLimits) -> np.ndarray:
    member = array_in(FEATURES, archive, "features", "fiub", 2, limits)
    _check_shape(member.shape, len(ids), limits)
    check_values(FEATURES, math.prod(member.shape), limits)
    values = member.content(archive)
    # The extremes are NaN if any value is, and need no second table in memory. As Python floats,
    # because the largest feature would be infinite in half precision.
    if not (float(values.min()) >= -limits.largest and float(values.max()) <= limits.largest):
        row, column = np.argwhere(~(np.abs(values.astype(np.float64)) <= limits.largest))[0]
        raise _bad_value(values[row, column], row, column, ids, limits)
    return values.astype(np.float32)


def _read_csr(
    archive: zipfile.ZipFile, ids: tuple[str, ...], limits: TableLimits
) -> sparse.csr_array:
    form = array_in(FEATURES, archive, "format", "SU", 0, limits)
    name = form.content(archive).item() if form.dtype.itemsize <= 64 else "?"
    if name not in (b"csr", "csr"):
        raise BupError(f"{FEATURES} holds format {name!r}: save the matrix as csr, with .tocsr()")
    dimensions = array_in(FEATURES, archive, "shape", "iu", 1, limits)
    if dimensions.shape != (2,):
        raise BupError(f"{FEATURES} holds {dimensions.shape[0]} dimensions: save a table of 2")
    rows, columns = shape = tuple(map(int, dimensions.content(archive)))
    _check_shape(shape, len(ids), limits)
    members = {
        key: array_in(FEATURES, archive, key, kinds, 1, limits)
        for key, kinds in (("data", "fiub"), ("indices", "iu"), ("indptr", "iu"))
    }
    stored = members["data"].shape[0]
    check_values(FEATURES, stored, limits)
    for key, expected in (("indices", stored), ("indptr", rows + 1)):
        if members[key].shape[0] != expected:
            raise BupError(
                f"{FEATURES}: {key!r} has {members[key].shape[0]:,} entries where {expected:,} "
                "belong: write it again with scipy.sparse.save_npz"
            )
    check_unpacked(FEATURES, sum(m.info.file_size for m in members.values()), limits)
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
    bad = np.flatnonzero(~(np.abs(matrix.data) <= limits.largest))
    if len(bad):
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        raise _bad_value(matrix.data[bad[0]], row, matrix.indices[bad[0]], ids, limits)
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


def check_values(name: str, values: int, limits: TableLimits) -> None:
    if values > limits.values:
        raise BupError(
            f"{name} has {values:,} or more feature values: give at most {limits.values:,}; "
            f"in a csr matrix in {FEATURES} zeros do not count"
        )


def _bad_value(
    value: float, row: int, column: int, ids: tuple[str, ...], limits: TableLimits
) -> BupError:
    where = f"{FEATURES}, row {row + 1} (node {quote(ids[row])}), column {column + 1}"
    if np.isfinite(value):
        return BupError(f"{where}: {value} is beyond {limits.largest:,.0f}: {SCALE}")
    return BupError(f"{where}: {value} is not finite: replace it by a number, 0 for none")
