"""A message that is unsure of its own variance: heavy tails instead of one factor.

A Gaussian has light tails: a few confident mistakes among the validation nodes, and one factor must
widen every message. Where the variance itself is uncertain, var s e^(w q) with q ~ N(0, 1), some
mistakes are to be expected of any message, and the others can stay as sure as they were:

    p(c) = E_q[ p(c | mean, s e^(w q) var) ]

s, the typical factor, and w, how uncertain it is, are fitted.
"""

import math
from collections.abc import Callable

import numpy as np

from bup.calibrators.base import (
    SMALLEST,
    Calibrated,
    CalibrationData,
    Calibrator,
    LabelledNodes,
    Outputs,
)
from bup.io.lazy import Tensor, interpolate, optimize

Q_REACH = 3.5  # values of q beyond are left out
Q_STEP, LOG_STEP = 1.0, 1.2  # between two values of q, and between the logarithms of their factors
USUAL_WIDTH = 1.5
# Prior standard deviations of the logarithms of s (around 1) and of w (around USUAL_WIDTH).
FACTOR_PRIOR, WIDTH_PRIOR = 1.0, 0.5
LIMITS = [(-7.0, 7.0), (np.log(0.05), np.log(4.0))]  # of the logarithms
REACH, STEP = 15.0, 0.5  # logarithms of the factors in the table of label probabilities


def factors(width: float) -> tuple[list[float], list[float]]:
    """Factors e^(width q) and their weights."""
    if not width:
        return [1.0], [1.0]
    places, weights = _quadrature(width)
    return np.exp(width * places).tolist(), weights.tolist()


def _quadrature(width: float) -> tuple[np.ndarray, np.ndarray]:
    """Values of q and their weights, at equal steps.

    The wider, the finer: probabilities are good to 3e-4 up to the largest width.
    """
    step = min(Q_STEP, LOG_STEP / width)
    count = math.ceil(Q_REACH / step)
    places = step * np.arange(-count, count + 1)
    weights = np.exp(-(places**2) / 2)
    return places, weights / weights.sum()


def mix_probabilities(
    outputs: Outputs, nodes: Tensor | slice, factor: float, width: float
) -> Tensor:
    """E_q[p(c | mean, factor e^(width q) var)] of some nodes [nodes, c]."""
    wide, weights = factors(width)
    parts = outputs.scaled_probs(nodes, [factor * w for w in wide])
    return (parts * parts.new_tensor(weights)[:, None, None]).sum(0)


def _label_probabilities(
    outputs: Outputs, validation: LabelledNodes
) -> Callable[[np.ndarray], np.ndarray]:
    """p(label | e^t var) of every validation node [len(t), n], as a function of t.

    It is smooth and depends on one number: a table of it serves every step of the search.
    """
    logs = np.arange(-REACH, REACH + STEP, STEP)
    probs = outputs.scaled_probs(validation.nodes, np.exp(logs).tolist())
    table = probs.gather(-1, validation.labels.expand(len(logs), -1)[..., None])[..., 0]
    spline = interpolate.CubicSpline(logs, table.double().numpy())
    return lambda t: spline(np.clip(t, -REACH, REACH))


def fit(data: CalibrationData) -> Calibrated:
    probabilities = _label_probabilities(data.outputs, data.validation)

    def loss(logs: np.ndarray) -> float:
        width = np.exp(logs[1])
        places, weights = _quadrature(width)
        probs = weights @ probabilities(logs[0] + width * places)
        nll = -np.log(probs.clip(SMALLEST)).sum()
        pulls = logs[0] / FACTOR_PRIOR, (logs[1] - np.log(USUAL_WIDTH)) / WIDTH_PRIOR
        return nll + sum(pull * pull for pull in pulls) / 2

    start = np.array([0.0, np.log(USUAL_WIDTH)])
    options = {"xatol": 1e-3, "fatol": 1e-3}
    optimum = optimize.minimize(loss, start, method="Nelder-Mead", bounds=LIMITS, options=options)
    factor, width = (float(value) for value in np.exp(optimum.x))
    constants = {"variance_factor": factor, "variance_width": width}
    return Calibrated(
        mix_probabilities(data.outputs, slice(None), factor, width), constants, factor
    )


CALIBRATOR = Calibrator(
    "spread",
    "Uncertain variance",
    "Takes the variance of every message as uncertain itself, by two numbers fitted to the "
    "validation nodes: messages get heavy tails. A few confident mistakes then need not make every "
    "other answer less sure.",
    fit,
    acts_on_messages=True,
)
