"""Arrays that cannot be measured are refused, in one line that says why."""

from __future__ import annotations

import numpy as np
import pytest

from bup import metrics
from bup.errors import BupError

GOOD = np.array([[0.5, 0.5], [0.2, 0.8]])
ZERO_ONE = np.array([0, 1])
NAN, INF = float("nan"), float("inf")

BAD_PROBABILITIES = {
    "no nodes": (np.empty((0, 2)), r"\(0, 2\)"),
    "no classes": (np.empty((2, 0)), r"\(2, 0\)"),
    "one axis": (np.array([0.5, 0.5]), r"\(2,\)"),
    "not a number": (np.array([[0.5, NAN], [0.5, 0.5]]), "1 NaN or infinite"),
    "infinite": (np.array([[0.5, INF], [0.5, 0.5]]), "1 NaN or infinite"),
    "negative": (np.array([[-0.1, 0.5, 0.6], [0.5, 0.5, 0.0]]), "-0.1 to 0.6"),
    "above one": (np.array([[1.5, 0.0], [0.5, 0.5]]), "0 to 1.5"),
    "not normalised": (np.array([[0.5, 0.5], [0.5, 0.4]]), "0.9 in row 1"),
    "words": (np.array([["a", "b"], ["c", "d"]]), "<U1"),
    "masked": (np.ma.MaskedArray(GOOD, [[0, 0], [1, 1]]), "2 masked"),
}
OF_PROBABILITIES = [metrics.confidence, metrics.prob_std, metrics.predictive_entropy]
OF_PREDICTIONS = [
    metrics.hits,
    metrics.accuracy,
    metrics.negative_log_likelihood,
    metrics.brier_score,
    metrics.reliability_bins,
    metrics.expected_calibration_error,
    metrics.average_calibration_error,
    metrics.adaptive_calibration_error,
    metrics.classwise_calibration_error,
    metrics.summary,
]
OF_BINS = OF_PREDICTIONS[4:]


def refused(message: str, function, *arguments, **options) -> None:
    with pytest.raises(BupError, match=message) as caught:
        function(*arguments, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", BAD_PROBABILITIES)
def test_bad_probabilities_are_refused(case: str) -> None:
    probs, message = BAD_PROBABILITIES[case]
    for function in OF_PROBABILITIES:
        refused(message, function, probs)
    for function in OF_PREDICTIONS:
        refused(message, function, probs, ZERO_ONE)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([0, 1, 1]), "3 labels for 2 rows"),
        (np.array([0, 2]), "between 0 and 1, got 0 to 2"),
        (np.array([-1, 0]), "between 0 and 1, got -1 to 0"),
        (np.array([0.0, 1.0]), "whole numbers, got float64"),
        (np.array([True, False]), "whole numbers, got bool"),
        (np.array([[0, 1]]), r"\(1, 2\)"),
        (np.array([], dtype=int), r"\(0,\)"),
        (np.array(["a", "b"]), "<U1"),
        (np.ma.MaskedArray([0, 1], [0, 1]), "1 masked"),
    ],
)
@pytest.mark.parametrize("function", OF_PREDICTIONS)
def test_bad_labels_are_refused(function, labels: np.ndarray, message: str) -> None:
    refused(message, function, GOOD, labels)


@pytest.mark.parametrize("bins", [0, -3, 2.5, "10", True, None])
@pytest.mark.parametrize("function", OF_BINS)
def test_bad_bins_are_refused(function, bins) -> None:
    refused("bins must be a whole number", function, GOOD, ZERO_ONE, bins=bins)


def test_an_unknown_scheme_is_refused() -> None:
    refused("'weight'", metrics.reliability_bins, GOOD, ZERO_ONE, scheme="weight")


@pytest.mark.parametrize(
    ("var", "message"),
    [
        (np.array([[1.0, 0.0]]), "above 0, got 0"),
        (np.array([[1.0, -2.0]]), "above 0, got -2"),
        (np.array([[1.0, NAN]]), "1 NaN or infinite"),
        (np.array([1.0, 2.0]), r"\(2,\)"),
        (np.empty((0, 3)), r"\(0, 3\)"),
    ],
)
@pytest.mark.parametrize("function", [metrics.message_std, metrics.message_entropy])
def test_bad_variances_are_refused(function, var: np.ndarray, message: str) -> None:
    refused(message, function, var)


