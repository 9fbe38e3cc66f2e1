"""Results on disk: found by their run, written whole, never trusted unchecked."""

from __future__ import annotations

import contextlib
import logging
import shutil
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import bup
from bup.errors import BupError
from bup.io import files
from bup.io.files import Contents, DamagedFile
from bup.io.server_limits import server_limits
from bup.run.spec import Run

VERSION = 3
"""Raise it when the meaning of a stored result changes: older files are then set aside."""

SHIPPED = Path(bup.__file__).parent / "shipped" / "runs"
"""Results that come with the package: the app's first page needs no training."""

TIDY = 60  # seconds between two looks at how much there is

log = logging.getLogger(__name__)
_tidied: dict[Path, float] = {}


class Store:
    """One folder per run under ``root``; by default ``runs`` in the cache folder."""

    def __init__(self, root: Path | str | None = None) -> None:
        self.root = Path(root) if root is not None else files.cache_folder() / "runs"

    def path(self, run: Run) -> Path:
        return self.root / run.key / "result.bup"

    def save(self, run: Run, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> Path:
        """Write a result; two processes saving the same run both succeed.

        Raises BupError where the folder cannot be written (full, read-only).
        """
        path = self.path(run)
        try:
            files.write_atomically(path, pack_result(run, arrays, values))
        except OSError as error:
            # Where that is, visitors of a server are not told.
            log.warning("%s cannot be written (%s)", path, error.strerror or error)
            raise BupError(
                f"the result cannot be kept on this disk ({error.strerror or error}): free some "
                "space in the cache folder, or set BUP_CACHE to another"
            ) from error
        self._tidy()
        return path

    def _tidy(self) -> None:
        """Remove what killed writers left and, above the limit, what was unused for longest.

        What was used a moment ago stays: somebody may be looking at it.
        """
        now = time.time()
        if now - _tidied.get(self.root, 0.0) < TIDY:
            return
        _tidied[self.root] = now
        for folder in self.root.glob("*"):
            files.remove_temporary(folder)
        for path in files.trim(self.root.glob("*/result.bup*"), server_limits().store_bytes):
            with contextlib.suppress(OSError):
                path.parent.rmdir()

    def load(self, run: Run) -> Contents | None:
        """The stored result, or None where there is none that can be trusted.

        A damaged, foreign or outdated file is set aside with a warning, so that the run is simply
        computed again.
        """
        path = self.path(run)
        try:
            packed = self._checked(files.read(path), run)
            files.mark_used(path)
            return packed
        except FileNotFoundError:
            return self._shipped(run)
        except OSError as error:
            log.warning("%s cannot be read (%s): the run is computed again", path, error)
            return None
        except DamagedFile as error:
            self.set_aside(run, error)
            return None

    def _shipped(self, run: Run) -> Contents | None:
        """The result that came with the package, as long as it is of this very run."""
        path = SHIPPED / f"{run.key}.bup"
        try:
            return self._checked(files.read(path), run)
        except FileNotFoundError:
            return None
        except (OSError, DamagedFile) as error:
            log.warning("%s is not used: %s", path, error)
            return None

    def ship(self, run: Run) -> None:
        """Put a stored result into the package, in place of what it came with."""
        SHIPPED.mkdir(parents=True, exist_ok=True)
        for before in SHIPPED.iterdir():
            before.unlink()
        shutil.copy(self.path(run), SHIPPED / f"{run.key}.bup")

    def set_aside(self, run: Run, why: DamagedFile) -> None:
        """Put a file that cannot be trusted out of the way."""
        path = self.path(run)
        files.set_aside(path)
        log.warning("%s is set aside: %s; the run is computed again", path, why)

    def has_on_other_content(self, run: Run) -> bool:
        """Whether the same specification was trained when its graph had other content."""
        try:
            return any(
                folder.name.startswith(f"{run.family}-") and folder.name != run.key
                for folder in self.root.iterdir()
            )
        except OSError:
            return False

    def beside(self, run: Run) -> list[Run]:
        """Stored runs that differ from this one in method and settings only.

        Found by what files say of themselves: whether they are sound is seen when they are loaded.
        """
        found: list[Run] = []
        try:
            folders = _folders(self.root, self.root.stat().st_mtime_ns, run.beside)
        except OSError:
            return found
        for folder in folders:
            path = folder / "result.bup"
            with contextlib.suppress(OSError):
                stored = _run_in(path, path.stat().st_mtime_ns)
                if stored is not None and run.is_comparable(stored):
                    found.append(stored)
        return found

    @staticmethod
    def _checked(packed: Contents, run: Run) -> Contents:
        stored, content = unpack_result(packed)
        if stored != run:
            raise DamagedFile("it belongs to another run")
        return content


@lru_cache(maxsize=64)
def _folders(root: Path, stamp: int, pattern: str) -> tuple[Path, ...]:
    return tuple(sorted(root.glob(pattern)))


@lru_cache(maxsize=4096)
def _run_in(path: Path, stamp: int) -> Run | None:
    try:
        head = files.read_header(path)
        return Run.from_dict(head.values.get("run")) if head.values["version"] == VERSION else None
    except (DamagedFile, BupError, KeyError, TypeError):
        return None


def pack_result(run: Run, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> bytes:
    """A result as a file has it: with the run that it is of."""
    envelope = {"version": VERSION, "run": run.as_dict(), "values": dict(values)}
    return files.pack(arrays, envelope)


def unpack_result(packed: Contents) -> tuple[Run, Contents]:
    """The run that a file is of, and its result; raises DamagedFile."""
    envelope = packed.values
    if not isinstance(envelope, dict):
        raise DamagedFile("it is no result")
    if envelope.get("version") != VERSION:
        raise DamagedFile(f"it has version {envelope.get('version')}, not {VERSION}")
    try:
        run = Run.from_dict(envelope.get("run"))
    except BupError as error:
        raise DamagedFile(f"its specification cannot be read ({error})") from error
    if not isinstance(envelope.get("values"), dict):
        raise DamagedFile("it lacks its values")
    return run, Contents(packed.arrays, envelope["values"])
