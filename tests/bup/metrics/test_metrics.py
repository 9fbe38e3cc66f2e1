from __future__ import annotations

import netcal.metrics
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, multivariate_normal, rankdata, spearmanr
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    log_loss,
    roc_auc_score,
    roc_curve,
)

import bup
from bup import metrics
from bup.metrics import METRICS, SMALLEST, correlation

SEEDS = range(8)
CLOSE = 1e-6

quick = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def predictions(seed: int, nodes: int = 300, classes: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities that lean towards the true class, none of them tied."""
    random = np.random.RandomState(seed)
    labels = np.append(np.arange(classes), random.randint(classes, size=nodes - classes))
    scores = random.randn(nodes, classes) * random.uniform(0.5, 3)
    scores[np.arange(nodes), labels] += 1.5
    probs = np.exp(scores)
    return probs / probs.sum(axis=1, keepdims=True), labels


def tenths(seed: int, nodes: int = 200, classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities that are whole tenths: every confidence lies on the edge of a bin."""
    random = np.random.RandomState(seed)
    probs = random.multinomial(10, random.dirichlet(np.ones(classes)), size=nodes) / 10
    return probs, random.randint(classes, size=nodes)


def detection(seed: int, ties: bool) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    positive = random.rand(200) < 0.3
    positive[:2] = True, False
    scores = random.randn(200) + positive
    return (scores.round() if ties else scores), positive


def test_errors_by_groups_cancel_within_a_group_and_not_between():
    probs = np.array([[0.8, 0.2]] * 4)
    labels = np.array([0, 1, 0, 0])  # right: 1, 0, 1, 1
    found = metrics.grouped_calibration_error(probs, labels, np.array([3, 3, 1, 2]), groups=2)
    assert found == pytest.approx((abs(0.5 - 0.8) * 2 + abs(1 - 0.8) * 2) / 4)
    assert metrics.grouped_calibration_error(probs, labels, labels, 1) == pytest.approx(0.05)


def test_scores_of_a_node_match_arithmetic() -> None:
    probs = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])
    assert metrics.confidence(probs) == pytest.approx([0.5, 1.0])
    # deviations from 1/3 in thirtieths: 5, -1, -4
    assert metrics.prob_std(probs)[0] == pytest.approx(np.sqrt((25 + 1 + 16) / 3) / 30)
    assert metrics.prob_std(probs)[1] == pytest.approx(np.sqrt(2) / 3)
    entropy = -(0.5 * np.log(0.5) + 0.3 * np.log(0.3) + 0.2 * np.log(0.2))
    assert metrics.predictive_entropy(probs) == pytest.approx([entropy, 0])
    assert metrics.message_std(np.array([[4.0, 9.0], [1.0, 0.25]])) == pytest.approx([2.5, 0.75])


@pytest.mark.parametrize("seed", SEEDS)
def test_message_entropy_is_that_of_the_gaussian(seed: int) -> None:
    var = np.random.RandomState(seed).gamma(1, size=(4, 3)) + 1e-3
    expected = [multivariate_normal(cov=np.diag(row)).entropy() for row in var]
    assert metrics.message_entropy(var) == pytest.approx(expected, abs=CLOSE)


def test_calibration_of_four_nodes_matches_arithmetic() -> None:
    probs = np.array([[0.62, 0.38], [0.68, 0.32], [0.05, 0.95], [0.85, 0.15]])
    labels = np.array([0, 1, 1, 1])
    bins = metrics.reliability_bins(probs, labels)
    assert bins.count.tolist() == [0, 0, 0, 0, 0, 0, 2, 0, 1, 1]
    assert bins.member.tolist() == [6, 6, 9, 8]
    assert bins.confidence[[6, 8, 9]] == pytest.approx([0.65, 0.85, 0.95])
    assert bins.accuracy[[6, 8, 9]] == pytest.approx([0.5, 0, 1])
    assert bins.gap[[6, 8, 9]] == pytest.approx([-0.15, -0.85, 0.05])
    for column in (bins.confidence, bins.accuracy, bins.low, bins.high):
        assert np.isnan(column).tolist() == (bins.count == 0).tolist()
    assert metrics.accuracy(probs, labels) == 0.5
    ece = metrics.expected_calibration_error(probs, labels)
    assert ece == pytest.approx((2 * 0.15 + 0.85 + 0.05) / 4)
    ace = metrics.average_calibration_error(probs, labels)
    assert ace == pytest.approx((0.15 + 0.85 + 0.05) / 3)
    brier = 2 * (0.38**2 + 0.68**2 + 0.05**2 + 0.85**2) / 4
    assert metrics.brier_score(probs, labels) == pytest.approx(brier)
    nll = -np.log(0.62 * 0.32 * 0.95 * 0.15) / 4
    assert metrics.negative_log_likelihood(probs, labels) == pytest.approx(nll)


