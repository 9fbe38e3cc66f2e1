"""Arrays in an npz archive, checked before they are unpacked."""

from __future__ import annotations

import io
import math
import os
import zipfile
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from bup.datasets.folder import limits
from bup.datasets.folder.files import FEATURES
from bup.datasets.folder.wording import shown
from bup.errors import BupError


def check_directory(file: BinaryIO) -> None:
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


_KINDS = {"fiub": "numbers", "iu": "whole numbers", "SU": "text"}


def member_of(archive: zipfile.ZipFile, key: str, kinds: str, ndim: int) -> Member:
    if f"{key}.npy" not in archive.namelist():
        raise BupError(f"{FEATURES} has no array {key!r}: write it with scipy.sparse.save_npz")
    info = archive.getinfo(f"{key}.npy")
    if info.file_size > limits.MAX_NPZ_BYTES:
        raise BupError(
            f"{FEATURES}: {key!r} unpacks to {info.file_size:,} bytes: give at most "
            f"{limits.MAX_NPZ_BYTES:,}, for example as a csr matrix"
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
            f"{FEATURES}: {key!r} has dtype {shown(str(dtype))} and shape {shown(str(shape))}: "
            f"give {ndim}-dimensional {_KINDS[kinds]}"
        )
    size = info.file_size - head.tell()
    if min(shape, default=0) < 0 or size != math.prod(shape) * dtype.itemsize:
        raise BupError(
            f"{FEATURES}: {key!r} claims dtype {dtype} and shape {shown(str(shape))} but has "
            f"{size:,} bytes: write it again"
        )
    return Member(info, head.tell(), dtype, shape, fortran)
