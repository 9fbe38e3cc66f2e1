"""A cache of computed values that all browser sessions share, bounded in bytes.

A page that uses a value keeps it: a value that leaves the cache is only computed again next time.
"""

import functools
import hashlib
import pickle
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from itertools import islice
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd

from bup.graph import Graph
from bup.io.limits import server_limits

P = ParamSpec("P")
T = TypeVar("T")

SAMPLE = 100  # elements of a long list that are looked at to guess its size
AGAIN = 4  # values that are measured again whenever one is added


class SharedCache:
    """Values by key; above the limit, the least recently used ones go first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, Any] = OrderedDict()  # the last used one comes last
        self._sizes: OrderedDict[Hashable, int] = OrderedDict()  # the last measured one comes last
        self._total = 0
        self._key_locks: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of a key, computed once however many threads want it at the same time."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            key_lock = self._key_locks.setdefault(key, threading.Lock())
        try:
            with key_lock:
                with self._lock:
                    if key in self._values:
                        return self._values[key]
                value = compute()
                self._add(key, value)
                return value
        finally:
            with self._lock:
                self._key_locks.pop(key, None)

    def _add(self, key: Hashable, value: Any) -> None:
        with self._lock:
            self._values[key] = value
            # Values such as a LoadedRun grow later: some are measured again each time.
            for measured in [key, *islice(self._sizes, AGAIN)]:
                size = size_of(self._values[measured])
                self._total += size - self._sizes.pop(measured, 0)
                self._sizes[measured] = size
            most = server_limits().memory_bytes
            while self._total > most and len(self._values) > 1:
                oldest, _ = self._values.popitem(last=False)
                self._total -= self._sizes.pop(oldest)


SHARED_CACHE = SharedCache()


def cached(by: Callable[P, Hashable]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function so that its values are cached; ``by`` makes the key of its arguments."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
            key = (function.__module__, function.__qualname__, by(*args, **kwargs))
            return SHARED_CACHE.get(key, lambda: function(*args, **kwargs))

        return wrapper

    return decorate


def cached_call(function: Callable[..., T], *args: Any) -> T:
    """Call a function, cached by the content of its arguments."""
    content = hashlib.sha256(pickle.dumps(args, protocol=5)).digest()
    key = (function.__module__, function.__qualname__, content)
    return SHARED_CACHE.get(key, lambda: function(*args))


def size_of(value: Any) -> int:
    """Bytes, roughly. A graph inside another value counts nothing: it is cached by itself."""
    if isinstance(value, Graph):
        return _sizes(vars(value))
    return _size(value)


def _sizes(parts: Mapping[Any, Any]) -> int:
    """Counts a copy, because other threads may add to the parts meanwhile."""
    return sum(map(_size, dict(parts).values()))


def _size(value: Any) -> int:
    if isinstance(value, Graph):
        return 0
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, pd.DataFrame):
        texts = sum(kind.kind == "O" for kind in value.dtypes)
        return int(value.memory_usage().sum()) + 60 * texts * len(value)
    if hasattr(value, "element_size"):  # a tensor
        return value.element_size() * value.nelement()
    if isinstance(value, Mapping):
        return _sizes(value)
    if isinstance(value, list | tuple):
        sample = value[:SAMPLE]
        return int(sum(map(_size, sample)) * len(value) / max(1, len(sample)))
    if hasattr(value, "__dict__") and not callable(value):
        return _sizes(vars(value))
    return sys.getsizeof(value)
