"""Every metric by its key: its name, its meaning, its value."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bup.metrics.calibration import (
    adaptive_calibration_error,
    average_calibration_error,
    classwise_calibration_error,
    expected_calibration_error,
)
from bup.metrics.proper import accuracy, brier_score, negative_log_likelihood


@dataclass(frozen=True)
class Metric:
    """How a number is named, explained and shown."""

    key: str
    label: str
    meaning: str
    higher_is_better: bool
    percent: bool  # shown times 100

    @property
    def short(self) -> str:
        """The abbreviation that its label ends with, or the label."""
        return self.label.partition("(")[2].rstrip(")") or self.label


_TABLE = Path(__file__).with_name("metrics.toml").read_text(encoding="utf-8")
METRICS = {key: Metric(key, **facts) for key, facts in tomllib.loads(_TABLE).items()}


def summary(probs: np.ndarray, labels: np.ndarray, bins: int = 10) -> dict[str, float]:
    """Accuracy and calibration by the keys of ``METRICS``."""
    return {
        "accuracy": accuracy(probs, labels),
        "ece": expected_calibration_error(probs, labels, bins),
        "ace": average_calibration_error(probs, labels, bins),
        "adaptive_ace": adaptive_calibration_error(probs, labels, bins),
        "classwise_ece": classwise_calibration_error(probs, labels, bins),
        "nll": negative_log_likelihood(probs, labels),
        "brier": brier_score(probs, labels),
    }
