"""Intervals, paired tests and numbers of reruns, held against SciPy and against simulation."""

import numpy as np
import pytest
from scipy import stats

from bup.metrics.comparison import MOST_RERUNS, holm, paired, power, reruns_to_settle


@pytest.mark.parametrize("reruns", [2, 5, 30])
def test_the_paired_test_and_its_interval_are_scipys(reruns):
    random = np.random.default_rng(reruns)
    ours, theirs = random.normal(0.5, size=reruns), random.normal(size=reruns)
    found, oracle = paired(ours - theirs), stats.ttest_rel(ours, theirs)
    assert found.p == pytest.approx(oracle.pvalue)
    interval = oracle.confidence_interval(0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx((interval.low, interval.high))


def test_what_a_test_cannot_say():
    assert np.isnan(paired([1.0]).p) and np.isnan(paired([1.0]).interval.low)
    assert paired([0.0, 0.0]).p == 1 and paired([2.0, 2.0]).p == 0
    assert reruns_to_settle(paired([1.0])) is None and reruns_to_settle(paired([0.0, 0.0])) is None


def test_holm_by_hand_and_against_its_promise():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    found = holm([0.02, np.nan, 0.5])
    assert found[0] == pytest.approx(0.04) and np.isnan(found[1]) and found[2] == 0.5
    assert holm([0.9, 0.8]).max() == 1 and len(holm([])) == 0
    # Twenty comparisons of nothing: some alarm in at most one table of twenty.
    tables = np.random.default_rng(0).uniform(size=(4000, 20))
    alarms = np.mean([(holm(p) < 0.05).any() for p in tables])
    assert 0.035 < alarms < 0.06 < np.mean((tables < 0.05).any(axis=1))


def test_power_is_how_often_the_test_finds_what_is_there():
    draws = np.random.default_rng(1).normal(0.7, 1, size=(20_000, 12))
    seen = np.mean(stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05)
    assert power(0.7, 12) == pytest.approx(seen, abs=0.01)


def test_the_fewest_reruns_that_would_settle_a_difference():
    values = [1.0, -0.5, 0.9, 0.2]
    found = paired(values)
    effect = found.mean / found.std
    needed = reruns_to_settle(found)
    assert power(effect, needed) >= 0.8 > power(effect, needed - 1)
    assert reruns_to_settle(paired([-v for v in values])) == needed
    assert reruns_to_settle(found, comparisons=40) > needed
    assert reruns_to_settle(paired([1.0, -1.0, 1e-6])) is None and MOST_RERUNS >= 100
