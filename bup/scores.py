"""What uncertainty scores mean. A score is one number per node; higher means less certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Kind = Literal["aleatoric", "epistemic", "neither"]

KINDS: dict[Kind, str] = {
    "aleatoric": "doubt that more training nodes would not remove: the classes overlap here",
    "epistemic": "doubt for lack of evidence: the model has seen little like this node",
    "neither": "a mixture of both, or a quantity that claims to be neither",
}


@dataclass(frozen=True)
class Score:
    """A named uncertainty; ``help`` is one sentence for people."""

    name: str
    title: str
    kind: Kind
    help: str


COMMON = (
    Score(
        "confidence",
        "1 - confidence",
        "neither",
        "One minus the largest class probability.",
    ),
    Score(
        "prob_std",
        "Sameness of probabilities",
        "neither",
        "Minus the standard deviation of a node's class probabilities: alike means undecided.",
    ),
    Score(
        "predictive_entropy",
        "Predictive entropy",
        "neither",
        "Entropy of the class probabilities: 0 for a certain answer.",
    ),
)
"""What every method has, because it has class probabilities."""

MESSAGE = (
    Score(
        "message_std",
        "Message std",
        "epistemic",
        "Standard deviation of the node's message before it becomes a probability, mean over "
        "classes.",
    ),
    Score(
        "message_entropy",
        "Message entropy",
        "epistemic",
        "Differential entropy of the node's Gaussian message.",
    ),
)
"""What a method has whose messages have a variance."""

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
"""What a method has whose predictions are averages over draws."""


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
