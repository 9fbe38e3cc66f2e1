"""Uploaded files by name; archives are opened with care: nothing is written, nothing is run."""

import io
import os
import stat
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import BinaryIO

from bup.errors import BupError, quote, quote_all
from bup.io import limits

MOST_FILES = 100
RUNS_CODE = {".pt", ".pth", ".pkl", ".pickle", ".joblib", ".npy", ".ckpt", ".bin"}
WRITE_NPZ_AGAIN = "write it again with numpy.savez or scipy.sparse.save_npz, without objects"
_AGAIN = {"npz": WRITE_NPZ_AGAIN, "zip": "zip the files again"}
_END, _LONGEST_COMMENT, _LOCATOR = 22, 2**16, 20  # bytes
_MOST_NAMES = 2**16  # bytes of the directory


def files_by_name(uploaded: Iterable[tuple[str, bytes]]) -> dict[str, bytes]:
    """The content of every file by its bare name, those in zip archives too."""
    uploaded = list(uploaded)
    size = sum(len(content) for _, content in uploaded)
    if size > limits.UPLOAD_MB.bytes:
        raise BupError(
            f"the files have {size / limits.MEGABYTE:,.0f} MB together: give at most "
            f"{limits.UPLOAD_MB}"
        )
    files: dict[str, bytes] = {}
    for name, content in uploaded:
        is_zip = name.lower().endswith(".zip")
        for inner, data in _unzip(name, content).items() if is_zip else [(name, content)]:
            if PurePosixPath(inner.lower()).suffix in RUNS_CODE:
                raise BupError(
                    f"{quote(inner)} could run code when it is opened, so it is not taken: save "
                    "tables as csv and features as npz (numpy.savez or scipy.sparse.save_npz)"
                )
            if inner in files:
                raise BupError(f"there are two files called {quote(inner)}: keep one")
            files[inner] = data
    return files


def _unzip(name: str, content: bytes) -> dict[str, bytes]:
    with open_archive(name, io.BytesIO(content)) as archive:
        if (entries := len(archive.infolist())) > MOST_FILES:
            raise BupError(
                f"{quote(name)} lists {entries:,} files: give at most {MOST_FILES}, and only "
                "those of the graph"
            )
        members = [info for info in archive.infolist() if _is_wanted(info)]
        unpacked = sum(info.file_size for info in members)
        if unpacked > limits.UNPACKED_MB.bytes:
            raise BupError(
                f"{quote(name)} unpacks to {unpacked / limits.MEGABYTE:,.0f} MB: give at most "
                f"{limits.UNPACKED_MB}"
            )
        names = [PurePosixPath(info.filename).name for info in members]
        if len(set(names)) < len(names):
            raise BupError(f"{quote(name)} has two files of one name: {quote_all(sorted(names))}")
        for info in members:
            if problem := _problem(info):
                raise BupError(f"{quote(name)}{problem}")
        return {n: read_member(archive, info) for n, info in zip(names, members, strict=True)}


def _is_wanted(info: zipfile.ZipInfo) -> bool:
    """Neither a folder nor what file managers leave behind."""
    parts = PurePosixPath(info.filename).parts
    hidden = any(part == "__MACOSX" or (part[0] == "." and part.strip(".")) for part in parts)
    return bool(parts) and not info.is_dir() and not hidden


def _problem(info: zipfile.ZipInfo) -> str:
    """What is wrong with a file in an archive, in the words that follow the archive's name."""
    name = quote(info.filename)
    if info.filename.lower().endswith(".zip"):
        return f" has a zip inside it: unpack {name} first"
    if ".." in PurePosixPath(info.filename).parts or info.filename.startswith("/"):
        return f": {name} points out of the archive: zip the files from within their folder"
    if stat.S_ISLNK(info.external_attr >> 16):
        return f": {name} is a link to a file, not a file: zip the files themselves"
    if info.flag_bits & 1:
        return " is encrypted: zip the files without a password"
    if not is_compression_safe(info):
        return f" is packed with method {info.compress_type}: zip it the usual way"
    return ""


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
