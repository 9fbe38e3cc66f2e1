"""Parcels: arrays in few bytes, as the browser gets them."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

NONE = 65535
"""The step of a value that is none."""


@dataclass(frozen=True)
class Parcel:
    """Bytes, and the digest that identifies them."""

    digest: str
    content: bytes


def pack(header: dict[str, Any], **arrays: np.ndarray) -> Parcel:
    """Digest, length of the header, header as JSON, then the arrays: parcels.js opens it."""
    kinds = [
        (name, array.dtype.newbyteorder("<").str[1:], array.size) for name, array in arrays.items()
    ]
    head = json.dumps(header | {"arrays": kinds}).encode()
    body = b"".join(
        [
            np.uint32(len(head)).astype("<u4").tobytes(),
            head,
            *(array.astype(array.dtype.newbyteorder("<")).tobytes() for array in arrays.values()),
        ]
    )
    digest = hashlib.sha256(body).hexdigest()[:16]
    return Parcel(digest, digest.encode() + body)


def delta_varint(numbers: np.ndarray) -> np.ndarray:
    """Ascending whole numbers as bytes: the difference of each from the one before, seven bits
    a byte, lowest first; the last byte of each is below 128."""
    gaps = np.diff(numbers.astype(np.int64), prepend=0)
    bits = np.frexp(np.maximum(gaps, 1).astype(float))[1]
    sizes = (bits + 6) // 7
    ends = np.cumsum(sizes)
    out = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    for k in range(int(sizes.max(initial=0))):
        has = sizes > k
        more = np.where(sizes[has] > k + 1, 128, 0)
        out[(ends - sizes)[has] + k] = ((gaps[has] >> (7 * k)) & 127) | more
    return out


def quantise(values: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Values as 16-bit steps [n], NONE where there is none; and [first value, size of a step]."""
    values = np.asarray(values, dtype=np.float64)  # a step may be smaller than 32 bits can hold
    finite = np.isfinite(values)
    low, high = (values[finite].min(), values[finite].max()) if finite.any() else (0.0, 0.0)
    step = float(high - low) / 65534 or 1.0
    steps = np.where(finite, np.round((np.where(finite, values, low) - low) / step), NONE)
    return steps.astype(np.uint16), [float(low), step]
