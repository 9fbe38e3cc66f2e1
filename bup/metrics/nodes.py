"""Metrics of each node on its own."""

import numpy as np

from bup.io.lazy import special
from bup.metrics import checks


def confidence(probs: np.ndarray) -> np.ndarray:
    """The largest probability [n] of each node."""
    return checks.probabilities(probs).max(axis=1)


def prob_std(probs: np.ndarray) -> np.ndarray:
    """The population standard deviation [n] across the class probabilities of each node."""
    return checks.probabilities(probs).std(axis=1)


def predictive_entropy(probs: np.ndarray) -> np.ndarray:
    """-sum_c p_c log p_c [n], in nats."""
    return special.entr(checks.probabilities(probs)).sum(axis=1)


def message_std(var: np.ndarray) -> np.ndarray:
    """The mean over classes [n] of a message's standard deviations."""
    return np.sqrt(checks.variances(var)).mean(axis=1)


def message_entropy(var: np.ndarray) -> np.ndarray:
    """The entropy [n] of N(mean, diag(var)): sum_c log(2 pi e var_c) / 2, in nats.

    It is negative where the variances are small: a density may exceed 1.
    """
    return 0.5 * np.log(2 * np.pi * np.e * checks.variances(var)).sum(axis=1)


def hits(probs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Mask [n] of the nodes whose most probable class is the true one."""
    probs, labels = checks.predictions(probs, labels)
    return probs.argmax(axis=1) == labels
