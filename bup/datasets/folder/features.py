"""The file of features: a table or a csr matrix."""

from __future__ import annotations

import math
import zipfile

import numpy as np

from bup.datasets.folder import limits
from bup.datasets.folder.files import FEATURES, NODES, opened
from bup.datasets.zips import array_in, check_zip
from bup.errors import BupError
from bup.io.lazy import sparse
from bup.io.quoting import SCALE, quote, quote_all


def read_features(folder: str, ids: tuple[str, ...]) -> sparse.csr_array | np.ndarray:
    with opened(folder, FEATURES, limits.MAX_NPZ_BYTES) as file:
        try:
            check_zip(FEATURES, file)
            with zipfile.ZipFile(file) as archive:
                names = set(archive.namelist())
                if {"features.npy", "format.npy"} <= names:
                    raise BupError(f"{FEATURES} has both a table and a csr matrix: keep one")
                if "features.npy" in names:
                    return _read_dense(archive, ids)
                if "format.npy" in names:
                    return _read_csr(archive, ids)
                found = quote_all(sorted(names)) or "nothing"
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


def _read_dense(archive: zipfile.ZipFile, ids: tuple[str, ...]) -> np.ndarray:
    member = array_in(FEATURES, archive, "features", "fiub", ndim=2)
    _check_shape(member.shape, len(ids))
    check_cells(math.prod(member.shape), FEATURES)
    values = member.content(archive)
    # The extremes are NaN if any value is, and need no second table in memory. As Python floats,
    # because limits.MAX_VALUE in half precision would be infinite.
    if not (float(values.min()) >= -limits.MAX_VALUE and float(values.max()) <= limits.MAX_VALUE):
        row, column = np.argwhere(~(np.abs(values.astype(np.float64)) <= limits.MAX_VALUE))[0]
        raise _bad_value(values[row, column], row, column, ids)
    return values.astype(np.float32)


def _read_csr(archive: zipfile.ZipFile, ids: tuple[str, ...]) -> sparse.csr_array:
    form = array_in(FEATURES, archive, "format", "SU", ndim=0)
    name = form.content(archive).item() if form.dtype.itemsize <= 64 else "?"
    if name not in (b"csr", "csr"):
        raise BupError(f"{FEATURES} holds format {name!r}: save the matrix as csr, with .tocsr()")
    shape_member = array_in(FEATURES, archive, "shape", "iu", ndim=1)
    if shape_member.shape != (2,):
        raise BupError(f"{FEATURES} holds {shape_member.shape[0]} dimensions: save a table of 2")
    rows, columns = shape = tuple(map(int, shape_member.content(archive)))
    _check_shape(shape, len(ids))
    members = {
        "data": array_in(FEATURES, archive, "data", "fiub", ndim=1),
        "indices": array_in(FEATURES, archive, "indices", "iu", ndim=1),
        "indptr": array_in(FEATURES, archive, "indptr", "iu", ndim=1),
    }
    stored = members["data"].shape[0]
    check_cells(stored, FEATURES)
    for key, expected in (("indices", stored), ("indptr", rows + 1)):
        if members[key].shape[0] != expected:
            raise BupError(
                f"{FEATURES}: {key!r} has {members[key].shape[0]:,} entries where {expected:,} "
                "belong: write it again with scipy.sparse.save_npz"
            )
    unpacked = sum(member.info.file_size for member in members.values())
    if unpacked > limits.MAX_NPZ_BYTES:
        raise BupError(
            f"{FEATURES} unpacks to {unpacked:,} bytes: give at most {limits.MAX_NPZ_BYTES:,}, for "
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
    bad = np.flatnonzero(~(np.abs(matrix.data) <= limits.MAX_VALUE))
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
    if not 1 <= shape[1] <= limits.MAX_FEATURES:
        raise BupError(
            f"{FEATURES} has {shape[1]:,} columns: give between 1 and "
            f"{limits.MAX_FEATURES:,} features"
        )


def check_cells(cells: int, name: str) -> None:
    if cells > limits.MAX_CELLS:
        raise BupError(
            f"{name} has {cells:,} or more feature values: give at most "
            f"{limits.MAX_CELLS:,}; in a csr matrix in {FEATURES} zeros do not count"
        )


def _bad_value(value: float, row: int, column: int, ids: tuple[str, ...]) -> BupError:
    where = f"{FEATURES}, row {row + 1} (node {quote(ids[row])}), column {column + 1}"
    if np.isfinite(value):
        return BupError(f"{where}: {value} is beyond {limits.MAX_VALUE:,.0f}: {SCALE}")
    return BupError(f"{where}: {value} is not finite: replace it by a number, 0 for none")
