"""How well a score finds the nodes of a group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bup.metrics import checks


def auroc(scores: np.ndarray, positive: np.ndarray) -> float:
    """The chance that a positive node scores higher than another one; a tie counts half."""
    flagged = _flagged(scores, positive)
    return float(np.trapezoid(flagged.true_rate, flagged.false_rate))


def aupr(scores: np.ndarray, positive: np.ndarray) -> float:
    """Average precision: sum_k (recall_k - recall_{k-1}) precision_k, without interpolation."""
    flagged = _flagged(scores, positive)
    return float(np.diff(flagged.true_rate) @ flagged.precision)


def fpr_at_95(scores: np.ndarray, positive: np.ndarray) -> float:
    """The false positive rate at the highest threshold that flags 95 % of the positive nodes."""
    flagged = _flagged(scores, positive)
    return float(flagged.false_rate[np.argmax(flagged.true_rate >= 0.95)])


@dataclass(frozen=True, eq=False)
class _Flagged:
    """How many nodes score at least as much as each threshold; at first none do."""

    threshold: np.ndarray  # falls from infinity, through every score that there is
    true: np.ndarray  # positive ones
    false: np.ndarray  # others

    @property
    def true_rate(self) -> np.ndarray:
        return self.true / self.true[-1]

    @property
    def false_rate(self) -> np.ndarray:
        return self.false / self.false[-1]

    @property
    def precision(self) -> np.ndarray:
        """From the second threshold on: where nobody is flagged there is none."""
        return self.true[1:] / (self.true + self.false)[1:]

    def at(self, which: np.ndarray) -> _Flagged:
        return _Flagged(self.threshold[which], self.true[which], self.false[which])


def _flagged(scores: np.ndarray, positive: np.ndarray) -> _Flagged:
    scores, positive = checks.detection(scores, positive)
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)  # of each group of ties
    true = np.cumsum(positive[order])[last]
    counts = (np.concatenate([[0], count]) for count in (true, last + 1 - true))
    return _Flagged(np.concatenate([[np.inf], scores[last]]), *counts)


@dataclass(frozen=True, eq=False)
class Roc:
    """One point per threshold: nodes that score at least this much are flagged."""

    false_positive_rate: np.ndarray
    true_positive_rate: np.ndarray
    threshold: np.ndarray  # falls from infinity, where no node is flagged


def roc(scores: np.ndarray, positive: np.ndarray) -> Roc:
    """The curve behind ``auroc``, only its corners: the line through them is the whole curve."""
    found = _flagged(scores, positive)
    bends = (np.diff(found.true, 2) != 0) | (np.diff(found.false, 2) != 0)
    found = found.at(np.concatenate([[True], bends, [True]]))
    return Roc(found.false_rate, found.true_rate, found.threshold)


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """One point per threshold: nodes that score at least this much are flagged."""

    precision: np.ndarray
    recall: np.ndarray
    threshold: np.ndarray  # rises to infinity, where no node is flagged and precision is 1


def precision_recall(scores: np.ndarray, positive: np.ndarray) -> PrecisionRecall:
    """The curve behind ``aupr``, thresholds ascending: the ends of each run of equal recall."""
    found = _flagged(scores, positive)
    step = np.diff(found.true[1:]) != 0
    ends = np.concatenate([[True], step]) | np.concatenate([step, [True]])
    ends[0] = True
    found = found.at(np.concatenate([[True], ends]))
    precision = np.concatenate([[1.0], found.precision])
    return PrecisionRecall(precision[::-1], found.true_rate[::-1], found.threshold[::-1])
