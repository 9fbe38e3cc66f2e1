"""One factor on the variances of all messages."""

from __future__ import annotations

from bup.calibrators.base import Calibrated, Calibrator, Held, Outputs, fit_scale, label_nll
from bup.graph import Graph
from bup.run.splits import Split


def fit(outputs: Outputs, held: Held, graph: Graph, split: Split, seed: int) -> Calibrated:
    def nll(factor: float) -> float:
        return label_nll(outputs.widened(held.nodes, factor), held.labels).mean().item()

    factor = fit_scale(nll)
    return Calibrated(outputs.widened(slice(None), factor), {"variance_factor": factor}, factor)


CALIBRATOR = Calibrator(
    "variance",
    "Variance scaling",
    "Multiplies the variances of all messages by one number, fitted to the validation nodes. Means "
    "stay; only how sure they are changes.",
    fit,
    of_messages=True,
    needs_variance=True,
)