def test_class_errors_of_four_nodes_match_arithmetic() -> None:
    probs = np.array([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6], [0.2, 0.8]])
    labels = np.array([0, 1, 0, 1])
    # class 0, halves by mass: {0.2, 0.4} with 1 of 2, {0.7, 0.9} with 1 of 2; class 1 mirrors it
    adaptive = metrics.adaptive_calibration_error(probs, labels, bins=2)
    assert adaptive == pytest.approx((abs(0.3 - 0.5) + abs(0.8 - 0.5)) / 2)
    # class 0, thirds by width: {0.2} with 0, {0.4} with 1, {0.7, 0.9} with 1 of 2
    classwise = metrics.classwise_calibration_error(probs, labels, bins=3)
    zero = (0.2 + 0.6 + 2 * 0.3) / 4
    # class 1: {0.1, 0.3} with 1 of 2, {0.6} with 0, {0.8} with 1
    one = (2 * 0.3 + 0.6 + 0.2) / 4
    assert classwise == pytest.approx((zero + one) / 2)


@pytest.mark.parametrize("bins", [1, 7, 10])
@pytest.mark.parametrize("draw", [predictions, tenths])
@pytest.mark.parametrize("seed", SEEDS)
def test_top_label_errors_agree_with_netcal(seed: int, draw, bins: int) -> None:
    probs, labels = draw(seed)
    # Given one column, netcal takes it for the confidence and the labels for hits.
    top, hit = probs.max(axis=1), (probs.argmax(axis=1) == labels).astype(int)
    ece, ace = (
        netcal.metrics.ECE(bins).measure(top, hit),
        netcal.metrics.ACE(bins).measure(top, hit),
    )
    assert metrics.expected_calibration_error(probs, labels, bins) == pytest.approx(ece, abs=CLOSE)
    assert metrics.average_calibration_error(probs, labels, bins) == pytest.approx(ace, abs=CLOSE)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_whole_table_of_probabilities_agrees_with_netcal(kind: type) -> None:
    probs, labels = predictions(3, nodes=2000, classes=7)
    probs = probs.astype(kind)
    ece, ace = (m(10).measure(probs, labels) for m in (netcal.metrics.ECE, netcal.metrics.ACE))
    assert metrics.expected_calibration_error(probs, labels) == pytest.approx(ece, abs=CLOSE)
    assert metrics.average_calibration_error(probs, labels) == pytest.approx(ace, abs=CLOSE)


@pytest.mark.parametrize("seed", SEEDS)
def test_class_errors_agree_with_netcal_class_by_class(seed: int) -> None:
    # 47 nodes in ten bins: bins of equal mass differ in size, so that weighting them would show.
    probs, labels = predictions(seed, nodes=47)
    one_of = [(probs[:, c], (labels == c).astype(int)) for c in range(probs.shape[1])]
    adaptive = np.mean([netcal.metrics.ACE(10, equal_intervals=False).measure(*a) for a in one_of])
    classwise = np.mean([netcal.metrics.ECE(10).measure(*a) for a in one_of])
    assert metrics.adaptive_calibration_error(probs, labels) == pytest.approx(adaptive, abs=CLOSE)
    assert metrics.classwise_calibration_error(probs, labels) == pytest.approx(classwise, abs=CLOSE)


