"""A message that is unsure of its own variance: heavy tails instead of one factor.

A Gaussian has light tails: a few confident mistakes among the validation nodes, and one factor must
widen every message. Where the variance itself is uncertain, var s e^(w q) with q ~ N(0, 1), some
mistakes are to be expected of any message, and the others can stay as sure as they were:

    p(c) = E_q[ p(c | mean, s e^(w q) var) ]

s, the typical factor, and w, how uncertain it is, are fitted.
"""

from __future__ import annotations

import numpy as np

from bup.calibrators.base import Calibrated, Calibrator, Held, Outputs, label_nll
from bup.graph import Graph
from bup.late import Tensor, optimize
from bup.splits import Split

POINTS = 7  # of the quadrature over q
USUAL_WIDTH = 1.5
# How far the validation nodes may pull s from 1 and w from its usual value: standard deviations of
# their logarithms, beforehand.
FACTOR_PRIOR, WIDTH_PRIOR = 1.0, 0.5
LIMITS = [(-7.0, 7.0), (np.log(0.05), np.log(4.0))]  # of the logarithms


def factors(width: float) -> tuple[list[float], list[float]]:
    """Factors e^(width q) and their weights, by Gauss and Hermite."""
    places, weights = np.polynomial.hermite_e.hermegauss(POINTS)
    return np.exp(width * places).tolist(), (weights / weights.sum()).tolist()


def mixed(outputs: Outputs, nodes: Tensor | slice, factor: float, width: float) -> Tensor:
    """E_q[p(c | mean, factor e^(width q) var)] of some nodes [nodes, c]."""
    wide, weights = factors(width)
    parts = outputs.widened(nodes, [factor * w for w in wide])
    return (parts * parts.new_tensor(weights)[:, None, None]).sum(0)


def fit(outputs: Outputs, held: Held, graph: Graph, split: Split, seed: int) -> Calibrated:
    def loss(logs: np.ndarray) -> float:
        factor, width = np.exp(logs)
        nll = label_nll(mixed(outputs, held.nodes, factor, width), held.labels).sum().item()
        pulls = logs[0] / FACTOR_PRIOR, (logs[1] - np.log(USUAL_WIDTH)) / WIDTH_PRIOR
        return nll + sum(pull * pull for pull in pulls) / 2

    start = np.array([0.0, np.log(USUAL_WIDTH)])
    options = {"xatol": 1e-3, "fatol": 1e-3}
    found = optimize.minimize(loss, start, method="Nelder-Mead", bounds=LIMITS, options=options)
    factor, width = (float(value) for value in np.exp(found.x))
    constants = {"variance_factor": factor, "variance_width": width}
    return Calibrated(mixed(outputs, slice(None), factor, width), constants, factor)


CALIBRATOR = Calibrator(
    "spread",
    "Uncertain variance",
    "Takes the variance of every message as uncertain itself, by two numbers fitted to the "
    "validation nodes: messages get heavy tails. A few confident mistakes then need not make every "
    "other answer less sure.",
    fit,
    of_messages=True,
)
