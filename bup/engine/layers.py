"""Parts of layers for several seeds side by side: a slice of weights per seed.

A seed's numbers do not depend on its company, down to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bup.io.lazy import Tensor, functional, torch


def uniform(generators: Sequence[torch.Generator], limit: float, *shape: int) -> Tensor:
    """Initial weights [seeds, *shape] between -limit and limit, each seed from its generator."""
    draws = [torch.rand(shape, generator=generator) for generator in generators]
    return (2 * torch.stack(draws) - 1) * limit


def glorot(generators: Sequence[torch.Generator], rows: int, columns: int) -> Tensor:
    """Uniform initial weights [seeds, rows, columns] for a layer of this size."""
    return uniform(generators, (6 / (rows + columns)) ** 0.5, rows, columns)


class Dropout(NamedTuple):
    """The entries that stay, and the factor that compensates for the others."""

    mask: np.ndarray  # [entries] bool
    factor: float

    @classmethod
    def draw(
        cls, rate: float, counts: Sequence[int], generators: Sequence[torch.Generator]
    ) -> Dropout:
        """For ``counts[s]`` entries of each seed s, one seed after the other.

        Random bytes against a threshold, several times cheaper than Bernoulli variables; the rate
        is therefore rounded to 1/256.
        """
        threshold = round(256 * (1 - rate))
        parts = []
        for count, generator in zip(counts, generators, strict=True):
            eights = torch.empty((count + 7) // 8, dtype=torch.int64)
            eights.random_(-(2**63), None, generator=generator)
            parts.append(eights.numpy().view(np.uint8)[:count])
        return cls(np.concatenate(parts) < threshold, 256 / threshold)


def dropout_factors(
    rate: float, counts: Sequence[int], generators: Sequence[torch.Generator]
) -> Tensor:
    """Factors of 0 or 1/keep for ``counts[s]`` entries of each seed s, one seed after the other."""
    mask, factor = Dropout.draw(rate, counts, generators)
    return torch.from_numpy(np.multiply(mask, np.float32(factor)))


def per_seed_product(rows: Tensor, counts: Sequence[int], weights: Tensor) -> Tensor:
    """Rows of seed s times ``weights[s]``, stacked again.

    One plain product per seed, so that a seed's rounding does not depend on its company. Weights
    are turned around first: products with a narrow matrix are several times faster that way.
    """
    parts = zip(rows.split(list(counts)), weights.transpose(1, 2).contiguous(), strict=True)
    return torch.cat([functional.linear(part, turned) for part, turned in parts])


def per_seed_rows(values: Tensor, counts: Sequence[int]) -> Tensor:
    """Row s of ``values`` repeated for each of seed s's ``counts[s]`` rows."""
    if len(counts) == 1:
        return values
    return torch.cat([row.expand(count, -1) for row, count in zip(values, counts, strict=True)])
