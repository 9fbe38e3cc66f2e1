"""How far confidence is from accuracy."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bup.errors import BupError
from bup.io.lazy import special
from bup.metrics import checks
from bup.metrics.nodes import confidence, hits

Scheme = Literal["width", "mass"]


@dataclass(frozen=True, eq=False)
class ReliabilityBins:
    """Confidence against accuracy, bin by bin; means and interval are NaN where a bin is empty.

    Bin b holds the confidences in [edges[b], edges[b + 1]); the last one holds 1 as well.
    """

    edges: np.ndarray  # [b + 1]
    count: np.ndarray  # [b]
    confidence: np.ndarray  # [b] mean
    accuracy: np.ndarray  # [b]
    low: np.ndarray  # [b] 95 % Wilson interval of the accuracy
    high: np.ndarray  # [b]
    member: np.ndarray  # [n] the bin of each node

    @property
    def gap(self) -> np.ndarray:
        """Accuracy minus confidence [b]: above 0 is under-confident."""
        return self.accuracy - self.confidence

    @property
    def expected_error(self) -> float:
        """The mean absolute gap over nodes."""
        return float(np.nansum(self.count * np.abs(self.gap)) / self.count.sum())

    @property
    def average_error(self) -> float:
        """The mean absolute gap over bins that are not empty."""
        return float(np.nanmean(np.abs(self.gap)))


def reliability_bins(
    probs: np.ndarray, labels: np.ndarray, bins: int = 10, scheme: Scheme = "width"
) -> ReliabilityBins:
    """The confidence in the predicted class against how often it is right.

    ``width`` cuts [0, 1] into equal parts; ``mass`` cuts at the quantiles of the confidence, which
    leaves equally many nodes in each bin, except that equal confidences always share a bin.
    """
    return _binned(confidence(probs), hits(probs, labels), bins, scheme)


def expected_calibration_error(probs: np.ndarray, labels: np.ndarray, bins: int = 10) -> float:
    """ECE: sum_b (n_b / n) |accuracy_b - confidence_b| over bins of equal width."""
    return reliability_bins(probs, labels, bins).expected_error


def average_calibration_error(probs: np.ndarray, labels: np.ndarray, bins: int = 10) -> float:
    """ACE (Neumann et al. 2018): the unweighted mean of |accuracy_b - confidence_b|.

    The mean runs over the bins of equal width that are not empty.
    """
    return reliability_bins(probs, labels, bins).average_error


def adaptive_calibration_error(probs: np.ndarray, labels: np.ndarray, bins: int = 10) -> float:
    """The adaptive error of Nixon et al. (2019), often called ACE as well.

    For each class, all its probabilities fall into bins of equal mass; the result is the mean of
    |mean probability - frequency| over the bins of a class, then over classes.
    """
    return float(np.mean([b.average_error for b in _class_bins(probs, labels, bins, "mass")]))


def classwise_calibration_error(probs: np.ndarray, labels: np.ndarray, bins: int = 10) -> float:
    """The mean over classes of the ECE of that class's probability, bins of equal width."""
    return float(np.mean([b.expected_error for b in _class_bins(probs, labels, bins, "width")]))


def grouped_calibration_error(
    probs: np.ndarray, labels: np.ndarray, values: np.ndarray, groups: int = 10
) -> float:
    """The ECE over groups of nodes of similar ``values``, such as degrees, in place of confidence.

    Nodes are put in order and cut into groups of equal size; those of equal value stay in the order
    in which they are given. Confidence that is too high here and too low there cancels in a group.
    """
    probs, labels = checks.predictions(probs, labels)
    gaps = (hits(probs, labels) - confidence(probs))[np.argsort(values, kind="stable")]
    return float(sum(abs(part.sum()) for part in np.array_split(gaps, groups)) / len(gaps))


def _class_bins(
    probs: np.ndarray, labels: np.ndarray, bins: int, scheme: Scheme
) -> list[ReliabilityBins]:
    probs, labels = checks.predictions(probs, labels)
    return [_binned(column, labels == c, bins, scheme) for c, column in enumerate(probs.T)]


def _binned(
    probability: np.ndarray, occurred: np.ndarray, bins: int, scheme: Scheme
) -> ReliabilityBins:
    bins = checks.whole(bins, "bins")
    edges = np.linspace(0, 1, bins + 1)
    if scheme == "mass":
        edges[1:-1] = np.quantile(probability, edges[1:-1])
    elif scheme != "width":
        raise BupError(f"scheme must be 'width' or 'mass', got {scheme!r}")
    member = np.searchsorted(edges[1:-1], probability, side="right")
    count = np.bincount(member, minlength=bins)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(member, probability, bins) / count
        rate = np.bincount(member, occurred, bins) / count
    low, high = _wilson(rate, count)
    return ReliabilityBins(edges, count, mean, rate, low, high, member)


def _wilson(rate: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The 95 % score interval of a rate p seen in n trials.

    (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n): unlike the usual p +- 2 sigma it
    keeps a width where every trial succeeded, which is common in a bin of few nodes.
    """
    z = special.ndtri(0.975)
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = 1 + z**2 / count
        centre = (rate + z**2 / (2 * count)) / shrink
        reach = z * np.sqrt(rate * (1 - rate) / count + z**2 / (4 * count**2)) / shrink
    return np.clip(centre - reach, 0, rate), np.clip(centre + reach, rate, 1)
