"""The table of scores. A score is one file in this package and one line here.

These follow from what every method, or every method with variances, has; what a method computes
for itself it names in ``Method.scores``.
"""

import numpy as np

from bup.scores import messages, probabilities
from bup.scores.base import KINDS, Kind, Score

SCORES: dict[str, Score] = {
    score.name: score
    for score in (
        messages.MESSAGE_STD,
        messages.MESSAGE_ENTROPY,
        probabilities.CONFIDENCE,
        probabilities.PREDICTIVE_ENTROPY,
        probabilities.PROB_STD,
    )
}


def derived(probs: np.ndarray, var: np.ndarray | None) -> dict[str, np.ndarray]:
    """Every score [n] of the table that can be computed from probabilities and variances."""
    values = {}
    for score in SCORES.values():
        if score.of_probs is not None:
            values[score.name] = score.of_probs(probs)
        elif score.of_var is not None and var is not None:
            values[score.name] = score.of_var(var)
    return values


__all__ = ["KINDS", "SCORES", "Kind", "Score", "derived"]
