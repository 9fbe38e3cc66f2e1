"""Scores of class probabilities, which every method has."""

from bup import metrics
from bup.scores.base import Score

CONFIDENCE = Score(
    "confidence",
    "Confidence",
    "neither",
    "The probability that the model gives to the class it predicts.",
    "confidence in the predicted class",
    certain=True,
    of_probs=metrics.confidence,
)

PREDICTIVE_ENTROPY = Score(
    "predictive_entropy",
    "Predictive entropy",
    "neither",
    "How evenly the probability is spread over the classes, in nats: 0 is a firm answer.",
    "entropy of the class probabilities (nats)",
    of_probs=metrics.predictive_entropy,
)

PROB_STD = Score(
    "prob_std",
    "Spread of the probabilities",
    "neither",
    "How far the class probabilities lie apart (their standard deviation): 0 is a pure guess.",
    "spread of the class probabilities (std)",
    certain=True,
    of_probs=metrics.prob_std,
)