def test_a_confidence_on_an_edge_belongs_to_the_upper_bin_and_one_to_the_last() -> None:
    probs = np.array([[0.5, 0.5], [0.75, 0.25], [1.0, 0.0], [0.74, 0.26]])
    bins = metrics.reliability_bins(probs, np.zeros(4, dtype=int), bins=4)
    assert bins.member.tolist() == [2, 3, 3, 2]
    assert bins.edges.tolist() == [0, 0.25, 0.5, 0.75, 1]


@pytest.mark.parametrize("scheme", ["width", "mass"])
@pytest.mark.parametrize("draw", [predictions, tenths])
@quick
@given(seed=seeds, bins=st.integers(1, 25))
def test_bins_match_a_slow_loop(draw, scheme: str, seed: int, bins: int) -> None:
    probs, labels = draw(seed, nodes=60)
    result = metrics.reliability_bins(probs, labels, bins, scheme)
    top, hit = probs.max(axis=1), probs.argmax(axis=1) == labels
    assert len(result.edges) == bins + 1
    assert result.edges[0] == 0 and result.edges[-1] == 1
    for b, (start, end) in enumerate(zip(result.edges, result.edges[1:], strict=False)):
        last = b == bins - 1
        inside = [i for i in range(60) if start <= top[i] and (top[i] < end or last)]
        assert np.flatnonzero(result.member == b).tolist() == inside
        assert result.count[b] == len(inside)
        if inside:
            assert result.confidence[b] == pytest.approx(sum(top[inside]) / len(inside))
            assert result.accuracy[b] == pytest.approx(sum(hit[inside]) / len(inside))
            wilson = binomtest(int(sum(hit[inside])), len(inside)).proportion_ci(method="wilson")
            assert (result.low[b], result.high[b]) == pytest.approx(tuple(wilson), abs=1e-9)
            assert 0 <= result.low[b] <= result.accuracy[b] <= result.high[b] <= 1


@quick
@given(seed=seeds, bins=st.integers(1, 12))
def test_bins_of_equal_mass_differ_by_two_nodes_at_most(seed: int, bins: int) -> None:
    probs, labels = predictions(seed, nodes=101)
    count = metrics.reliability_bins(probs, labels, bins, "mass").count
    assert count.sum() == 101
    assert count.max() - count.min() <= 2


def test_equal_confidences_share_a_bin_of_equal_mass() -> None:
    probs = np.array([[0.6, 0.4]] * 6 + [[0.9, 0.1]] * 2)
    bins = metrics.reliability_bins(probs, np.array([0, 1, 0, 1, 0, 1, 0, 0]), 4, "mass")
    assert sorted(bins.count.tolist()) == [0, 0, 2, 6]
    assert len(set(bins.member[:6])) == len(set(bins.member[6:])) == 1


@quick
@given(seed=seeds)
def test_the_order_of_nodes_and_of_classes_changes_nothing(seed: int) -> None:
    probs, labels = predictions(seed, nodes=80)
    before = metrics.summary(probs, labels, bins=6)
    random = np.random.RandomState(seed)
    nodes = random.permutation(80)
    assert metrics.summary(probs[nodes], labels[nodes], bins=6) == pytest.approx(before)
    classes = random.permutation(probs.shape[1])
    renamed = np.argsort(classes)[labels]
    assert metrics.summary(probs[:, classes], renamed, bins=6) == pytest.approx(before)


@quick
@given(seed=seeds)
def test_node_order_changes_nothing_where_confidences_tie(seed: int) -> None:
    probs, labels = tenths(seed, nodes=50)
    order = np.random.RandomState(seed).permutation(50)
    before = metrics.summary(probs, labels)
    assert metrics.summary(probs[order], labels[order]) == pytest.approx(before)


def test_nodes_that_are_right_as_often_as_they_say_have_no_error() -> None:
    probs = np.array([[0.75, 0.25]] * 4)
    labels = np.array([0, 0, 0, 1])
    for error in ("ece", "ace", "adaptive_ace", "classwise_ece"):
        assert metrics.summary(probs, labels)[error] == pytest.approx(0)


