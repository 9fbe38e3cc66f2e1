"""Results on disk: found by their run, written whole, never trusted unchecked."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bup import files
from bup.errors import BupError
from bup.files import DamagedFile, Packed
from bup.spec import Run

VERSION = 3
"""Raise it when the meaning of a stored result changes: older files are then set aside."""

log = logging.getLogger(__name__)


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
        envelope = {"version": VERSION, "run": run.as_dict(), "values": dict(values)}
        path = self.path(run)
        try:
            files.write_atomically(path, files.pack(arrays, envelope))
        except OSError as error:
            raise BupError(
                f"the result cannot be kept in {path.parent} ({error.strerror or error}): free "
                "some space there, or set BUP_CACHE to another folder"
            ) from error
        return path

    def load(self, run: Run) -> Packed | None:
        """The stored result, or None where there is none that can be trusted.

        A damaged, foreign or outdated file is set aside with a warning, so that the run is simply
        computed again.
        """
        path = self.path(run)
        try:
            return self._checked(files.read_packed(path), run)
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("%s cannot be read (%s): the run is computed again", path, error)
            return None
        except DamagedFile as error:
            files.set_aside(path)
            log.warning("%s is set aside: %s; the run is computed again", path, error)
            return None

    def has_on_another_graph(self, run: Run) -> bool:
        """Whether the same specification was trained when its graph had other content."""
        try:
            return any(
                folder.name.startswith(f"{run.family}-") and folder.name != run.key
                for folder in self.root.iterdir()
            )
        except OSError:
            return False

    @staticmethod
    def _checked(packed: Packed, run: Run) -> Packed:
        envelope = packed.values
        if envelope.get("version") != VERSION:
            raise DamagedFile(f"it has version {envelope.get('version')}, not {VERSION}")
        try:
            stored = Run.from_dict(envelope.get("run"))
        except BupError as error:
            raise DamagedFile(f"its specification cannot be read ({error})") from error
        if stored != run:
            raise DamagedFile("it belongs to another run")
        return Packed(packed.arrays, envelope["values"])
