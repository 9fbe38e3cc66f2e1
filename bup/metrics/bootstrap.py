"""Where a metric might have fallen had other test nodes been drawn."""

from dataclasses import dataclass

import numpy as np

from bup.metrics.calibration import reliability_bins
from bup.metrics.nodes import confidence, hits
from bup.metrics.overview import METRICS
from bup.metrics.proper import brier_scores, log_losses


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


def bootstrap_intervals(
    probs: np.ndarray,
    labels: np.ndarray,
    bins: int = 10,
    resamples: int = 200,
    seed: int = 0,
    level: float = 0.95,
) -> dict[str, Interval]:
    """Intervals of accuracy, ECE, NLL and Brier score from resampled test nodes.

    A metric of a resample is a weighted sum over nodes (for ECE, one sum per bin, which do not move
    in a resample), so one matrix product gives all of them. Resampling adds noise to every bin, so
    a resampled ECE is too large on average: every interval is moved so that the median of the
    resamples falls on the value measured. The same seed draws the same nodes for every run.
    """
    reliability = reliability_bins(probs, labels, bins)
    hit = hits(probs, labels)
    gaps = (hit - confidence(probs))[:, None] * (reliability.member[:, None] == np.arange(bins))
    per_node = np.column_stack([hit, log_losses(probs, labels), brier_scores(probs, labels), gaps])

    n = len(labels)
    # RandomState: NumPy promises that its stream never changes, so an interval stays what it was.
    random = np.random.RandomState(seed)
    times = np.empty((resamples, n))
    for row in times:
        row[:] = np.bincount(random.randint(n, size=n), minlength=n)

    def of(weights: np.ndarray) -> dict[str, np.ndarray]:
        accuracy, nll, brier, *gaps = (weights @ per_node / n).T
        ece = np.abs(gaps).sum(axis=0)
        return {"accuracy": accuracy, "ece": ece, "nll": nll, "brier": brier}

    value = of(np.ones((1, n)))
    intervals = {}
    for key, draws in of(times).items():
        low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2]) - np.median(draws)
        highest = 1.0 if METRICS[key].percent else np.inf
        low, high = np.clip(value[key] + [low, high], 0.0, highest)
        intervals[key] = Interval(float(low), float(high))
    return intervals
