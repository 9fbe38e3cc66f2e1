"""How much of a stranger's files is taken in."""

from __future__ import annotations

MAX_CSV_BYTES = 512 * 2**20
MAX_ROW_BYTES = 16 * 2**20
MAX_NPZ_BYTES = 2**30
"""Limit of features.npz on disk and, separately, of all that would be unpacked from it."""
MAX_NODES = 1_000_000
MAX_EDGES = 20_000_000
MAX_FEATURES = 100_000
MAX_CELLS = 100_000_000
"""Limit of the feature values that are kept: all of a table, or the stored ones of a csr matrix."""
MAX_CLASSES = 1_000
MAX_VALUE = 1e6
"""Larger features are finite, but their squares and exponentials soon are not."""
