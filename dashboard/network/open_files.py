"""How many connections and files a process may have open, and whether any are left."""

from __future__ import annotations

import contextlib
import os

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

MAX_OPEN_FILES = 65536
"""As many as anybody needs: a visitor takes four."""
RESERVED = 64
"""Kept for those who are here already, and for what they open."""
SERVER_FULL = "This server has as many visitors as it can take: please try again in a few minutes."


def raise_limit() -> None:
    """Have as many as the system lets this user have; often it starts with 1,024."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def nearly_exhausted() -> bool:
    """Whether a newcomer would take what those who are here need."""
    if resource is None:
        return False
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        lowest = os.open(os.devnull, os.O_RDONLY)  # the system gives the lowest number that is free
    except OSError:
        return True
    os.close(lowest)
    return limit != resource.RLIM_INFINITY and lowest > limit - RESERVED
