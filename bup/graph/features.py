"""Features as graphs store them: a sparse matrix where most values are zero."""

from __future__ import annotations

import math

import numpy as np

from bup.io.lazy import sparse

SPARSE_BELOW = 0.3
"""Features with a smaller share of nonzero values become a sparse matrix."""


def compact(features: sparse.csr_array | np.ndarray) -> sparse.csr_array | np.ndarray:
    cells = math.prod(features.shape)
    if isinstance(features, np.ndarray):
        few = np.count_nonzero(features) < SPARSE_BELOW * cells
        return sparse.csr_array(features) if few else features
    return features if features.nnz < SPARSE_BELOW * cells else features.toarray()