def test_certain_and_wrong_is_the_worst_there_is() -> None:
    result = metrics.summary(np.array([[1.0, 0.0]] * 3), np.array([1, 1, 1]))
    assert result["accuracy"] == 0
    assert result["ece"] == result["ace"] == result["adaptive_ace"] == result["classwise_ece"] == 1
    assert result["brier"] == 2
    assert result["nll"] == pytest.approx(-np.log(SMALLEST))


@pytest.mark.parametrize("draw", [predictions, tenths])
@pytest.mark.parametrize("seed", SEEDS)
def test_proper_scores_agree_with_scikit_learn(seed: int, draw) -> None:
    probs, labels = draw(seed)
    classes = np.arange(probs.shape[1])
    nll, brier = (score(labels, probs, labels=classes) for score in (log_loss, brier_score_loss))
    assert metrics.negative_log_likelihood(probs, labels) == pytest.approx(nll, abs=CLOSE)
    assert metrics.brier_score(probs, labels) == pytest.approx(brier, abs=CLOSE)


def test_rounding_in_float32_is_forgiven() -> None:
    probs, labels = predictions(1, nodes=1000, classes=7)
    # The last rounding of a float32 softmax can end just above 1.
    rounded = np.vstack([probs.astype(np.float32), np.eye(7, dtype=np.float32)[:1] * 1.0000001])
    result = metrics.summary(rounded, np.append(labels, 0))
    exact = metrics.summary(np.vstack([probs, np.eye(7)[:1]]), np.append(labels, 0))
    assert result == pytest.approx(exact, abs=CLOSE)
    assert metrics.confidence(rounded).max() == 1


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_detection_agrees_with_scikit_learn_and_with_counting(seed: int, ties: bool) -> None:
    scores, positive = detection(seed, ties)
    assert metrics.auroc(scores, positive) == pytest.approx(roc_auc_score(positive, scores))
    assert metrics.aupr(scores, positive) == pytest.approx(
        average_precision_score(positive, scores)
    )
    ahead = scores[positive][:, None] - scores[~positive][None, :]
    assert metrics.auroc(scores, positive) == pytest.approx(
        (ahead > 0).mean() + (ahead == 0).mean() / 2
    )
    false_rate, true_rate, _ = roc_curve(positive, scores, drop_intermediate=False)
    first = next(f for f, t in zip(false_rate, true_rate, strict=True) if t >= 0.95)
    assert metrics.fpr_at_95(scores, positive) == pytest.approx(first)
    for threshold in sorted(set(scores), reverse=True):
        if (scores[positive] >= threshold).mean() >= 0.95:
            break
    assert metrics.fpr_at_95(scores, positive) == (scores[~positive] >= threshold).mean()


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_curves_hold_the_rates_at_their_thresholds_and_the_areas(seed: int, ties: bool) -> None:
    scores, positive = detection(seed, ties)
    curve = metrics.roc(scores, positive)
    for i, threshold in enumerate(curve.threshold):
        assert curve.false_positive_rate[i] == (scores[~positive] >= threshold).mean()
        assert curve.true_positive_rate[i] == (scores[positive] >= threshold).mean()
    area = np.trapezoid(curve.true_positive_rate, curve.false_positive_rate)
    assert area == pytest.approx(metrics.auroc(scores, positive))
    line = metrics.precision_recall(scores, positive)
    assert line.threshold[-1] == np.inf and line.precision[-1] == 1 and line.recall[-1] == 0
    assert line.recall[0] == 1
    for i, threshold in enumerate(line.threshold[:-1]):
        flagged = scores >= threshold
        assert line.precision[i] == pytest.approx(positive[flagged].mean())
        assert line.recall[i] == pytest.approx(flagged[positive].mean())
    area = -np.diff(line.recall) @ line.precision[:-1]
    assert area == pytest.approx(metrics.aupr(scores, positive))


