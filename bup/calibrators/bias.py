"""Class bias: training shows all classes equally often, the graph does not hold them equally."""

from __future__ import annotations

import numpy as np

from bup.calibrators.base import Calibrated, Calibrator, LabelledNodes, Outputs
from bup.graph import Graph
from bup.io.lazy import functional, optimize, torch
from bup.run.splits import Split

PRIOR = 0.5  # how far a class may be off: the standard deviation of its log factor, beforehand


def fit(outputs: Outputs, held: LabelledNodes, graph: Graph, split: Split, seed: int) -> Calibrated:
    """p(c) e^(b_c), normalised, with b ~ N(0, 0.5^2)."""
    log_probs = outputs.logits.double().log_softmax(-1)
    seen = log_probs[held.nodes]

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        bias = torch.tensor(values, requires_grad=True)
        total = functional.cross_entropy(seen + bias, held.labels, reduction="sum")
        total = total + (bias / PRIOR).square().sum() / 2
        total.backward()
        assert bias.grad is not None
        return total.item(), bias.grad.numpy()

    found = optimize.minimize(loss, np.zeros(seen.shape[1]), jac=True, method="L-BFGS-B").x
    probs = (log_probs + torch.from_numpy(found)).softmax(-1)
    constants = {f"bias_{c}": float(b) for c, b in enumerate(found)}
    return Calibrated(probs.to(outputs.logits.dtype), constants)


CALIBRATOR = Calibrator(
    "bias",
    "Class bias",
    "Multiplies the probability of each class by a number of its own, fitted to the validation "
    "nodes: training shows all classes equally often, the graph does not. Answers may change.",
    fit,
    acts_on_probabilities=True,
)
