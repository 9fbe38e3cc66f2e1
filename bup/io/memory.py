"""Limits of memory, and what the C library does with memory that is freed."""

import contextlib
import ctypes
import os
import re
from functools import cache
from pathlib import Path

_TRIM_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -4, -8  # names of malloc.h


def limit_memory(most: int) -> None:
    """Let this process fail, or be killed by the system, rather than the processes it works for.

    The limit is on data, not on address space, of which libraries reserve far more than they use.
    Where the platform has no such limit, nothing happens.
    """
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", "utf-8")


def memory_peak() -> int:
    """The largest memory of this process so far in bytes; 0 where the platform does not tell."""
    # Not by getrusage, which begins with the peak of the process that started this one.
    with contextlib.suppress(OSError):
        match = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
        return int(match[1]) * 1024 if match else 0
    return 0


@cache
def keep_freed_memory() -> None:
    """For training: reuse memory instead of giving it back to the system.

    Every epoch allocates the same large arrays; fresh pages for them cost a fifth of the time.
    """
    _set(_TRIM_THRESHOLD, 2**31 - 1)
    _set(_MMAP_MAX, 0)


@cache
def share_freed_memory() -> None:
    """For a server: let all threads share the memory that one of them frees.

    Otherwise the threads, a new one per session, free memory into up to eight pools per core, and a
    server grows for hours although it needs no more than at the start.
    """
    _set(_ARENA_MAX, 2)


def _set(option: int, value: int) -> None:
    """Set an option of glibc; with other C libraries nothing happens."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:
        mallopt(option, value)


MEMORY_SHARE = 0.75  # of the machine's memory, for one training process


def limit_resources() -> None:
    """Let a run that is too large fail, not the process that started it."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        limit_memory(int(MEMORY_SHARE * memory))