@pytest.mark.parametrize(
    ("scores", "positive", "message"),
    [
        ([], [], r"\(0,\)"),
        ([1.0, 2.0], [True], "1 entries for 2 nodes"),
        ([1.0, NAN], [True, False], "1 NaN or infinite"),
        ([1.0, INF], [True, False], "1 NaN or infinite"),
        ([[1.0, 2.0]], [True, False], r"\(1, 2\)"),
        ([1.0, 2.0], [0, 2], "true or false, got 0 to 2"),
        ([1.0, 2.0], [True, True], "got 2 positive of 2"),
        ([1.0, 2.0], [False, False], "got 0 positive of 2"),
        (np.ma.MaskedArray([1.0, 2.0], [0, 1]), [True, False], "1 masked"),
    ],
)
@pytest.mark.parametrize(
    "function",
    [metrics.auroc, metrics.aupr, metrics.fpr_at_95, metrics.roc, metrics.precision_recall],
)
def test_bad_detection_inputs_are_refused(function, scores, positive, message: str) -> None:
    refused(message, function, scores, positive)


@pytest.mark.parametrize(
    ("uncertainty", "correct", "message"),
    [
        ([], [], r"\(0,\)"),
        ([0.1, 0.2], [True], "1 entries for 2 nodes"),
        ([0.1, NAN], [True, False], "1 NaN or infinite"),
        ([0.1, 0.2], [0.5, 1.0], "true or false, got 0.5 to 1"),
        (np.ma.MaskedArray([0.1, 0.2], [0, 1]), [True, False], "1 masked"),
    ],
)
def test_bad_risk_coverage_inputs_are_refused(uncertainty, correct, message: str) -> None:
    refused(message, metrics.risk_coverage, uncertainty, correct)


@pytest.mark.parametrize("coverage", [0, -0.5, 1.01, NAN])
def test_a_coverage_that_is_no_share_is_refused(coverage: float) -> None:
    curve = metrics.risk_coverage(np.array([0.1, 0.2]), np.array([True, False]))
    refused(f"got {coverage}", curve.accuracy_at, coverage)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2, 3], [1, 2], r"\(3,\) and \(2,\)"),
        ([[1, 2, 3]], [[1, 2, 3]], r"\(1, 3\)"),
        ([1, 2], [2, 1], "got 2 that are not masked"),
        (
            np.ma.MaskedArray([1, 2, 3, 4], [1, 0, 0, 0]),
            np.ma.MaskedArray([1, 2, 3, 4], [0, 1, 0, 0]),
            "got 2 that",
        ),
        ([1, 2, 3], [5, 5, 5], "y must vary, got 5 for all 3"),
        (
            np.ma.MaskedArray([5, 5, 5, 1], [0, 0, 0, 1]),
            [1, 2, 3, 4],
            "x must vary, got 5 for all 3",
        ),
        ([1, 2, NAN], [1, 2, 3], "x must be finite, got 1 NaN"),
        ([1, 2, 3], [1, 2, INF], "y must be finite, got 1 NaN"),
        (["a", "b", "c"], [1, 2, 3], "x must be real numbers"),
    ],
)
def test_bad_pairs_are_refused(x, y, message: str) -> None:
    refused(message, metrics.spearman, x, y)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"resamples": 0}, "resamples must be a whole number of at least 1, got 0"),
        ({"level": 1.0}, "level must be between 0 and 1, such as 0.95, got 1.0"),
        ({"level": 95}, "got 95"),
    ],
)
def test_bad_bootstrap_options_are_refused(option: dict, message: str) -> None:
    refused(message, metrics.spearman, [1, 2, 3], [3, 1, 2], **option)


def test_a_bootstrap_in_which_nothing_varied_is_refused() -> None:
    x = [0] * 99 + [1]
    constant = next(
        seed
        for seed in range(100)
        if 99 not in np.random.RandomState(seed).randint(100, size=100, dtype=np.int64)
    )
    refused("all of 1 resamples", metrics.spearman, x, range(100), resamples=1, seed=constant)
