"""Points that fill the unit cube evenly."""

from functools import lru_cache

import torch
from torch import Tensor


@lru_cache(maxsize=16)
def sobol_points(points: int, dimensions: int, seed: int) -> Tensor:
    """Scrambled Sobol points [points, dimensions] strictly inside (0, 1)."""
    engine = torch.quasirandom.SobolEngine(max(dimensions, 1), scramble=True, seed=seed)
    # the engine's points are multiples of 2^-30 and include 0: take the middle of each cell
    return engine.draw(points, dtype=torch.float64) + 2.0**-31
