"""Where uploaded graphs and predictions are stored: a bounded space, for some days.

Each upload is one file whose name holds 100 random bits. Knowing the name is the right to open it:
no list, error or menu tells a name to a visitor who does not have it. A file beside it says whose
it is, because no visitor may use all of the space.
"""

import contextlib
import logging
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from filelock import FileLock

from bup.errors import BupError, explain_os_error
from bup.io import files, limits, run_folders

MARKED = 86_400  # seconds between the mark on an expired upload and its deletion
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
TOKEN = re.compile("[a-z2-7]{20}")
SHARE_PER_VISITOR, SHARE_PER_ADDRESS = 1 / 8, 1 / 2
"""Shares of the space that a visitor may use, and all visitors at one address together."""
_LOCK_SECONDS = 60.0  # to wait for other processes that save an upload
_OWNER, _EXPIRED = ".owner", ".expired"  # files beside an upload

T = TypeVar("T")
log = logging.getLogger(__name__)


def new_token() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(20))


class Uploader(NamedTuple):
    """A visitor and an address, by whatever distinguishes them from others."""

    visitor: str = ""
    address: str = ""


class _StoredFile(NamedTuple):
    path: Path
    size: int
    used: float  # when it was last opened

    @property
    def uploader(self) -> Uploader:
        try:
            return Uploader(*self.path.with_suffix(_OWNER).read_text(encoding="ascii").split())
        except (OSError, ValueError, TypeError):
            return Uploader()


@dataclass(frozen=True)
class UploadStore:
    """The uploads of one kind: graphs, or predictions."""

    kind: str  # also the name of the folder
    not_found: str  # the error for an upload that is not here

    @property
    def _folder(self) -> Path:
        return files.cache_folder() / "own" / self.kind

    def path(self, token: str) -> Path:
        if not TOKEN.fullmatch(token):
            raise BupError(self.not_found)
        return self._folder / f"{token}.bup"

    def save(self, token: str, data: bytes, uploader: Uploader | None = None) -> None:
        """Write an upload if there is room; expired uploads make room first.

        Within the share of a visitor, the uploads that were not opened for longest make room.
        """
        path = self.path(token)
        with explain_os_error("it cannot be kept here", "the disk may be full"):
            path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(path.parent.parent / ".lock", timeout=_LOCK_SECONDS):
                sweep()
                others = [file for file in _stored_files() if file.path != path]
                for file in _files_to_evict(others, len(data), uploader):
                    _delete_file(file.path)
                    delete_runs(file.path.stem)
                if uploader is not None and not path.exists():
                    files.write_atomically(path.with_suffix(_OWNER), " ".join(uploader).encode())
                files.write_atomically(path, data)

    def paths(self) -> list[Path]:
        """The files of all uploads, for callers who may know about all of them."""
        return [path for path in sorted(self._folder.glob("*.bup")) if not _is_expired(path)]

    def load(self, token: str, read: Callable[[files.Contents], T]) -> T:
        """What ``read`` makes of an upload; a file that it cannot read is set aside."""
        try:
            if self.touch(token):
                return read(files.read(self.path(token)))
        except OSError:
            pass
        except (BupError, files.DamagedFile) as error:
            files.set_aside(self.path(token))
            log.warning("an uploaded file of %s is set aside: %s", self.kind, error)
        raise BupError(self.not_found)

    def touch(self, token: str) -> bool:
        """Whether an upload is here; this call extends its lifetime."""
        if not TOKEN.fullmatch(token) or _is_expired(self.path(token)):
            return False
        with contextlib.suppress(OSError):
            os.utime(self.path(token))
        return True

    def delete(self, token: str) -> None:
        _delete_file(self.path(token))

    def expires_at(self, token: str) -> datetime:
        """When an upload is deleted, unless it is opened before."""
        try:
            last = self.path(token).stat().st_mtime
        except OSError:
            raise BupError(self.not_found) from None
        return datetime.fromtimestamp(last + _lifetime(), UTC)


def sweep() -> None:
    """Delete uploads that expired a while ago, and runs on uploads that are gone.

    An expired upload gets a mark first. If it had only seemed so because the clock was wrong for a
    while, the mark goes and the upload stays.
    """
    now = time.time()
    for file in _stored_files():
        mark = file.path.with_suffix(_EXPIRED)
        with contextlib.suppress(OSError):
            if not _is_expired(file.path):
                mark.unlink(missing_ok=True)
            elif not mark.exists():
                mark.touch()
                os.utime(mark, (now, now))
            elif now - mark.stat().st_mtime > MARKED:
                _delete_file(file.path)
    remaining = {file.path.stem for file in _stored_files()}
    for folder, start in run_folders.of_uploads():
        if not any(token.startswith(start) for token in remaining):
            shutil.rmtree(folder, ignore_errors=True)


def delete_runs(token: str) -> None:
    """Delete the results on the graph with this token, and on those that are made from it."""
    for folder, start in run_folders.of_uploads():
        if TOKEN.fullmatch(token) and token.startswith(start):
            shutil.rmtree(folder, ignore_errors=True)


def _delete_file(upload: Path) -> None:
    for suffix in (upload.suffix, _OWNER, _EXPIRED):
        with contextlib.suppress(OSError):
            upload.with_suffix(suffix).unlink()


def _lifetime() -> float:
    return limits.DAYS.value * 86_400


def _is_expired(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > _lifetime()
    except OSError:
        return True


def _stored_files() -> list[_StoredFile]:
    stored = []
    for path in (files.cache_folder() / "own").glob("*/*.bup"):
        with contextlib.suppress(OSError):
            status = path.stat()
            stored.append(_StoredFile(path, status.st_size, status.st_mtime))
    return stored


def _files_to_evict(
    stored: Sequence[_StoredFile], size: int, uploader: Uploader | None
) -> list[_StoredFile]:
    """A visitor's files to delete for a new one; BupError if there is too little room even so."""
    space = limits.SPACE_MB.bytes
    evicted: list[_StoredFile] = []
    no_room = f"there is no room for it here: it takes {_megabytes(size)}, and"
    raise_it = f"or ask whoever serves this to raise {limits.SPACE_MB.name}"
    delete_one = f"Delete a graph that you no longer need, {raise_it}"
    if uploader is not None:
        most, uploaders = SHARE_PER_VISITOR * space, {file: file.uploader for file in stored}
        if size > most:
            raise BupError(
                f"{no_room} a visitor may keep {_megabytes(most)}. Bring a smaller one, {raise_it}"
                ", of which that is an eighth"
            )
        mine = [file for file in stored if uploaders[file].visitor == uploader.visitor]
        mine.sort(key=lambda file: file.used)
        while sum(file.size for file in mine) + size > most:
            evicted.append(mine.pop(0))
        used = sum(
            file.size
            for file in stored
            if uploaders[file].address == uploader.address and file not in evicted
        )
        if used + size > (most := SHARE_PER_ADDRESS * space):
            raise BupError(
                f"{no_room} those in your network keep {_megabytes(used)} already, of "
                f"{_megabytes(most)}. {delete_one}, of which that is half"
            )
    room = space - sum(file.size for file in stored if file not in evicted)
    if size > room:
        raise BupError(f"{no_room} {_megabytes(max(room, 0))} are free. {delete_one}")
    return evicted


def _megabytes(size: float) -> str:
    return f"{size / limits.MEGABYTE:,.1f} MB"
