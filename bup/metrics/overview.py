"""Every metric by its key: its name, its meaning, its value."""

from __future__ import annotations

from dataclasses import dataclass

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


METRICS: dict[str, Metric] = {
    metric.key: metric
    for metric in (
        Metric(
            "accuracy",
            "Accuracy",
            "The share of nodes whose most probable class is the true one.",
            higher_is_better=True,
            percent=True,
        ),
        Metric(
            "ece",
            "Expected calibration error (ECE)",
            "How far confidence is from accuracy among nodes of similar confidence, "
            "averaged over nodes.",
            higher_is_better=False,
            percent=True,
        ),
        Metric(
            "ace",
            "Average calibration error (ACE)",
            "How far confidence is from accuracy among nodes of similar confidence, averaged over "
            "the levels of confidence, however few nodes they hold.",
            higher_is_better=False,
            percent=True,
        ),
        Metric(
            "adaptive_ace",
            "Adaptive calibration error",
            "How far the probability of a class is from how often that class occurs, averaged over "
            "classes and over bins that hold equally many nodes.",
            higher_is_better=False,
            percent=True,
        ),
        Metric(
            "classwise_ece",
            "Class-wise calibration error",
            "How far the probability of a class is from how often that class occurs, averaged over "
            "nodes and then over classes.",
            higher_is_better=False,
            percent=True,
        ),
        Metric(
            "nll",
            "Negative log-likelihood (NLL)",
            "How surprised the model is by the true class; a confident mistake costs most.",
            higher_is_better=False,
            percent=False,
        ),
        Metric(
            "brier",
            "Brier score",
            "The squared distance between the probabilities and the true class: 0 is perfect, "
            "2 is certain and wrong.",
            higher_is_better=False,
            percent=False,
        ),
        Metric(
            "auroc",
            "AUROC",
            "How often a node of the sought group gets a higher score than another node: "
            "one half is guessing.",
            higher_is_better=True,
            percent=True,
        ),
        Metric(
            "aupr",
            "AUPR",
            "How pure the flagged nodes are, averaged over how many of the sought group are found: "
            "the share of that group is guessing.",
            higher_is_better=True,
            percent=True,
        ),
        Metric(
            "fpr95",
            "False alarms at 95% found (FPR95)",
            "The share of the other nodes that are flagged too once 95% of the sought group are.",
            higher_is_better=False,
            percent=True,
        ),
        Metric(
            "aurc",
            "Area under the risk-coverage curve (AURC)",
            "The error rate among the most certain nodes, averaged over how many of them are kept.",
            higher_is_better=False,
            percent=True,
        ),
    )
}


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
