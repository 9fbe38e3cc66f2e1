"""Temperature scaling (Guo et al. 2017)."""

from bup.calibrators.base import Calibrated, CalibrationData, Calibrator, fit_scale
from bup.io.lazy import functional


def fit(data: CalibrationData) -> Calibrated:
    """Divide all outputs by one temperature T."""
    logits = data.outputs.logits
    nodes, labels = data.validation.nodes, data.validation.labels
    t = fit_scale(lambda t: functional.cross_entropy(logits[nodes] / t, labels).item())
    return Calibrated((logits / t).softmax(-1), {"temperature": t})


CALIBRATOR = Calibrator(
    "temperature",
    "Temperature scaling",
    "Divides all outputs by one number, fitted to the validation nodes. Answers stay the same; "
    "only how sure they are changes.",
    fit,
)
