"""What uncertainty scores mean. A score is one number per node; higher means less certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
