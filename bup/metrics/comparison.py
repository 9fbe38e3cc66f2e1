"""Whether two methods differ, judged by reruns: intervals, paired tests, and what is left open."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import nct, t

from bup.metrics.bootstrap import Interval

LEVEL = 0.05
POWER = 0.8
MOST_RERUNS = 1000  # beyond that, a comparison counts as undecidable


@dataclass(frozen=True)
class Paired:
    """The mean difference between reruns on the same splits, and Student's test of it."""

    reruns: int
    mean: float
    std: float
    interval: Interval  # of the mean over all possible reruns; NaN for a single one
    p: float  # two-sided; NaN for a single rerun


def paired(differences: Sequence[float] | np.ndarray) -> Paired:
    """Student's paired t test: are these differences zero on average?

    It assumes differences that are roughly normal. Those between two means over some thousand test
    nodes are, as each is a sum of many small parts.
    """
    values = np.asarray(differences, dtype=np.float64)
    n, mean = len(values), float(values.mean())
    if n < 2:
        return Paired(n, mean, np.nan, Interval(np.nan, np.nan), np.nan)
    std = float(values.std(ddof=1))
    error = std / np.sqrt(n)
    half = float(t.ppf(1 - LEVEL / 2, n - 1)) * error
    # Without an error it is the same difference every time.
    p = float(2 * t.sf(abs(mean) / error, n - 1)) if error else float(mean == 0)
    return Paired(n, mean, std, Interval(mean - half, mean + half), p)


def holm(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """p values corrected for their number: the chance of *any* false alarm stays below the level.

    Holm's: the smallest is multiplied by the number of comparisons, the next by one less, and so
    on, none falling below the one before. NaN is no comparison and stays NaN.
    """
    given = np.asarray(p, dtype=np.float64)
    corrected = np.full(given.shape, np.nan)
    order = np.argsort(given)[: int(np.isfinite(given).sum())]
    steps = given[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else steps
    return corrected


def power(effect: float, reruns: int, level: float = LEVEL) -> float:
    """How likely the test finds a true difference of ``effect`` > 0 standard deviations.

    To find it in the wrong direction does not count.
    """
    edge = t.ppf(1 - level / 2, reruns - 1)
    return float(nct.sf(edge, reruns - 1, effect * np.sqrt(reruns)))


def reruns_to_settle(difference: Paired, comparisons: int = 1) -> int | None:
    """How many reruns would find a difference like the one measured, four times out of five.

    At the level that is left to each of several comparisons. None where more than a thousand would
    be needed, or where the spread is unknown.
    """
    if not difference.std > 0:
        return None
    effect, level = abs(difference.mean) / difference.std, LEVEL / max(comparisons, 1)
    reruns = range(2, MOST_RERUNS + 1)
    place = bisect_left(reruns, POWER, key=lambda count: power(effect, count, level))
    return reruns[place] if place < len(reruns) else None
