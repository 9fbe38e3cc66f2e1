"""Accuracy, and the scores that only true probabilities minimise."""

import numpy as np

from bup.metrics import checks
from bup.metrics.nodes import hits

SMALLEST = float(np.finfo(np.float64).eps)
"""A true class of probability 0 counts as this much, as in scikit-learn: -log of it is 36."""


def accuracy(probs: np.ndarray, labels: np.ndarray) -> float:
    """The share of nodes whose most probable class is the true one."""
    return float(hits(probs, labels).mean())


def log_losses(probs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """-log max(p_label, ``SMALLEST``) [n], in nats."""
    probs, labels = checks.predictions(probs, labels)
    of_label = probs[np.arange(len(labels)), labels]
    return np.log(1 / of_label.clip(SMALLEST))


def negative_log_likelihood(probs: np.ndarray, labels: np.ndarray) -> float:
    """The mean of ``log_losses`` over nodes."""
    return float(log_losses(probs, labels).mean())


def brier_scores(probs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """sum_c (p_c - [c = label])^2 [n], between 0 and 2."""
    probs, labels = checks.predictions(probs, labels)
    return ((probs - np.eye(probs.shape[1])[labels]) ** 2).sum(axis=1)


def brier_score(probs: np.ndarray, labels: np.ndarray) -> float:
    """The mean of ``brier_scores`` over nodes."""
    return float(brier_scores(probs, labels).mean())
