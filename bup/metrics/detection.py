"""How well a score finds the nodes of a group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bup.metrics import checks


def auroc(scores: np.ndarray, positive: np.ndarray) -> float:
    """The chance that a positive node scores higher than another one; a tie counts half."""
    flagged = _flag_counts(scores, positive)
    return float(np.trapezoid(flagged.true_rate, flagged.false_rate))


def aupr(scores: np.ndarray, positive: np.ndarray) -> float:
    """Average precision: sum_k (recall_k - recall_{k-1}) precision_k, without interpolation."""
    flagged = _flag_counts(scores, positive)
    return float(np.diff(flagged.true_rate) @ flagged.precision)


def fpr_at_95(scores: np.ndarray, positive: np.ndarray) -> float:
    """The false positive rate at the highest threshold that flags 95 % of the positive nodes."""
    flagged = _flag_counts(scores, positive)
    return float(flagged.false_rate[np.argmax(flagged.true_rate >= 0.95)])


@dataclass(frozen=True, eq=False)
class _FlagCounts:
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
        """From the second threshold on: where no node is flagged there is none."""
        return self.true[1:] / (self.true + self.false)[1:]

    def at(self, which: np.ndarray) -> _FlagCounts:
        return _FlagCounts(self.threshold[which], self.true[which], self.false[which])


def _flag_counts(scores: np.ndarray, positive: np.ndarray) -> _FlagCounts:
    scores, positive = checks.detection(scores, positive)
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)  # of each group of ties
    true = np.cumsum(positive[order])[last]
    totals = (np.concatenate([[0], count]) for count in (true, last + 1 - true))
    return _FlagCounts(np.concatenate([[np.inf], scores[last]]), *totals)


@dataclass(frozen=True, eq=False)
class Roc:
    """One point per threshold: nodes that score at least this much are flagged."""

    false_positive_rate: np.ndarray
    true_positive_rate: np.ndarray
    threshold: np.ndarray  # falls from infinity, where no node is flagged


def roc(scores: np.ndarray, positive: np.ndarray) -> Roc:
    """The curve behind ``auroc``, only its corners: the line through them is the whole curve."""
    counts = _flag_counts(scores, positive)
    bends = (np.diff(counts.true, 2) != 0) | (np.diff(counts.false, 2) != 0)
    counts = counts.at(np.concatenate([[True], bends, [True]]))
    return Roc(counts.false_rate, counts.true_rate, counts.threshold)


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """One point per threshold: nodes that score at least this much are flagged."""

    precision: np.ndarray
    recall: np.ndarray
    threshold: np.ndarray  # rises to infinity, where no node is flagged and precision is 1


def precision_recall(scores: np.ndarray, positive: np.ndarray) -> PrecisionRecall:
    """The curve behind ``aupr``, thresholds ascending: the ends of each run of equal recall."""
    counts = _flag_counts(scores, positive)
    step = np.diff(counts.true[1:]) != 0
    ends = np.concatenate([[True], step]) | np.concatenate([step, [True]])
    ends[0] = True
    counts = counts.at(np.concatenate([[True], ends]))
    precision = np.concatenate([[1.0], counts.precision])
    return PrecisionRecall(precision[::-1], counts.true_rate[::-1], counts.threshold[::-1])
