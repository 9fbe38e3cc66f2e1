"""What is worked out once and shared by every browser, bounded in bytes.

What a page holds is never taken from it: letting go of a value here only means that whoever asks
next works it out again.
"""

from __future__ import annotations

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
from bup.io.server_limits import server_limits

P = ParamSpec("P")
T = TypeVar("T")

SAMPLE = 100  # elements of a long list that are looked at to guess its size
AGAIN = 4  # values that are measured again whenever one is added


class SharedCache:
    """Values by key; when they outgrow the limit, those go first that nobody asked for longest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, Any] = OrderedDict()  # the one used last comes last
        self._sizes: OrderedDict[Hashable, int] = OrderedDict()  # the one measured last comes last
        self._total = 0
        self._making: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, made once however many ask for it at the same time."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            making = self._making.setdefault(key, threading.Lock())
        try:
            with making:
                with self._lock:
                    if key in self._values:
                        return self._values[key]
                value = make()
                self._keep(key, value)
                return value
        finally:
            with self._lock:
                self._making.pop(key, None)

    def _keep(self, key: Hashable, value: Any) -> None:
        with self._lock:
            self._values[key] = value
            # What is known of a run grows after it came here: each is measured again in its turn.
            for one in [key, *islice(self._sizes, AGAIN)]:
                self._measure(one)
            most = server_limits().memory_bytes
            while self._total > most and len(self._values) > 1:
                oldest, _ = self._values.popitem(last=False)
                self._total -= self._sizes.pop(oldest)

    def _measure(self, key: Hashable) -> None:
        size = size_of(self._values[key])
        self._total += size - self._sizes.pop(key, 0)
        self._sizes[key] = size


SHARED_CACHE = SharedCache()


def cached(by: Callable[P, Hashable]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function whose values are kept, one for each value of ``by`` on its arguments."""

    def keeping(make: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(make)
        def found(*args: P.args, **kwargs: P.kwargs) -> T:
            key = (make.__module__, make.__qualname__, by(*args, **kwargs))
            return SHARED_CACHE.get(key, lambda: make(*args, **kwargs))

        return found

    return keeping


def cached_call(make: Callable[..., T], *of: Any) -> T:
    """What a function makes of these, worked out once for all who ask for the same."""
    content = hashlib.sha256(pickle.dumps(of, protocol=5)).digest()
    return SHARED_CACHE.get((make.__module__, make.__qualname__, content), lambda: make(*of))


def size_of(value: Any) -> int:
    """Bytes, roughly. A graph inside of something else is kept, and counted, on its own."""
    if isinstance(value, Graph):
        return _sizes(vars(value))
    return _size(value)


def _sizes(parts: Mapping[Any, Any]) -> int:
    """Of a copy, taken in one step: other threads may add to the parts meanwhile."""
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
        looked_at = value[:SAMPLE]
        return int(sum(map(_size, looked_at)) * len(value) / max(1, len(looked_at)))
    if hasattr(value, "__dict__") and not callable(value):
        return _sizes(vars(value))
    return sys.getsizeof(value)
