"""How much visitors may ask of a server, by environment variables.

``BUP_SHARED=1`` chooses stricter limits, for a public server. Each limit can also be set alone:
``BUP_RUN_SECONDS=60`` and so on.
"""

import os
from dataclasses import dataclass, fields, replace

from bup.errors import BupError


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
