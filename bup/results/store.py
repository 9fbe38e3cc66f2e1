"""Results on disk: one file per run, written atomically and checked whenever it is read."""

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
from bup.io import files, run_folders
from bup.io.limits import server_limits
from bup.io.run_folders import RESULT
from bup.run.spec import Run, Spec

VERSION = 3
"""Increase it when the meaning of a stored result changes: older files are then set aside."""

SHIPPED = Path(bup.__file__).parent / "shipped" / "runs"
"""Results that come with the package: the app's first page needs no training."""

TIDY = 60  # seconds between two checks of how much is stored

log = logging.getLogger(__name__)
_tidied: dict[Path, float] = {}


class Store:
    """Results on disk, one folder per run.

    ``bup.fit(..., store=Store(root))`` reads and writes results; the methods here take the ``Run``
    of a result and its arrays.

    Parameters
    ----------
    root : Path or str, default None
        The folder that holds those of the runs. None: ``runs`` in the cache folder, which the app
        and the commands use; the environment variable ``BUP_CACHE`` moves it.

    Examples
    --------
    >>> import bup, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = bup.Store(folder)
    ...     options = {"per_class": 5, "epochs": 3, "store": store}
    ...     one = bup.fit("synthetic:nodes=60,classes=2,words=20", **options)
    ...     again = bup.fit("synthetic:nodes=60,classes=2,words=20", **options)  # read, not trained
    >>> again.seconds == one.seconds
    True
    """

    def __init__(self, root: Path | str | None = None) -> None:
        self.root = Path(root) if root is not None else run_folders.default_root()

    def path(self, run: Run) -> Path:
        """The file of a run, whether it exists or not."""
        return self.root / run.key / RESULT

    def find_spec(self, key: str) -> Spec | None:
        """What the run in this folder is, or None; raises BupError if its file cannot be read."""
        path = self.root / key / RESULT
        if key != path.parent.name or not path.is_file():
            return None
        try:
            return Run.from_dict(files.read(path).values.get("run")).spec
        except (OSError, files.DamagedFile, AttributeError) as error:
            raise BupError(f"{path} cannot be read ({error}): train the run again") from error

    def save(self, run: Run, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> Path:
        """Write a result, or raise BupError; two processes that save one run both succeed."""
        path = self.path(run)
        try:
            files.write_atomically(path, pack_result(run, arrays, values))
        except OSError as error:
            # The log names the folder; the message is also shown to visitors of a server.
            log.warning("%s cannot be written (%s)", path, error.strerror or error)
            raise BupError(
                f"the result cannot be kept on this disk ({error.strerror or error}): free some "
                "space in the cache folder, or set BUP_CACHE to another"
            ) from error
        self._tidy()
        return path

    def _tidy(self) -> None:
        """Remove temporary files of killed writers and, above the limit, the oldest results."""
        now = time.time()
        if now - _tidied.get(self.root, 0.0) < TIDY:
            return
        _tidied[self.root] = now
        for folder in self.root.glob("*"):
            files.remove_temporary(folder)
        for path in files.trim(self.root.glob(f"*/{RESULT}*"), server_limits().store_bytes):
            with contextlib.suppress(OSError):
                path.parent.rmdir()

    def load(self, run: Run) -> files.Contents | None:
        """The stored result, or None; a damaged, foreign or outdated file is set aside."""
        path = self.path(run)
        try:
            _, contents = unpack_result(files.read(path), run)
            files.mark_used(path)
            return contents
        except FileNotFoundError:
            return self._shipped(run)
        except OSError as error:
            log.warning("%s cannot be read (%s): the run is computed again", path, error)
        except files.DamagedFile as error:
            self.set_aside(run, error)
        return None

    def _shipped(self, run: Run) -> files.Contents | None:
        """The result that came with the package, if it is of this run."""
        path = SHIPPED / f"{run.key}.bup"
        try:
            return unpack_result(files.read(path), run)[1]
        except FileNotFoundError:
            return None
        except (OSError, files.DamagedFile) as error:
            log.warning("%s is not used: %s", path, error)
            return None

    def ship(self, run: Run) -> None:
        """Put a stored result into the package, in place of the one that it came with."""
        SHIPPED.mkdir(parents=True, exist_ok=True)
        for before in SHIPPED.iterdir():
            before.unlink()
        shutil.copy(self.path(run), SHIPPED / f"{run.key}.bup")

    def set_aside(self, run: Run, why: files.DamagedFile) -> None:
        """Rename a file that is not valid, so that it is not read again."""
        path = self.path(run)
        files.set_aside(path)
        log.warning("%s is set aside: %s; the run is computed again", path, why)

    def has_on_other_content(self, run: Run) -> bool:
        """Whether the same specification was trained when its graph had other content."""
        return any(folder.name != run.key for folder in self.root.glob(f"{run.family}-*"))

    def find_comparable(self, run: Run) -> list[Run]:
        """Stored runs that differ from this one in method and settings only.

        Only the heads of the files are read; loading a result checks the rest.
        """
        runs: list[Run] = []
        try:
            folders = _folders(self.root, self.root.stat().st_mtime_ns, run.comparable_pattern)
        except OSError:
            return runs
        for folder in folders:
            path = folder / RESULT
            with contextlib.suppress(OSError):
                stored = _read_run(path, path.stat().st_mtime_ns)
                if stored is not None and run.is_comparable(stored):
                    runs.append(stored)
        return runs


@lru_cache(maxsize=64)
def _folders(root: Path, stamp: int, pattern: str) -> tuple[Path, ...]:
    return tuple(sorted(root.glob(pattern)))


@lru_cache(maxsize=4096)
def _read_run(path: Path, stamp: int) -> Run | None:
    try:
        _, values = files.read_header(path)
        return Run.from_dict(values.get("run")) if values["version"] == VERSION else None
    except (files.DamagedFile, BupError, KeyError, TypeError):
        return None


def pack_result(run: Run, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> bytes:
    """A result as a file holds it, together with its run."""
    envelope = {"version": VERSION, "run": run.as_dict(), "values": dict(values)}
    return files.pack(arrays, envelope)


def unpack_result(
    packed: files.Contents, expected: Run | None = None
) -> tuple[Run, files.Contents]:
    """The run and the result that a file holds; raises DamagedFile, also for another run."""
    envelope = packed.values
    if not isinstance(envelope, dict):
        raise files.DamagedFile("it is no result")
    if envelope.get("version") != VERSION:
        raise files.DamagedFile(f"it has version {envelope.get('version')}, not {VERSION}")
    try:
        run = Run.from_dict(envelope.get("run"))
    except BupError as error:
        raise files.DamagedFile(f"its specification cannot be read ({error})") from error
    if not isinstance(envelope.get("values"), dict):
        raise files.DamagedFile("it lacks its values")
    if expected not in (None, run):
        raise files.DamagedFile("it belongs to another run")
    return run, files.Contents(packed.arrays, envelope["values"])
