import numpy as np
import pytest

from bup import metrics


def test_bootstrap_intervals_are_those_of_resamples_measured_one_by_one():
    random = np.random.RandomState(1)
    probs = random.dirichlet(np.ones(4), 80)
    labels = random.randint(4, size=80)
    found = metrics.bootstrap_intervals(probs, labels, bins=7, resamples=40, seed=5)
    again = np.random.RandomState(5)
    rows = []
    for _ in range(40):
        pick = again.randint(80, size=80)
        rows.append(metrics.summary(probs[pick], labels[pick], 7))
    measured = metrics.summary(probs, labels, 7)
    assert set(found) == {"accuracy", "ece", "nll", "brier"}
    for key, interval in found.items():
        draws = np.array([row[key] for row in rows])
        moved = draws - np.median(draws) + measured[key]
        low, high = np.quantile(moved, [0.025, 0.975])
        assert interval.low == pytest.approx(max(low, 0))
        assert interval.high == pytest.approx(high if key in ("nll", "brier") else min(high, 1))
        assert interval.low <= measured[key] <= interval.high


def test_a_perfect_run_keeps_its_intervals_within_the_possible():
    found = metrics.bootstrap_intervals(np.eye(2)[[0, 1, 0]], np.array([0, 1, 0]))
    assert found["accuracy"] == metrics.Interval(1, 1)
    assert found["ece"] == metrics.Interval(0, 0)
