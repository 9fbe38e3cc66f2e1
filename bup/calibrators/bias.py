"""Class bias: corrects for class shares that differ between the training nodes and the graph."""

import numpy as np

from bup.calibrators.base import Calibrated, CalibrationData, Calibrator
from bup.io.lazy import functional, optimize, torch

PRIOR = 0.5  # prior standard deviation of the logarithm of a class's factor


def fit(data: CalibrationData) -> Calibrated:
    """p(c) e^(b_c), normalised, with b ~ N(0, 0.5^2)."""
    logits, validation = data.outputs.logits, data.validation
    log_probs = logits.double().log_softmax(-1)
    rows = log_probs[validation.nodes]

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        bias = torch.tensor(values, requires_grad=True)
        total = functional.cross_entropy(rows + bias, validation.labels, reduction="sum")
        total = total + (bias / PRIOR).square().sum() / 2
        total.backward()
        assert bias.grad is not None
        return total.item(), bias.grad.numpy()

    biases = optimize.minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x
    probs = (log_probs + torch.from_numpy(biases)).softmax(-1)
    constants = {f"bias_{c}": float(b) for c, b in enumerate(biases)}
    return Calibrated(probs.to(logits.dtype), constants)


CALIBRATOR = Calibrator(
    "bias",
    "Class bias",
    "Multiplies the probability of each class by a number of its own, fitted to the validation "
    "nodes: training shows all classes equally often, the graph does not. Answers may change.",
    fit,
    acts_on_probabilities=True,
)
