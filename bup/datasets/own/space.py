"""Where graphs and predictions that people bring are kept: a bounded space, for some days.

Each is one file whose name holds 100 random bits. Knowing the name is the right to open it, so no
list, no error and no menu ever tells one to somebody who does not have it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bup import files
from bup.datasets.own import limits
from bup.errors import BupError
from bup.files import DamagedFile, Packed

_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
TOKEN = re.compile("[a-z2-7]{20}")


def new_token() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(20))


@dataclass(frozen=True)
class Space:
    """A kind of things that are kept: graphs, or predictions."""

    kind: str  # also its folder
    gone: str  # what is said of one that is not here

    def path(self, token: str) -> Path:
        if not TOKEN.fullmatch(token):
            raise BupError(self.gone)
        return files.cache_folder() / "own" / self.kind / f"{token}.bup"

    def keep(self, token: str, data: bytes) -> None:
        """Write it, if there is room; whatever has expired makes room first."""
        sweep()
        room = limits.SPACE_MB.value * limits.MEGABYTE - sum(size for _, size in _kept())
        if len(data) > room:
            raise BupError(
                f"there is no room for it here: it takes {_megabytes(len(data))} and "
                f"{_megabytes(max(room, 0))} are free. Delete a graph that you no longer need, or "
                f"ask whoever serves this to raise {limits.SPACE_MB.name}"
            )
        try:
            files.write_atomically(self.path(token), data)
        except OSError as error:
            raise BupError(
                f"it cannot be kept here ({error.strerror or error}): the disk may be full"
            ) from error

    def load(self, token: str) -> Packed:
        """What is kept."""
        try:
            if self.opened(token):
                return files.read_packed(self.path(token))
        except (OSError, DamagedFile):
            pass
        raise BupError(self.gone)

    def opened(self, token: str) -> bool:
        """Whether it is here; asking puts its end off."""
        if not TOKEN.fullmatch(token) or _expired(self.path(token)):
            return False
        with contextlib.suppress(OSError):
            os.utime(self.path(token))
        return True

    def delete(self, token: str) -> None:
        with contextlib.suppress(OSError):
            self.path(token).unlink()

    def until(self, token: str) -> datetime:
        """When it is deleted, if nobody opens it before."""
        try:
            last = self.path(token).stat().st_mtime
        except OSError:
            raise BupError(self.gone) from None
        return datetime.fromtimestamp(last + _patience(), UTC)


def sweep() -> None:
    """Delete what has expired, and runs on graphs that are gone."""
    for path, _ in _kept():
        if _expired(path):
            with contextlib.suppress(OSError):
                path.unlink()
    here = {path.stem for path, _ in _kept()}
    for folder in _runs("own-*"):
        if folder.name.split("-")[1] not in here:
            shutil.rmtree(folder, ignore_errors=True)


def forget_runs(token: str) -> None:
    """Delete the results on the graph with this token."""
    for folder in _runs(f"own-{token}-*") if TOKEN.fullmatch(token) else ():
        shutil.rmtree(folder, ignore_errors=True)


def _runs(pattern: str) -> Iterator[Path]:
    """Folders of runs, whose names begin with that of their graph, see ``bup.spec``."""
    return (files.cache_folder() / "runs").glob(pattern)


def _patience() -> float:
    return limits.DAYS.value * 86_400


def _expired(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > _patience()
    except OSError:
        return True


def _kept() -> list[tuple[Path, int]]:
    found = []
    for path in (files.cache_folder() / "own").glob("*/*.bup"):
        with contextlib.suppress(OSError):
            found.append((path, path.stat().st_size))
    return found


def _megabytes(size: int) -> str:
    return f"{size / limits.MEGABYTE:,.1f} MB"
