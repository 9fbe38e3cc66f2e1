"""Files that are either whole or absent, and checked when they are read."""

import base64
import contextlib
import json
import os
import platform
import re
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import platformdirs
import xxhash
from safetensors import SafetensorError
from safetensors import numpy as safetensors

YOUNG = 600  # seconds that a file stays after it was last used (``trim``)
_STALE_SECONDS = 3600
_ATTEMPTS = 20  # to replace a file that is being read
MOST_HEADER_BYTES = 2**26
_UNREADABLE = (
    *(SafetensorError, LookupError, TypeError, ValueError),
    *(AttributeError, OverflowError, RecursionError),
)


class DamagedFile(Exception):
    """A file that is truncated, altered or not ours; the message says which."""


class Contents(NamedTuple):
    """The arrays and JSON values of a file."""

    arrays: dict[str, np.ndarray]
    values: dict[str, Any]

    def group(self, prefix: str) -> dict[str, np.ndarray]:
        """The arrays whose names begin with a prefix, by what follows it."""
        names = [name for name in self.arrays if name.startswith(prefix)]
        return {name.removeprefix(prefix): self.arrays[name] for name in names}


def cache_folder() -> Path:
    """Where graphs and results are stored: ``BUP_CACHE``, or the platform's user cache folder."""
    return Path(os.environ.get("BUP_CACHE") or platformdirs.user_cache_dir("bup-explorer"))


def pack(arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> bytes:
    """A plain safetensors file (no pickle), its metadata holding the values and a checksum."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(values, sort_keys=True, allow_nan=False)
    return safetensors.save(contiguous, {"values": text, "checksum": _checksum(contiguous, text)})


def unpack(data: bytes) -> Contents:
    try:
        header_size = int.from_bytes(data[:8], "little")
        metadata = json.loads(data[8 : 8 + header_size])["__metadata__"]
        arrays = safetensors.load(data)
        text, checksum = metadata["values"], metadata["checksum"]
        values = json.loads(text)
    except _UNREADABLE as error:
        raise DamagedFile(f"it cannot be read ({error!r})") from error
    if _checksum(arrays, text) != checksum:
        raise DamagedFile("its checksum does not match its content")
    return Contents(arrays, values)


def _checksum(arrays: Mapping[str, np.ndarray], text: str) -> str:
    # Against damage, not against an attacker, who could change the checksum as well: so a fast one.
    content = xxhash.xxh3_128(text.encode())
    hash_arrays(content, arrays)
    return content.hexdigest()


def hash_arrays(content: Any, arrays: Mapping[str, np.ndarray]) -> None:
    """Add arrays to a hash, with their names, types and shapes."""
    for name, array in sorted(arrays.items()):
        content.update(f"{name}{array.dtype}{array.shape}".encode())
        content.update(np.ascontiguousarray(array).data)


def key_of(content: Any) -> str:
    """A hash as 20 letters and digits, for the name of a file."""
    return base64.b32encode(content.digest()).decode().lower()[:20]


def read(path: Path) -> Contents:
    """Raises FileNotFoundError, OSError or DamagedFile."""
    return unpack(path.read_bytes())


def read_header(path: Path) -> tuple[set[str], dict[str, Any]]:
    """The names of a file's arrays, and its values: quick, for lists of many files.

    The checksum is not checked. Raises OSError or DamagedFile.
    """
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        text = file.read(size) if size <= MOST_HEADER_BYTES else b""
    try:
        header = json.loads(text)
        values = json.loads(header.pop("__metadata__")["values"])
    except _UNREADABLE as error:
        raise DamagedFile(f"it cannot be read ({error!r})") from error
    if not isinstance(values, dict):
        raise DamagedFile("its values are no table")
    return set(header), values


def write_atomically(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data`` so that a reader sees the old file or the new one.

    Killed at any moment, the worst that stays behind is a temporary file (``remove_temporary``).
    Two processes may write the same path: the last one wins, whole.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_temporary(path.parent)
    prefix = f".{path.name}.{_machine_name()}-{os.getpid()}."
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(path.parent)


def _replace(temporary: str, path: Path) -> None:
    """Windows refuses as long as another process reads ``path``, which takes a moment."""
    for _ in range(_ATTEMPTS):
        with contextlib.suppress(PermissionError):
            return os.replace(temporary, path)
        time.sleep(0.05)
    os.replace(temporary, path)


def set_aside(path: Path) -> None:
    """Rename a damaged file, so that it can be examined; one such file is kept per path."""
    with contextlib.suppress(OSError):  # it may be gone already
        os.replace(path, path.with_name(path.name + ".damaged"))


def trim(paths: Iterable[Path], most_bytes: float) -> list[Path]:
    """Remove the files that were unused for longest until the others take at most so many bytes.

    Files that were used a moment ago stay: a visitor may see them. Returns what it removed.
    """
    stored, removed = [], []
    for path in paths:
        with contextlib.suppress(OSError):
            status = path.stat()
            stored.append((status.st_atime, status.st_size, path))
    total = sum(size for _, size, _ in stored)
    for used, size, path in sorted(stored, key=lambda item: item[0]):
        if total <= most_bytes or time.time() - used < YOUNG:
            break
        with contextlib.suppress(OSError):
            path.unlink()
            total -= size
            removed.append(path)
    return removed


def mark_used(path: Path) -> None:
    """Set the time of last use; many file systems do not do it themselves."""
    with contextlib.suppress(OSError):
        os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))


def remove_temporary(folder: Path) -> None:
    """Remove the temporary files of writers that were killed; those of this machine at once.

    Only files named by ``write_atomically``: the folder may hold other files of a person.
    """
    for leftover in folder.glob(".*.tmp"):
        writer = re.search(r"\.([A-Za-z0-9_]+)-([0-9]{1,9})\.[^.]*\.tmp$", leftover.name)
        if writer is None:
            continue
        with contextlib.suppress(OSError):
            old = time.time() - leftover.stat().st_mtime > _STALE_SECONDS
            if old or (writer[1] == _machine_name() and _has_ended(int(writer[2]))):
                leftover.unlink()


def _has_ended(process: int) -> bool:
    import psutil  # takes a moment, and only what a killed writer left needs it

    return not psutil.pid_exists(process)


def _machine_name() -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", platform.node()) or "here"


def _sync_folder(folder: Path) -> None:
    # Makes the rename durable; not every platform can open a folder.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
