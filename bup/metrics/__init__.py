"""What the predictions are worth: calibration, detection, selective prediction, correlation.

Arrays in, numbers out. ``probs`` is [n, c] with rows that sum to 1, ``labels`` is [n] with whole
numbers from 0 to c - 1, ``var`` is [n, c]; errors are fractions of 1, never percent. Where two
classes tie for the largest probability, the lower-numbered one is the prediction.
"""

# ruff: noqa: F401 (names for ``bup.metrics.NAME``)

from bup.metrics.bootstrap import Interval, bootstrap_intervals
from bup.metrics.calibration import (
    ReliabilityBins,
    Scheme,
    adaptive_calibration_error,
    average_calibration_error,
    classwise_calibration_error,
    expected_calibration_error,
    grouped_calibration_error,
    reliability_bins,
)
from bup.metrics.correlation import Correlation, spearman
from bup.metrics.detection import (
    PrecisionRecall,
    Roc,
    aupr,
    auroc,
    fpr_at_95,
    precision_recall,
    roc,
)
from bup.metrics.nodes import (
    confidence,
    hits,
    message_entropy,
    message_std,
    predictive_entropy,
    prob_std,
)
from bup.metrics.overview import METRICS, Metric, summary
from bup.metrics.proper import SMALLEST, accuracy, brier_score, negative_log_likelihood
from bup.metrics.selective import RiskCoverage, risk_coverage
