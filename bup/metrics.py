"""What the predictions are worth: calibration, detection, selective prediction, correlation.

Arrays in, numbers out. ``probs`` is [n, c] with rows that sum to 1, ``labels`` is [n] with whole
numbers from 0 to c - 1, ``var`` is [n, c]; errors are fractions of 1, never percent. Where two
classes tie for the largest probability, the lower-numbered one is the prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import entr, ndtri
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from bup.errors import BupError

TOLERANCE = 1e-4
"""How far float32 rounding may carry a probability out of [0, 1], or a row's sum away from 1."""

SMALLEST = float(np.finfo(np.float64).eps)
"""A true class of probability 0 counts as this much, as in scikit-learn: -log of it is 36."""


@dataclass(frozen=True)
class Metric:
    """How a number is named, explained and shown."""

    key: str
    label: str
    meaning: str
    higher_is_better: bool
    percent: bool  # shown times 100


METRICS: dict[str, Metric] = {
    metric.key: metric
    for metric in (
        Metric(
            "accuracy",
            "Accuracy",
            "The share of nodes whose most probable class is the true one.",
            higher_is_better=True,
            percent=True,
        ),
        Metric(
            "ece",
            "Expected calibration error (ECE)",
            "How far confidence is from accuracy among nodes of similar confidence, "
            "averaged over nodes.",
            higher_is_better=False,
            percent=True,
        ),
        Metric(
            "ace",
            "Average calibration error (ACE)",
            "How far confidence is from accuracy among nodes of similar confidence, averaged over "
            "the levels of confidence, however few nodes they hold.",
            higher_is_better=False,
            percent=True,
        ),
        Metric(
            "adaptive_ace",
            "Adaptive calibration error",
            "How far the probability of a class is from how often that class occurs, averaged over "
            "classes and over bins that hold equally many nodes.",
            higher_is_better=False,
            percent=True,
        ),
        Metric(
            "classwise_ece",
            "Class-wise calibration error",
            "How far the probability of a class is from how often that class occurs, averaged over "
            "nodes and then over classes.",
            higher_is_better=False,
            percent=True,
        ),
        Metric(
            "nll",
            "Negative log-likelihood (NLL)",
            "How surprised the model is by the true class; a confident mistake costs most.",
            higher_is_better=False,
            percent=False,
        ),
        Metric(
            "brier",
            "Brier score",
            "The squared distance between the probabilities and the true class: 0 is perfect, "
            "2 is certain and wrong.",
            higher_is_better=False,
            percent=False,
        ),
        Metric(
            "auroc",
            "AUROC",
            "How often a node of the sought group gets a higher score than another node: "
            "one half is guessing.",
            higher_is_better=True,
            percent=True,
        ),
        Metric(
            "aupr",
            "AUPR",
            "How pure the flagged nodes are, averaged over how many of the sought group are found: "
            "the share of that group is guessing.",
            higher_is_better=True,
            percent=True,
        ),
        Metric(
            "fpr95",
            "FPR at 95 % TPR",
            "The share of the other nodes that are flagged too once 95 % of the sought group are.",
            higher_is_better=False,
            percent=True,
        ),
        Metric(
            "aurc",
            "Area under the risk-coverage curve (AURC)",
            "The error rate among the most certain nodes, averaged over how many of them are kept.",
            higher_is_better=False,
            percent=True,
        ),
    )
}


def summary(probs: np.ndarray, labels: np.ndarray, bins: int = 10) -> dict[str, float]:
    """Accuracy and calibration by the keys of ``METRICS``."""
    return {
        "accuracy": accuracy(probs, labels),
        "ece": expected_calibration_error(probs, labels, bins),
        "ace": average_calibration_error(probs, labels, bins),
        "adaptive_ace": adaptive_calibration_error(probs, labels, bins),
        "classwise_ece": classwise_calibration_error(probs, labels, bins),
        "nll": negative_log_likelihood(probs, labels),
        "brier": brier_score(probs, labels),
    }


def confidence(probs: np.ndarray) -> np.ndarray:
    """The largest probability [n] of each node."""
    return _probabilities(probs).max(axis=1)


def prob_std(probs: np.ndarray) -> np.ndarray:
    """The population standard deviation [n] across the class probabilities of each node."""
    return _probabilities(probs).std(axis=1)


def predictive_entropy(probs: np.ndarray) -> np.ndarray:
    """-sum_c p_c log p_c [n], in nats."""
    return entr(_probabilities(probs)).sum(axis=1)


def message_std(var: np.ndarray) -> np.ndarray:
    """The mean over classes [n] of a message's standard deviations."""
    return np.sqrt(_variances(var)).mean(axis=1)


def message_entropy(var: np.ndarray) -> np.ndarray:
    """The entropy [n] of N(mean, diag(var)): sum_c log(2 pi e var_c) / 2, in nats.

    It is negative where the variances are small: a density may exceed 1.
    """
    return 0.5 * np.log(2 * np.pi * np.e * _variances(var)).sum(axis=1)