def test_detection_of_a_tiny_case_matches_arithmetic() -> None:
    scores, positive = np.array([4.0, 3.0, 2.0, 1.0]), np.array([1, 0, 1, 0])
    assert metrics.auroc(scores, positive) == 3 / 4
    assert metrics.aupr(scores, positive) == pytest.approx((1 + 2 / 3) / 2)
    assert metrics.fpr_at_95(scores, positive) == 1 / 2


def test_nineteen_of_twenty_are_95_percent() -> None:
    scores = np.append(np.arange(20, 0, -1), [1.5, 0.5])
    positive = np.append(np.ones(20, dtype=bool), [False, False])
    assert metrics.fpr_at_95(scores, positive) == 0


def test_fpr_at_95_sees_thresholds_inside_a_straight_piece_of_the_curve() -> None:
    # Each positive node ties with one other: the curve is the diagonal, and has no inner corner.
    scores, positive = np.repeat(np.arange(40), 2), np.tile([True, False], 40)
    assert metrics.fpr_at_95(scores, positive) == 0.95
    assert len(metrics.roc(scores, positive).threshold) < 40


@quick
@given(seed=seeds, ties=st.booleans(), nodes=st.integers(1, 40))
def test_risk_coverage_matches_a_slow_loop(seed: int, ties: bool, nodes: int) -> None:
    random = np.random.RandomState(seed)
    uncertainty = random.randint(6, size=nodes) if ties else random.rand(nodes)
    correct = random.rand(nodes) < 0.7
    curve = metrics.risk_coverage(uncertainty, correct)
    coverage, risk, area = [], [], 0.0
    for threshold in sorted(set(uncertainty.tolist())):
        kept = [i for i in range(nodes) if uncertainty[i] <= threshold]
        coverage.append(len(kept) / nodes)
        risk.append(sum(not correct[i] for i in kept) / len(kept))
        area += risk[-1] * sum(uncertainty == threshold) / nodes
    assert curve.threshold.tolist() == sorted(set(uncertainty.tolist()))
    assert curve.coverage == pytest.approx(coverage)
    assert curve.risk == pytest.approx(risk)
    assert curve.area == pytest.approx(area)
    order = random.permutation(nodes)
    assert metrics.risk_coverage(uncertainty[order], correct[order]).area == pytest.approx(area)


def test_risk_coverage_of_a_tiny_case_matches_arithmetic() -> None:
    curve = metrics.risk_coverage(
        np.array([0.1, 0.2, 0.3, 0.4]), np.array([True, True, False, True])
    )
    assert curve.risk == pytest.approx([0, 0, 1 / 3, 1 / 4])
    assert curve.area == pytest.approx((0 + 0 + 1 / 3 + 1 / 4) / 4)
    assert curve.accuracy_at(0.5) == 1
    assert curve.accuracy_at(0.51) == pytest.approx(2 / 3)
    assert curve.accuracy_at(1) == 0.75


def test_accuracy_at_a_coverage_ignores_the_last_bit_of_a_share() -> None:
    correct = np.arange(10) < 3
    assert metrics.risk_coverage(np.arange(10), correct).accuracy_at(0.1 + 0.2) == 1


def test_an_uncertainty_that_ties_everywhere_has_the_error_rate_as_its_area() -> None:
    curve = metrics.risk_coverage(np.zeros(5), np.array([True, False, False, True, True]))
    assert curve.coverage.tolist() == [1]
    assert curve.area == pytest.approx(0.4)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ties", [False, True])
def test_spearman_agrees_with_scipy(seed: int, ties: bool) -> None:
    random = np.random.RandomState(seed)
    x = random.geometric(0.3, size=150) if ties else random.randn(150)
    y = random.randn(150).round(1) - 0.3 * x
    result = metrics.spearman(x, y, resamples=100)
    assert result.value == pytest.approx(spearmanr(x, y).statistic, abs=CLOSE)
    assert result.low < result.value < result.high
    assert result.count == 150


