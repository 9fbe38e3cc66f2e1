"""Uploaded files by name; archives are opened with care: nothing is written, nothing is run."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Iterable
from pathlib import PurePosixPath

from bup.datasets.tables.npz import is_compression_safe, open_archive, read_member
from bup.datasets.uploads import limits
from bup.errors import BupError
from bup.io.quoting import quote, quote_all

MOST_FILES = 100
RUNS_CODE = {".pt", ".pth", ".pkl", ".pickle", ".joblib", ".npy", ".ckpt", ".bin"}
Files = dict[str, bytes]


def files_by_name(uploaded: Iterable[tuple[str, bytes]]) -> Files:
    """The content of every file by its bare name, those in zip archives too."""
    uploaded = list(uploaded)
    size = sum(len(content) for _, content in uploaded)
    if size > limits.UPLOAD_MB.value * limits.MEGABYTE:
        raise BupError(
            f"the files have {size / limits.MEGABYTE:,.0f} MB together: give at most "
            f"{limits.UPLOAD_MB.value} ({limits.UPLOAD_MB.name})"
        )
    files: Files = {}
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


def _unzip(name: str, content: bytes) -> Files:
    with open_archive(name, io.BytesIO(content)) as archive:
        if (entries := len(archive.infolist())) > MOST_FILES:
            raise BupError(
                f"{quote(name)} lists {entries:,} files: give at most {MOST_FILES}, and only "
                "those of the graph"
            )
        members = [info for info in archive.infolist() if _is_wanted(info)]
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
    if info.filename.lower().endswith(".zip"):
        return f" has a zip inside it: unpack {quote(info.filename)} first"
    if ".." in PurePosixPath(info.filename).parts or info.filename.startswith("/"):
        return (
            f": {quote(info.filename)} points out of the archive: zip the files from within "
            "their folder"
        )
    if stat.S_ISLNK(info.external_attr >> 16):
        return f": {quote(info.filename)} is a link to a file, not a file: zip the files themselves"
    if info.flag_bits & 1:
        return " is encrypted: zip the files without a password"
    if not is_compression_safe(info):
        return f" is packed with method {info.compress_type}: zip it the usual way"
    return ""
