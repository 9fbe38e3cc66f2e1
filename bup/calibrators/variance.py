"""One factor on the variances of all messages."""

from bup.calibrators.base import Calibrated, CalibrationData, Calibrator, fit_scale, label_nll


def fit(data: CalibrationData) -> Calibrated:
    outputs, validation = data.outputs, data.validation

    def nll(factor: float) -> float:
        probs = outputs.scaled_probs(validation.nodes, factor)
        return label_nll(probs, validation.labels).mean().item()

    factor = fit_scale(nll)
    probs = outputs.scaled_probs(slice(None), factor)
    return Calibrated(probs, {"variance_factor": factor}, factor)


CALIBRATOR = Calibrator(
    "variance",
    "Variance scaling",
    "Multiplies the variances of all messages by one number, fitted to the validation nodes. Means "
    "stay; only how sure they are changes.",
    fit,
    acts_on_messages=True,
    needs_variance=True,
)
