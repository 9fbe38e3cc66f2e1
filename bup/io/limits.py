"""How much is read of a person's files, and how much visitors may ask of a server.

What visitors may ask for are settings in environment variables. ``BUP_SHARED=1`` chooses stricter
limits for the work of a public server; each can also be set alone: ``BUP_RUN_SECONDS=60``.
"""

import os
from dataclasses import dataclass, fields, replace

from bup.errors import BupError

MEGABYTE = 2**20


@dataclass(frozen=True)
class Limit:
    """A setting: its name, its default and its meaning."""

    name: str
    default: int
    meaning: str

    @property
    def value(self) -> int:
        text = os.environ.get(self.name, "")
        if not text:
            return self.default
        if not (text.isascii() and text.isdecimal() and int(text) > 0):
            raise BupError(f"{self.name} must be a whole number of at least 1, got {text!r}")
        return int(text)

    @property
    def bytes(self) -> int:
        """Of a setting in MB."""
        return self.value * MEGABYTE

    def __str__(self) -> str:
        return f"{self.value:,} ({self.name})"


UPLOAD_MB = Limit("BUP_UPLOAD_MB", 50, "MB of all files that are dropped at once")
UPLOADS_MB = Limit(
    "BUP_UPLOADS_MB", 1000, "MB of dropped files that are in memory, of all visitors together"
)
UNPACKED_MB = Limit("BUP_UNPACKED_MB", 400, "MB that archives among them may unpack to")
NODES = Limit("BUP_OWN_NODES", 200_000, "nodes of a visitor's graph")
LINKS = Limit("BUP_OWN_LINKS", 2_000_000, "links of a visitor's graph")
CELLS = Limit("BUP_OWN_CELLS", 5_000_000, "cells of a table that is dropped")
READ_SECONDS = Limit("BUP_READ_SECONDS", 60, "seconds that reading what is dropped may take")
READ_MB = Limit("BUP_READ_MB", 2000, "MB of memory that reading what is dropped may take")
SPACE_MB = Limit("BUP_OWN_SPACE_MB", 2000, "MB of everything that visitors keep here")
DAYS = Limit("BUP_OWN_DAYS", 7, "days after which an upload that was not opened is deleted")


@dataclass(frozen=True)
class TableLimits:
    """How much of a person's files is read, by default of a folder on this machine."""

    csv_bytes: int = 512 * MEGABYTE
    row_bytes: int = 16 * MEGABYTE
    npz_bytes: int = 2**30  # of the file and, separately, of all that would be unpacked from it
    npz_setting: str = ""  # the setting that raises ``npz_bytes``, in brackets
    nodes: int = 1_000_000
    edges: int = 20_000_000
    features: int = 100_000
    values: int = 100_000_000  # features in memory: of a table all, of a csr matrix those stored
    classes: int = 1_000
    largest: float = 1e6  # the squares and exponentials of larger features may be infinite


def upload_limits() -> TableLimits:
    """The limits of a visitor's upload, as far as they differ from those of a folder."""
    return TableLimits(npz_bytes=UNPACKED_MB.bytes, npz_setting=f" ({UNPACKED_MB.name})")


@dataclass(frozen=True)
class ServerLimits:
    """The defaults are generous, for a personal machine."""

    run_seconds: float = 6 * 3600  # of one run, as estimated
    run_bytes: float = 16e9  # of memory for one run, as estimated
    visitor_seconds: float = 24 * 3600  # of training that one visitor may have waiting
    graph_bytes: float = 1e9  # of a graph that a visitor asks for by name, as estimated
    memory_bytes: float = 4e9  # of the cache that all sessions share
    store_bytes: float = 50e9  # of results on disk
    layout_bytes: float = 1e9  # of maps on disk


SHARED = ServerLimits(
    run_seconds=600,
    run_bytes=3e9,
    visitor_seconds=1800,
    graph_bytes=150e6,
    memory_bytes=300e6,
    store_bytes=10e9,
    layout_bytes=200e6,
)


def is_shared() -> bool:
    """Whether the server is public."""
    return os.environ.get("BUP_SHARED", "0") not in ("", "0")


def server_limits() -> ServerLimits:
    chosen = SHARED if is_shared() else ServerLimits()
    given = {}
    for f in fields(ServerLimits):
        name = f"BUP_{f.name.upper()}"
        if name in os.environ:
            try:
                given[f.name] = float(os.environ[name])
            except ValueError:
                raise BupError(f"{name} must be a number, got {os.environ[name]!r}") from None
    return replace(chosen, **given)
