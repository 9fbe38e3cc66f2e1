"""How likely a node's Gaussian message makes each class.

A message is N(mean, diag(var)) over the classes, and the label is the class whose message is the
largest. So p(y = c) is the probability that all gaps theta_k - theta_c are negative. The gaps share
theta_c, and that is all they share: given theta_c they are independent, which leaves one integral,

    p(y = c) = integral of phi(t) prod_{k != c} Phi((mean_c + std_c t - mean_k) / std_k) dt.

``log_likelihood`` is what training maximises; ``class_probabilities`` and
``probability_distribution`` are what predictions are made of.
"""

# ruff: noqa: F401 (names for ``bup.likelihood.NAME``)

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bup.likelihood.names import DISTRIBUTIONS, RULES

if TYPE_CHECKING:
    from bup.likelihood.distribution import (
        ProbabilityDistribution,
        probability_density,
        probability_distribution,
    )
    from bup.likelihood.rules import class_probabilities, log_likelihood

# Their gradients need torch to be defined; the names of the rules are settings, and do not.
_LATE = {
    "ProbabilityDistribution": "bup.likelihood.distribution",
    "class_probabilities": "bup.likelihood.rules",
    "log_likelihood": "bup.likelihood.rules",
    "probability_density": "bup.likelihood.distribution",
    "probability_distribution": "bup.likelihood.distribution",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module(_LATE[name]), name)
    return globals()[name]
