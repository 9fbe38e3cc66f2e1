"""Scores of methods whose predictions are averages over draws."""

from bup.io.lazy import Tensor, torch
from bup.scores.base import Score

SAMPLED = (
    Score(
        "mutual_information",
        "Mutual information",
        "epistemic",
        "How much the draws that a prediction averages disagree: 0 if all give the same "
        "probabilities.",
    ),
    Score(
        "expected_entropy",
        "Expected entropy",
        "aleatoric",
        "Mean entropy of the draws that a prediction averages: doubt that every draw shares.",
    ),
)


def sample_scores(probs: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """The mean [n, c] of drawn class probabilities [draws, n, c], and its ``SAMPLED`` scores [n].

    The entropy of the mean is the sum of the two scores.
    """
    mean = probs.mean(0)
    expected = torch.special.entr(probs).sum(-1).mean(0)
    total = torch.special.entr(mean).sum(-1)
    # Entropy is concave, so only rounding can make the difference negative.
    return mean, {
        "mutual_information": (total - expected).clamp_min(0),
        "expected_entropy": expected,
    }
