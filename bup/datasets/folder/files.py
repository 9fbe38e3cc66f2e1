"""The files of a folder, opened with care."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

from bup.errors import BupError
from bup.io.quoting import quote

NODES, EDGES, FEATURES = "nodes.csv", "edges.csv", "features.npz"


def check_folder(folder: str) -> None:
    remedy = f"give the path of a folder with {NODES} and {EDGES}"
    try:
        status = os.stat(folder)
    except (OSError, ValueError) as error:  # ValueError: NUL or unpaired surrogates in the path
        reason = getattr(error, "strerror", None) or "not a path"
        raise BupError(f"cannot open {quote(folder, 200)} ({reason}): {remedy}") from error
    if not stat.S_ISDIR(status.st_mode):
        raise BupError(f"{quote(folder, 200)} is not a folder: {remedy}")


def opened(folder: str, name: str, max_bytes: int) -> BinaryIO:
    path = os.path.join(folder, name)
    try:
        status = os.stat(path)
    except FileNotFoundError as error:
        raise BupError(f"{quote(folder, 200)} has no {name}: add that file") from error
    # Before opening: to open a named pipe would wait for ever.
    if not stat.S_ISREG(status.st_mode):
        raise BupError(f"{name} in {quote(folder, 200)} is not a plain file: replace it by one")
    if status.st_size > max_bytes:
        raise BupError(
            f"{name} has {status.st_size:,} bytes: give a file of at most {max_bytes:,} bytes"
        )
    return open(path, "rb")
