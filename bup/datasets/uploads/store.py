"""Where graphs and predictions that people bring are kept: a bounded space, for some days.

Each is one file whose name holds 100 random bits. Knowing the name is the right to open it, so no
list, no error and no menu ever tells one to somebody who does not have it. Beside it lies whose it
is, because nobody may have all of the space.
"""

from __future__ import annotations

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

from bup.datasets.uploads import limits
from bup.errors import BupError
from bup.io import files, run_folders
from bup.io.files import Contents, DamagedFile

MARKED = 86_400  # seconds between the mark of what has expired and its end
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
T = TypeVar("T")
TOKEN = re.compile("[a-z2-7]{20}")
SHARE_PER_VISITOR, SHARE_PER_ADDRESS = 1 / 8, 1 / 2
"""Shares of the space that a visitor may have, and all visitors at one address."""
_LOCK_SECONDS = 60.0  # seconds to wait for others who keep something

log = logging.getLogger(__name__)


def new_token() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(20))


class Uploader(NamedTuple):
    """A visitor and an address, by whatever tells them from others."""

    visitor: str = ""
    address: str = ""


class _StoredFile(NamedTuple):
    path: Path
    size: int = 0
    used: float = 0.0  # when it was last opened

    @property
    def owner(self) -> Uploader:
        try:
            return Uploader(*_owner_path(self.path).read_text(encoding="ascii").split())
        except (OSError, ValueError, TypeError):
            return Uploader()

    def delete(self) -> None:
        for path in (self.path, _owner_path(self.path), _mark_path(self.path)):
            with contextlib.suppress(OSError):
                path.unlink()


@dataclass(frozen=True)
class UploadStore:
    """A kind of things that are kept: graphs, or predictions."""

    kind: str  # also its folder
    not_found: str  # what is said of one that is not here

    def path(self, token: str) -> Path:
        if not TOKEN.fullmatch(token):
            raise BupError(self.not_found)
        return files.cache_folder() / "own" / self.kind / f"{token}.bup"

    def save(self, token: str, data: bytes, owner: Uploader | None = None) -> None:
        """Write it, if there is room; whatever has expired makes room first.

        In the share of an owner, what was not opened for longest makes room.
        """
        path = self.path(token)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(path.parent.parent / ".lock", timeout=_LOCK_SECONDS):
                sweep()
                others = [kept for kept in _stored_files() if kept.path != path]
                for old in _to_evict(others, len(data), owner):
                    old.delete()
                    forget_runs(old.path.stem)
                if owner is not None and not path.exists():
                    files.write_atomically(_owner_path(path), " ".join(owner).encode())
                files.write_atomically(path, data)
        except OSError as error:
            raise BupError(
                f"it cannot be kept here ({error.strerror or error}): the disk may be full"
            ) from error

    def paths(self) -> list[Path]:
        """Files of all that is kept here, for whoever may know of all."""
        folder = files.cache_folder() / "own" / self.kind
        return [path for path in sorted(folder.glob("*.bup")) if not _expired(path)]

    def load(self, token: str, read: Callable[[Contents], T]) -> T:
        """What is kept, as it is ``read``; what cannot be is set aside."""
        try:
            if self.touch(token):
                return read(files.read(self.path(token)))
        except OSError:
            pass
        except (BupError, DamagedFile) as error:
            files.set_aside(self.path(token))
            log.warning("a file of %s that were brought is set aside: %s", self.kind, error)
        raise BupError(self.not_found)

    def touch(self, token: str) -> bool:
        """Whether it is here; asking puts its end off."""
        if not TOKEN.fullmatch(token) or _expired(self.path(token)):
            return False
        with contextlib.suppress(OSError):
            os.utime(self.path(token))
        return True

    def delete(self, token: str) -> None:
        _StoredFile(self.path(token)).delete()

    def expires_at(self, token: str) -> datetime:
        """When it is deleted, if nobody opens it before."""
        try:
            last = self.path(token).stat().st_mtime
        except OSError:
            raise BupError(self.not_found) from None
        return datetime.fromtimestamp(last + _lifetime(), UTC)


def sweep() -> None:
    """Delete what expired a while ago, and runs on graphs that are gone.

    What seems to have expired gets a mark first: a clock that is set wrong, and right again soon,
    costs nobody a graph.
    """
    now = time.time()
    for kept in _stored_files():
        mark = _mark_path(kept.path)
        with contextlib.suppress(OSError):
            if not _expired(kept.path):
                mark.unlink(missing_ok=True)
            elif not mark.exists():
                mark.touch()
                os.utime(mark, (now, now))
            elif now - mark.stat().st_mtime > MARKED:
                kept.delete()
    here = {kept.path.stem for kept in _stored_files()}
    for folder, start in run_folders.of_uploads():
        if not any(token.startswith(start) for token in here):
            shutil.rmtree(folder, ignore_errors=True)


def forget_runs(token: str) -> None:
    """Delete the results on the graph with this token, and on those that are made from it."""
    for folder, start in run_folders.of_uploads():
        if TOKEN.fullmatch(token) and token.startswith(start):
            shutil.rmtree(folder, ignore_errors=True)


def _lifetime() -> float:
    return limits.DAYS.value * 86_400


def _expired(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > _lifetime()
    except OSError:
        return True


def _stored_files() -> list[_StoredFile]:
    found = []
    for path in (files.cache_folder() / "own").glob("*/*.bup"):
        with contextlib.suppress(OSError):
            about = path.stat()
            found.append(_StoredFile(path, about.st_size, about.st_mtime))
    return found


def _owner_path(path: Path) -> Path:
    return path.with_suffix(".owner")


def _mark_path(path: Path) -> Path:
    return path.with_suffix(".expired")


def _to_evict(kept: Sequence[_StoredFile], size: int, owner: Uploader | None) -> list[_StoredFile]:
    """What of an owner's has to go for something of this size; BupError if that is not enough."""
    space, going = limits.SPACE_MB.value * limits.MEGABYTE, list[_StoredFile]()
    if owner is not None:
        most, whose = SHARE_PER_VISITOR * space, {one: one.owner for one in kept}
        if size > most:
            raise BupError(
                f"there is no room for it here: it takes {_megabytes(size)}, and a visitor may "
                f"keep {_megabytes(most)}. Bring a smaller one, or ask whoever serves this to "
                f"raise {limits.SPACE_MB.name}, of which that is an eighth"
            )
        mine = [one for one in kept if whose[one].visitor == owner.visitor]
        mine.sort(key=lambda one: one.used)
        while sum(one.size for one in mine) + size > most:
            going.append(mine.pop(0))
        near = [one for one in kept if whose[one].address == owner.address and one not in going]
        used, most = sum(one.size for one in near), SHARE_PER_ADDRESS * space
        if used + size > most:
            raise BupError(
                f"there is no room for it here: it takes {_megabytes(size)}, and those in your "
                f"network keep {_megabytes(used)} already, of {_megabytes(most)}. Delete a graph "
                f"that you no longer need, or ask whoever serves this to raise "
                f"{limits.SPACE_MB.name}, of which that is half"
            )
    room = space - sum(one.size for one in kept if one not in going)
    if size > room:
        raise BupError(
            f"there is no room for it here: it takes {_megabytes(size)} and "
            f"{_megabytes(max(room, 0))} are free. Delete a graph that you no longer need, or "
            f"ask whoever serves this to raise {limits.SPACE_MB.name}"
        )
    return going


def _megabytes(size: float) -> str:
    return f"{size / limits.MEGABYTE:,.1f} MB"
