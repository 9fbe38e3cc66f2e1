"""Results on disk: found by specification, written whole, never trusted unchecked."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bup import files
from bup.errors import BupError
from bup.files import DamagedFile, Packed
from bup.spec import Spec

VERSION = 2
"""Raise it when the meaning of a stored result changes: older files are then set aside."""

log = logging.getLogger(__name__)


class Store:
    """One folder per run under ``root``; by default ``runs`` in the cache folder."""

    def __init__(self, root: Path | str | None = None) -> None:
        self.root = Path(root) if root is not None else files.cache_folder() / "runs"

    def path(self, spec: Spec) -> Path:
        return self.root / spec.key / "result.bup"

    def save(
        self,
        spec: Spec,
        arrays: Mapping[str, np.ndarray],
        values: Mapping[str, Any],
        graph_digest: str,
    ) -> Path:
        """Write a result; two processes saving the same run both succeed.

        Raises BupError where the folder cannot be written (full, read-only).
        """
        envelope = {
            "version": VERSION,
            "spec": spec.as_dict(),
            "graph_digest": graph_digest,
            "values": dict(values),
        }
        path = self.path(spec)
        try:
            files.write_atomically(path, files.pack(arrays, envelope))
        except OSError as error:
            raise BupError(
                f"the result cannot be kept in {path.parent} ({error.strerror or error}): free "
                "some space there, or set BUP_CACHE to another folder"
            ) from error
        return path

    def load(self, spec: Spec, graph_digest: str | None = None) -> Packed | None:
        """The stored result, or None where there is none that can be trusted.

        A damaged, foreign or outdated file, or one trained on a graph of other content than
        ``graph_digest``, is set aside with a warning, so that the run is simply computed again.
        """
        path = self.path(spec)
        try:
            return Packed(*self._checked(files.read_packed(path), spec, graph_digest))
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("%s cannot be read (%s): the run is computed again", path, error)
            return None
        except DamagedFile as error:
            files.set_aside(path)
            log.warning("%s is set aside: %s; the run is computed again", path, error)
            return None

    def specs(self) -> Iterator[Spec]:
        """The runs that have a sound result, in no particular order; others are passed over."""
        for path in sorted(self.root.glob("*/result.bup")):
            with contextlib.suppress(OSError, DamagedFile, BupError):
                spec = Spec.from_dict(files.read_packed(path).values.get("spec"))
                if self.path(spec) == path:
                    yield spec

    @staticmethod
    def _checked(packed: Packed, spec: Spec, graph_digest: str | None) -> Packed:
        envelope = packed.values
        if envelope.get("version") != VERSION:
            raise DamagedFile(f"it has version {envelope.get('version')}, not {VERSION}")
        try:
            stored = Spec.from_dict(envelope.get("spec"))
        except BupError as error:
            raise DamagedFile(f"its specification cannot be read ({error})") from error
        if stored != spec:
            raise DamagedFile("it belongs to another run")
        if graph_digest is not None and envelope.get("graph_digest") != graph_digest:
            raise DamagedFile("the graph has changed since it was trained")
        return Packed(packed.arrays, envelope["values"])
