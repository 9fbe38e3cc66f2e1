"""How well a score finds the nodes of a group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from bup.metrics import checks


def auroc(scores: np.ndarray, positive: np.ndarray) -> float:
    """The chance that a positive node scores higher than another one; a tie counts half."""
    scores, positive = checks.detection(scores, positive)
    return float(roc_auc_score(positive, scores))


def aupr(scores: np.ndarray, positive: np.ndarray) -> float:
    """Average precision: sum_k (recall_k - recall_{k-1}) precision_k, without interpolation."""
    scores, positive = checks.detection(scores, positive)
    return float(average_precision_score(positive, scores))


def fpr_at_95(scores: np.ndarray, positive: np.ndarray) -> float:
    """The false positive rate at the highest threshold that flags 95 % of the positive nodes."""
    scores, positive = checks.detection(scores, positive)
    # Every threshold is kept: the one wanted may lie inside a straight piece of the curve.
    false_rate, true_rate, _ = roc_curve(positive, scores, drop_intermediate=False)
    return float(false_rate[np.argmax(true_rate >= 0.95)])


@dataclass(frozen=True, eq=False)
class Roc:
    """One point per threshold: nodes that score at least this much are flagged."""

    false_positive_rate: np.ndarray
    true_positive_rate: np.ndarray
    threshold: np.ndarray  # falls from infinity, where no node is flagged


def roc(scores: np.ndarray, positive: np.ndarray) -> Roc:
    """The curve behind ``auroc``, only its corners: the line through them is the whole curve."""
    scores, positive = checks.detection(scores, positive)
    return Roc(*roc_curve(positive, scores, drop_intermediate=True))


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """One point per threshold: nodes that score at least this much are flagged."""

    precision: np.ndarray
    recall: np.ndarray
    threshold: np.ndarray  # rises to infinity, where no node is flagged and precision is 1


def precision_recall(scores: np.ndarray, positive: np.ndarray) -> PrecisionRecall:
    """The curve behind ``aupr``, thresholds ascending: the ends of each run of equal recall."""
    scores, positive = checks.detection(scores, positive)
    precision, recall, threshold = precision_recall_curve(positive, scores, drop_intermediate=True)
    return PrecisionRecall(precision, recall, np.append(threshold, np.inf))