def hits(probs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Mask [n] of the nodes whose most probable class is the true one."""
    probs, labels = _predictions(probs, labels)
    return probs.argmax(axis=1) == labels


def accuracy(probs: np.ndarray, labels: np.ndarray) -> float:
    """The share of nodes whose most probable class is the true one."""
    return float(hits(probs, labels).mean())


def negative_log_likelihood(probs: np.ndarray, labels: np.ndarray) -> float:
    """The mean over nodes of -log max(p_label, ``SMALLEST``), in nats."""
    probs, labels = _predictions(probs, labels)
    of_label = probs[np.arange(len(labels)), labels]
    return float(np.log(1 / of_label.clip(SMALLEST)).mean())


def brier_score(probs: np.ndarray, labels: np.ndarray) -> float:
    """The mean over nodes of sum_c (p_c - [c = label])^2, between 0 and 2."""
    probs, labels = _predictions(probs, labels)
    return float(((probs - np.eye(probs.shape[1])[labels]) ** 2).sum(axis=1).mean())


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


def _class_bins(
    probs: np.ndarray, labels: np.ndarray, bins: int, scheme: Scheme
) -> list[ReliabilityBins]:
    probs, labels = _predictions(probs, labels)
    return [_binned(column, labels == c, bins, scheme) for c, column in enumerate(probs.T)]


def _binned(
    probability: np.ndarray, occurred: np.ndarray, bins: int, scheme: Scheme
) -> ReliabilityBins:
    bins = _whole(bins, "bins")
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
    z = ndtri(0.975)
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = 1 + z**2 / count
        centre = (rate + z**2 / (2 * count)) / shrink
        reach = z * np.sqrt(rate * (1 - rate) / count + z**2 / (4 * count**2)) / shrink
    return np.clip(centre - reach, 0, rate), np.clip(centre + reach, rate, 1)


@dataclass(frozen=True, eq=False)
class Roc:
    """One point per threshold: nodes that score at least this much are flagged."""

    false_positive_rate: np.ndarray
    true_positive_rate: np.ndarray
    threshold: np.ndarray  # falls from infinity, where no node is flagged


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """One point per threshold: nodes that score at least this much are flagged."""

    precision: np.ndarray
    recall: np.ndarray
    threshold: np.ndarray  # rises to infinity, where no node is flagged and precision is 1


def auroc(scores: np.ndarray, positive: np.ndarray) -> float:
    """The chance that a positive node scores higher than another one; a tie counts half."""
    scores, positive = _detection(scores, positive)
    return float(roc_auc_score(positive, scores))


def aupr(scores: np.ndarray, positive: np.ndarray) -> float:
    """Average precision: sum_k (recall_k - recall_{k-1}) precision_k, without interpolation."""
    scores, positive = _detection(scores, positive)
    return float(average_precision_score(positive, scores))


def fpr_at_95(scores: np.ndarray, positive: np.ndarray) -> float:
    """The false positive rate at the highest threshold that flags 95 % of the positive nodes."""
    scores, positive = _detection(scores, positive)
    # Every threshold is kept: the one wanted may lie inside a straight piece of the curve.
    false_rate, true_rate, _ = roc_curve(positive, scores, drop_intermediate=False)
    return float(false_rate[np.argmax(true_rate >= 0.95)])


def roc(scores: np.ndarray, positive: np.ndarray) -> Roc:
    """The curve behind ``auroc``, only its corners: the line through them is the whole curve."""
    scores, positive = _detection(scores, positive)
    return Roc(*roc_curve(positive, scores, drop_intermediate=True))


def precision_recall(scores: np.ndarray, positive: np.ndarray) -> PrecisionRecall:
    """The curve behind ``aupr``, thresholds ascending: the ends of each run of equal recall."""
    scores, positive = _detection(scores, positive)
    precision, recall, threshold = precision_recall_curve(positive, scores, drop_intermediate=True)
    return PrecisionRecall(precision, recall, np.append(threshold, np.inf))


@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """Keep the nodes whose uncertainty is at most ``threshold``: how many, and how many wrong.

    One point per distinct uncertainty, ascending: nodes that tie enter together, so that the order
    of the nodes cannot matter.
    """

    coverage: np.ndarray  # share of nodes kept
    risk: np.ndarray  # share of the kept nodes that are wrong
    threshold: np.ndarray

    @property
    def area(self) -> float:
        """AURC: the mean over nodes of the risk at the point where that node enters."""
        return float(self.risk @ np.diff(self.coverage, prepend=0))

    def accuracy_at(self, coverage: float) -> float:
        """The accuracy when at least this share of the nodes is kept, the most certain first."""
        if not 0 < coverage <= 1:
            raise BupError(f"coverage must be above 0 and at most 1, got {coverage}")
        # A share such as 0.1 + 0.2 must not miss the point 3/10 by its last bit.
        return float(1 - self.risk[np.searchsorted(self.coverage, coverage - 1e-12)])


def risk_coverage(uncertainty: np.ndarray, correct: np.ndarray) -> RiskCoverage:
    """The error rate among the most certain nodes against the share of nodes kept."""
    uncertainty = _array(uncertainty, "uncertainty", "nodes")
    correct = _flags(correct, "correct", len(uncertainty))
    threshold, group, size = np.unique(uncertainty, return_inverse=True, return_counts=True)
    kept = np.cumsum(size)
    wrong = np.cumsum(np.bincount(group, ~correct))
    return RiskCoverage(kept / len(correct), wrong / kept, threshold)


@dataclass(frozen=True)
class Correlation:
    """A correlation, its bootstrap interval and the number of pairs behind it."""

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
    in O(n). A resample in which x or y is constant has no correlation and is left out.
    """
    x, y = _pairs(x, y)
    resamples = _whole(resamples, "resamples")
    if not 0 < level < 1:
        raise BupError(f"level must be between 0 and 1, such as 0.95, got {level}")
    x_group, y_group = (np.unique(values, return_inverse=True)[1] for values in (x, y))
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


def _array(values: np.ndarray, what: str, *axes: str) -> np.ndarray:
    if np.ma.is_masked(values):
        raise BupError(
            f"{what} must not be masked, got {np.ma.count_masked(values)} masked values: "
            "leave those nodes out"
        )
    array = np.asarray(values)
    if array.ndim != len(axes) or array.size == 0:
        raise BupError(
            f"{what} must be a non-empty array [{', '.join(axes)}], got shape {array.shape}"
        )
    if array.dtype.kind not in "biuf":
        raise BupError(f"{what} must be real numbers, got {array.dtype}: convert them first")
    array = array.astype(np.float64)
    bad = int((~np.isfinite(array)).sum())
    if bad:
        raise BupError(
            f"{what} must be finite, got {bad} NaN or infinite values: leave those nodes out"
        )
    return array


def _probabilities(probs: np.ndarray) -> np.ndarray:
    probs = _array(probs, "probabilities", "nodes", "classes")
    if probs.min() < -TOLERANCE or probs.max() > 1 + TOLERANCE:
        raise BupError(
            f"probabilities must be between 0 and 1, got {probs.min():g} to {probs.max():g}: "
            "turn scores into probabilities first"
        )
    total = probs.sum(axis=1)
    worst = int(np.abs(total - 1).argmax())
    if abs(total[worst] - 1) > TOLERANCE:
        raise BupError(
            f"the probabilities of a node must sum to 1, got {total[worst]:g} in row {worst}: "
            "divide each row by its sum"
        )
    return probs.clip(0, 1)


def _variances(var: np.ndarray) -> np.ndarray:
    var = _array(var, "variances", "nodes", "classes")
    if var.min() <= 0:
        raise BupError(
            f"variances must be above 0, got {var.min():g}: "
            "give variances, not logarithms, kept away from 0"
        )
    return var


def _predictions(probs: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    probs = _probabilities(probs)
    values = _array(labels, "labels", "nodes")
    if np.asarray(labels).dtype.kind not in "iu":
        raise BupError(
            f"labels must be whole numbers, got {np.asarray(labels).dtype}: give class numbers"
        )
    nodes, classes = probs.shape
    if len(values) != nodes:
        raise BupError(f"{len(values)} labels for {nodes} rows of probabilities: give one each")
    if values.min() < 0 or values.max() >= classes:
        raise BupError(
            f"labels must be between 0 and {classes - 1}, got {values.min():g} to "
            f"{values.max():g}: leave out nodes without a label or of a class not predicted"
        )
    return probs, values.astype(np.int64)


def _flags(values: np.ndarray, what: str, nodes: int) -> np.ndarray:
    flags = _array(values, what, "nodes")
    if len(flags) != nodes:
        raise BupError(f"{what} has {len(flags)} entries for {nodes} nodes: give one each")
    if not np.isin(flags, (0, 1)).all():
        raise BupError(
            f"{what} must be true or false, got {flags.min():g} to {flags.max():g}: give a mask"
        )
    return flags.astype(bool)


def _detection(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scores = _array(scores, "scores", "nodes")
    positive = _flags(positive, "positive", len(scores))
    if positive.all() or not positive.any():
        raise BupError(
            f"detection needs positive nodes and others, got {positive.sum()} positive of "
            f"{len(positive)}: give nodes of both groups"
        )
    return scores, positive


def _pairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if np.shape(x) != np.shape(y) or np.ndim(x) != 1:
        raise BupError(f"x and y must be of one length, got shapes {np.shape(x)} and {np.shape(y)}")
    kept = ~(np.ma.getmaskarray(x) | np.ma.getmaskarray(y))
    if kept.sum() < 3:
        raise BupError(
            f"a correlation needs at least 3 pairs, got {kept.sum()} that are not masked: "
            "give more nodes"
        )
    x, y = (_array(np.ma.getdata(v)[kept], what, "nodes") for v, what in ((x, "x"), (y, "y")))
    for what, values in (("x", x), ("y", y)):
        if (values == values[0]).all():
            raise BupError(
                f"{what} must vary, got {values[0]:g} for all {len(values)} nodes: "
                "a constant correlates with nothing"
            )
    return x, y


def _whole(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise BupError(f"{what} must be a whole number of at least 1, got {value!r}")
    return int(value)
