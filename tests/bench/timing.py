"""Medians of interleaved repeats: noise that comes and goes hits every contender alike."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version


def interleaved(contenders: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median seconds of each contender; every round runs each of them once, after one warm-up."""
    for contender in contenders.values():
        contender()
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, contender in contenders.items():
            start = time.perf_counter()
            contender()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def report(title: str, seconds: Mapping[str, float], peer: str) -> None:
    """One line per contender: milliseconds, and the ratio to the peer of the same run."""
    print(f"{title} (ratio to {peer})")
    width = max(map(len, seconds))
    for name, value in seconds.items():
        print(f"  {name:<{width}}  {1000 * value:10.2f} ms  {value / seconds[peer]:7.3f}x")


def environment() -> str:
    packages = ", ".join(f"{p} {version(p)}" for p in ("torch", "torch-geometric", "numpy"))
    return f"Python {platform.python_version()}, {packages}, {os.cpu_count()} cores"
