"""Dropped files by name, archives opened with care: nothing is written, nothing is run."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Iterable
from pathlib import PurePosixPath

from bup.datasets.uploads import limits
from bup.datasets.zips import check_zip
from bup.errors import BupError
from bup.io.quoting import quote, quote_all

MOST_FILES = 100
RUNS_CODE = {".pt", ".pth", ".pkl", ".pickle", ".joblib", ".npy", ".ckpt", ".bin"}
Files = dict[str, bytes]


def files_of(dropped: Iterable[tuple[str, bytes]]) -> Files:
    """Every file by its bare name, those in zip archives too."""
    dropped = list(dropped)
    size = sum(len(content) for _, content in dropped)
    if size > limits.UPLOAD_MB.value * limits.MEGABYTE:
        raise BupError(
            f"the files have {size / limits.MEGABYTE:,.0f} MB together: give at most "
            f"{limits.UPLOAD_MB.value} ({limits.UPLOAD_MB.name})"
        )
    found: Files = {}
    for name, content in dropped:
        packed = name.lower().endswith(".zip")
        for inner, data in _unzipped(name, content).items() if packed else [(name, content)]:
            _check_kind(inner)
            if inner in found:
                raise BupError(f"there are two files called {quote(inner)}: keep one")
            found[inner] = data
    return found


def _check_kind(name: str) -> None:
    if PurePosixPath(name.lower()).suffix in RUNS_CODE:
        raise BupError(
            f"{quote(name)} could run code when it is opened, so it is not taken: save tables as "
            "csv and features as npz (numpy.savez or scipy.sparse.save_npz)"
        )


def _unzipped(name: str, content: bytes) -> Files:
    try:
        check_zip(name, io.BytesIO(content))
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if (entries := len(archive.infolist())) > MOST_FILES:
                raise BupError(
                    f"{quote(name)} lists {entries:,} files: give at most {MOST_FILES}, and only "
                    "those of the graph"
                )
            members = [info for info in archive.infolist() if _is_wanted(info)]
            _check_members(name, members)
            return {PurePosixPath(info.filename).name: _content(archive, info) for info in members}
    except (BupError, MemoryError):
        raise
    except Exception as error:  # zipfile and zlib answer damage with a dozen kinds of exceptions
        raise BupError(
            f"{quote(name)} is damaged or no zip file ({type(error).__name__}): zip the files again"
        ) from error


def _is_wanted(info: zipfile.ZipInfo) -> bool:
    """Neither a folder nor what file managers leave behind."""
    parts = PurePosixPath(info.filename).parts
    hidden = any(part == "__MACOSX" or (part[0] == "." and part.strip(".")) for part in parts)
    return bool(parts) and not info.is_dir() and not hidden


def _check_members(name: str, members: list[zipfile.ZipInfo]) -> None:
    unpacked = sum(info.file_size for info in members)
    if unpacked > limits.UNPACKED_MB.value * limits.MEGABYTE:
        raise BupError(
            f"{quote(name)} unpacks to {unpacked / limits.MEGABYTE:,.0f} MB: give at most "
            f"{limits.UNPACKED_MB.value} ({limits.UNPACKED_MB.name})"
        )
    names = [PurePosixPath(info.filename).name for info in members]
    if len(set(names)) < len(names):
        raise BupError(f"{quote(name)} has two files of one name: {quote_all(sorted(names))}")
    for info in members:
        if info.filename.lower().endswith(".zip"):
            raise BupError(
                f"{quote(name)} has a zip inside it: unpack {quote(info.filename)} first"
            )
        if ".." in PurePosixPath(info.filename).parts or info.filename.startswith("/"):
            raise BupError(
                f"{quote(name)}: {quote(info.filename)} points out of the archive: zip the files "
                "from within their folder"
            )
        if stat.S_ISLNK(info.external_attr >> 16):
            raise BupError(
                f"{quote(name)}: {quote(info.filename)} is a link to a file, not a file: zip the "
                "files themselves"
            )
        if info.flag_bits & 1:
            raise BupError(f"{quote(name)} is encrypted: zip the files without a password")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BupError(
                f"{quote(name)} is packed with method {info.compress_type}: zip it the usual way"
            )


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as stream:
        return stream.read(info.file_size)  # to the end, where the checksum is verified
