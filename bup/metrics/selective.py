"""What keeping only the most certain nodes gains."""

from dataclasses import dataclass

import numpy as np

from bup.errors import BupError
from bup.metrics import checks


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
    uncertainty = checks.array(uncertainty, "uncertainty", "nodes")
    correct = checks.flags(correct, "correct", len(uncertainty))
    threshold, group, size = np.unique(uncertainty, return_inverse=True, return_counts=True)
    count = np.cumsum(size)
    wrong = np.cumsum(np.bincount(group, ~correct))
    return RiskCoverage(count / len(correct), wrong / count, threshold)
