"""Temperature scaling (Guo et al. 2017)."""

from __future__ import annotations

from bup.calibrators.base import Calibrated, Calibrator, LabelledNodes, Outputs, fit_scale
from bup.graph import Graph
from bup.io.lazy import functional
from bup.run.splits import Split


def fit(outputs: Outputs, held: LabelledNodes, graph: Graph, split: Split, seed: int) -> Calibrated:
    """Outputs divided by one number T, the same for all nodes."""
    logits = outputs.logits
    t = fit_scale(lambda t: functional.cross_entropy(logits[held.nodes] / t, held.labels).item())
    return Calibrated((logits / t).softmax(-1), {"temperature": t})


CALIBRATOR = Calibrator(
    "temperature",
    "Temperature scaling",
    "Divides all outputs by one number, fitted to the validation nodes. Answers stay the same; "
    "only how sure they are changes.",
    fit,
)
