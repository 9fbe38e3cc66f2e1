"""Zip files of strangers, npz files among them: checked before anything is unpacked."""

from __future__ import annotations

import io
import math
import os
import zipfile
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from bup.datasets.folder import limits
from bup.errors import BupError
from bup.io.quoting import quote

_AGAIN = {
    "npz": "write it with numpy.savez or scipy.sparse.save_npz",
    "zip": "zip the files again",
}
_END, _LONGEST_COMMENT, _LOCATOR = 22, 2**16, 20  # bytes
_MOST_NAMES = 2**16  # bytes of the directory


def check_zip(name: str, file: BinaryIO) -> None:
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
    kind = name.lower().rpartition(".")[2]
    again = _AGAIN.get(kind, "write it again")
    if at < 0 or len(tail) < at + _END or tail[max(0, at - _LOCATOR) : at][:4] == b"PK\x06\x07":
        raise BupError(
            f"{quote(name)} is truncated or no {kind} file, it ends in {tail[-8:]!r}: {again}"
        )
    if (size := int.from_bytes(tail[at + 12 : at + 16], "little")) > _MOST_NAMES:
        raise BupError(
            f"{quote(name)} lists too many files ({size:,} bytes of names): keep only those that "
            "belong to the graph"
        )


@dataclass(frozen=True)
class Member:
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


_KINDS = {
    "f": "fractions",
    "fiub": "numbers",
    "iu": "whole numbers",
    "SU": "text",
    "SUiu": "text or whole numbers",
}


def array_in(name: str, archive: zipfile.ZipFile, key: str, kinds: str, ndim: int) -> Member:
    if f"{key}.npy" not in archive.namelist():
        raise BupError(f"{name} has no array {key!r}: {_AGAIN['npz']}")
    info = archive.getinfo(f"{key}.npy")
    if info.file_size > limits.MAX_NPZ_BYTES:
        raise BupError(
            f"{name}: {key!r} unpacks to {info.file_size:,} bytes: give at most "
            f"{limits.MAX_NPZ_BYTES:,}, for example as a csr matrix"
        )
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # zipfile bounds what one read inflates for these two only.
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
