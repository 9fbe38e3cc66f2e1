"""One factor on the variances of all messages."""

from __future__ import annotations

from bup.calibrators.base import (
    Calibrated,
    Calibrator,
    LabelledNodes,
    Outputs,
    fit_scale,
    label_nll,
)
from bup.graph import Graph
from bup.run.splits import Split


def fit(outputs: Outputs, held: LabelledNodes, graph: Graph, split: Split, seed: int) -> Calibrated:
    def nll(factor: float) -> float:
        return label_nll(outputs.scaled_probs(held.nodes, factor), held.labels).mean().item()

    factor = fit_scale(nll)
    return Calibrated(
        outputs.scaled_probs(slice(None), factor), {"variance_factor": factor}, factor
    )


CALIBRATOR = Calibrator(
    "variance",
    "Variance scaling",
    "Multiplies the variances of all messages by one number, fitted to the validation nodes. Means "
    "stay; only how sure they are changes.",
    fit,
    acts_on_messages=True,
    needs_variance=True,
)
