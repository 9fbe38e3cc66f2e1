"""Rank correlation with an interval."""

from dataclasses import dataclass

import numpy as np

from bup.errors import BupError
from bup.io.lazy import special
from bup.metrics import checks

MANY = 20_000
"""Pairs that take too long to resample."""


@dataclass(frozen=True)
class Correlation:
    """A correlation, its interval and the number of pairs behind it."""

    value: float
    low: float
    high: float
    count: int


def spearman(
    x: np.ndarray, y: np.ndarray, resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> Correlation:
    """Spearman's rank correlation with a percentile bootstrap interval.

    Pairs with a masked member are left out. Each resample of the pairs is ranked anew, as the
    bootstrap of a rank statistic asks for; keeping the first ranks would treat them as known. It
    needs no sorting: the order of the distinct values is known, so counting them gives the ranks
    in O(n). A resample in which x or y is constant has no correlation and is left out. Of more than
    ``MANY`` pairs the interval is Bonett and Wright's (2000), which by then is the same.
    """
    x, y = checks.pairs(x, y)
    resamples = checks.whole(resamples, "resamples")
    if not 0 < level < 1:
        raise BupError(f"level must be between 0 and 1, such as 0.95, got {level}")
    x_group, y_group = (np.unique(values, return_inverse=True)[1] for values in (x, y))
    if len(x) > MANY:
        return _with_normal_interval(_rank_correlation(x_group, y_group), len(x), level)
    # RandomState: NumPy promises that its stream never changes, so an interval stays what it was.
    random = np.random.RandomState(seed)
    drawn = np.empty(resamples)
    for i in range(resamples):
        pick = random.randint(len(x), size=len(x), dtype=np.int64)
        drawn[i] = _rank_correlation(x_group[pick], y_group[pick])
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) == 0:
        raise BupError(
            f"x or y was constant in all of {resamples} resamples of {len(x)} pairs: "
            "ask for more resamples or give more pairs"
        )
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Correlation(_rank_correlation(x_group, y_group), float(low), float(high), len(x))


def _with_normal_interval(value: float, count: int, level: float) -> Correlation:
    """On the scale of Fisher's z, with standard error sqrt((1 + value^2 / 2) / (count - 3))."""
    if np.isnan(value):
        raise BupError(f"x or y is constant over all of {count} pairs: they have no correlation")
    far = special.ndtri((1 + level) / 2) * np.sqrt((1 + value**2 / 2) / (count - 3))
    middle = np.arctanh(np.clip(value, -1 + 1e-15, 1 - 1e-15))
    low, high = np.tanh([middle - far, middle + far])
    return Correlation(value, float(low), float(high), count)


def _rank_correlation(x_group: np.ndarray, y_group: np.ndarray) -> float:
    """Pearson's correlation of the ranks; NaN where one side is constant."""
    x, y = _centred_ranks(x_group), _centred_ranks(y_group)
    scale = np.sqrt((x @ x) * (y @ y))
    return float(np.clip(x @ y / scale, -1, 1)) if scale > 0 else np.nan


def _centred_ranks(group: np.ndarray) -> np.ndarray:
    """Mid-ranks minus their mean (n + 1) / 2, of values numbered in their order."""
    count = np.bincount(group)
    rank = np.cumsum(count) - (count - 1) / 2
    return rank[group] - (len(group) + 1) / 2
