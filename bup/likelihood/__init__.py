"""How likely a node's Gaussian message makes each class.

A message is N(mean, diag(var)) over the classes, and the label is the class whose message is the
largest. So p(y = c) is the probability that all gaps theta_k - theta_c are negative. The gaps share
theta_c, and that is all they share: given theta_c they are independent, which leaves one integral,

    p(y = c) = integral of phi(t) prod_{k != c} Phi((mean_c + std_c t - mean_k) / std_k) dt.

``log_likelihood`` is what training maximises; ``class_probabilities`` and
``probability_distribution`` are what predictions are made of.
"""

from __future__ import annotations

from bup.likelihood.distribution import (
    ProbabilityDistribution,
    probability_density,
    probability_distribution,
)
from bup.likelihood.rules import RULES, class_probabilities, log_likelihood

__all__ = [
    "RULES",
    "ProbabilityDistribution",
    "class_probabilities",
    "log_likelihood",
    "probability_density",
    "probability_distribution",
]
