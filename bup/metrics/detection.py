"""How well a score finds the nodes of a group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bup.metrics import checks


def auroc(scores: np.ndarray, positive: np.ndarray) -> float:
    """The chance that a positive node scores higher than another one; a tie counts half."""
    curve = _every_point(scores, positive)
    return float(np.trapezoid(curve.true_positive_rate, curve.false_positive_rate))


def aupr(scores: np.ndarray, positive: np.ndarray) -> float:
    """Average precision: sum_k (recall_k - recall_{k-1}) precision_k, without interpolation."""
    curve = _every_point(scores, positive)
    return float(np.diff(curve.true_positive_rate) @ curve.precision)


def fpr_at_95(scores: np.ndarray, positive: np.ndarray) -> float:
    """The false positive rate at the highest threshold that flags 95 % of the positive nodes."""
    curve = _every_point(scores, positive)
    return float(curve.false_positive_rate[np.argmax(curve.true_positive_rate >= 0.95)])


@dataclass(frozen=True, eq=False)
class Roc:
    """One point per threshold: how many nodes score at least this much and are flagged."""

    threshold: np.ndarray  # falls from infinity, where no node is flagged
    true: np.ndarray  # flagged positive nodes
    false: np.ndarray  # other flagged nodes

    @property
    def true_positive_rate(self) -> np.ndarray:
        return self.true / self.true[-1]

    @property
    def false_positive_rate(self) -> np.ndarray:
        return self.false / self.false[-1]

    @property
    def precision(self) -> np.ndarray:
        """From the second threshold on: where no node is flagged there is none."""
        return self.true[1:] / (self.true + self.false)[1:]

    def at(self, which: np.ndarray) -> Roc:
        return Roc(self.threshold[which], self.true[which], self.false[which])


def _every_point(scores: np.ndarray, positive: np.ndarray) -> Roc:
    """The curve with a point for every score that there is."""
    scores, positive = checks.detection(scores, positive)
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)  # of each group of ties
    true = np.cumsum(positive[order])[last]
    totals = (np.concatenate([[0], count]) for count in (true, last + 1 - true))
    return Roc(np.concatenate([[np.inf], scores[last]]), *totals)


def roc(scores: np.ndarray, positive: np.ndarray) -> Roc:
    """The curve behind ``auroc``, only its corners: the line through them is the whole curve."""
    curve = _every_point(scores, positive)
    bends = (np.diff(curve.true, 2) != 0) | (np.diff(curve.false, 2) != 0)
    return curve.at(np.concatenate([[True], bends, [True]]))


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """One point per threshold: nodes that score at least this much are flagged."""

    precision: np.ndarray
    recall: np.ndarray
    threshold: np.ndarray  # rises to infinity, where no node is flagged and precision is 1


def precision_recall(scores: np.ndarray, positive: np.ndarray) -> PrecisionRecall:
    """The curve behind ``aupr``, thresholds ascending: the ends of each run of equal recall."""
    curve = _every_point(scores, positive)
    step = np.diff(curve.true[1:]) != 0
    ends = np.concatenate([[True], step]) | np.concatenate([step, [True]])
    ends[0] = True
    curve = curve.at(np.concatenate([[True], ends]))
    precision = np.concatenate([[1.0], curve.precision])
    return PrecisionRecall(precision[::-1], curve.true_positive_rate[::-1], curve.threshold[::-1])