@pytest.mark.parametrize("ties", [False, True])
def test_the_bootstrap_matches_ranking_every_resample_with_scipy(ties: bool) -> None:
    random = np.random.RandomState(4)
    x, y = random.rand(2, 25)
    if ties:
        x, y = (x * 5).round(), (y * 4).round()
    result = metrics.spearman(x, y, resamples=200, seed=9, level=0.8)
    stream = np.random.RandomState(9)
    picks = [stream.randint(25, size=25, dtype=np.int64) for _ in range(200)]
    drawn = [np.corrcoef(rankdata(x[pick]), rankdata(y[pick]))[0, 1] for pick in picks]
    assert (result.low, result.high) == pytest.approx(tuple(np.quantile(drawn, [0.1, 0.9])))


def test_the_interval_of_unrelated_values_is_as_wide_as_theory_says() -> None:
    x, y = np.random.RandomState(0).randn(2, 2000)
    result = metrics.spearman(x, y)
    assert result.high - result.low == pytest.approx(2 * 1.96 / np.sqrt(1999), rel=0.1)


def test_the_seed_alone_decides_the_interval() -> None:
    x, y = np.random.RandomState(0).randn(2, 50)
    np.random.seed(1)
    state = np.random.get_state()[1].copy()
    first = metrics.spearman(x, y, resamples=50, seed=3)
    assert (np.random.get_state()[1] == state).all()
    np.random.seed(2)
    assert metrics.spearman(x, y, resamples=50, seed=3) == first
    assert metrics.spearman(x, y, resamples=50, seed=4) != first


def test_masked_pairs_are_left_out_of_spearman() -> None:
    x = np.ma.MaskedArray([1, 2, np.nan, 4, 5, 6], [0, 0, 1, 0, 0, 0])
    y = np.ma.MaskedArray([2, 1, 3, 5, 4, -9], [0, 0, 0, 0, 0, 1])
    plain = metrics.spearman(np.array([1, 2, 4, 5]), np.array([2, 1, 5, 4]))
    assert plain.value == pytest.approx(0.6) and plain.count == 4
    assert metrics.spearman(x, y) == plain


def test_resamples_without_variation_are_left_out_of_the_interval() -> None:
    result = metrics.spearman(np.array([1, 2, 3]), np.array([1, 2, 3]))
    assert (result.value, result.low, result.high) == (1, 1, 1)


@quick
@given(seed=seeds)
def test_spearman_sees_only_the_order(seed: int) -> None:
    x, y = np.random.RandomState(seed).randn(2, 30)
    before = metrics.spearman(x, y, resamples=20)
    assert metrics.spearman(np.exp(x), y**3, resamples=20) == before
    turned = metrics.spearman(-x, y, resamples=20)
    assert (turned.value, turned.low, turned.high) == pytest.approx(
        (-before.value, -before.high, -before.low)
    )


def test_every_summary_key_is_in_the_table() -> None:
    probs, labels = predictions(0)
    result = metrics.summary(probs, labels)
    assert result.keys() <= METRICS.keys()
    assert all(type(value) is float for value in result.values())
    for key, metric in METRICS.items():
        assert metric.key == key


@pytest.mark.parametrize("key", ["accuracy", "ece", "ace", "adaptive_ace", "nll", "brier"])
def test_the_table_says_rightly_which_way_is_better(key: str) -> None:
    labels = np.array([0, 1, 2])
    good = metrics.summary(np.eye(3), labels)[key]
    bad = metrics.summary(np.roll(np.eye(3), 1, axis=1), labels)[key]
    assert (good > bad) is METRICS[key].higher_is_better


def test_the_interval_of_many_pairs_is_that_of_resampling(monkeypatch):
    random = np.random.RandomState(0)
    x = random.poisson(4, 4000)
    y = 0.3 * x + random.randn(4000)
    slow = metrics.spearman(x, y)
    monkeypatch.setattr(correlation, "MANY", 3000)
    quick = metrics.spearman(x, y)
    assert quick.value == slow.value and quick.count == 4000
    assert np.allclose([quick.low, quick.high], [slow.low, slow.high], atol=0.006)
    assert metrics.spearman(x, x).value == 1
    with pytest.raises(bup.BupError, match="constant"):
        metrics.spearman(x, np.ones(4000))
