"""The limit of connections and files that a process may have open."""

import contextlib
import os

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

MAX_OPEN_FILES = 65536
"""Enough for 16,000 visitors, who take four each."""
RESERVED = 64
"""Kept free for visitors who are here already, and for the files that their pages open."""
SERVER_FULL = "This server has as many visitors as it can take: please try again in a few minutes."


def raise_limit() -> None:
    """Raise it to what the system allows this user; often it starts at 1,024."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def nearly_exhausted() -> bool:
    """Whether a new visitor would take what the others need."""
    if resource is None:
        return False
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        lowest = os.open(os.devnull, os.O_RDONLY)  # the lowest free number
    except OSError:
        return True
    os.close(lowest)
    return limit != resource.RLIM_INFINITY and lowest > limit - RESERVED
