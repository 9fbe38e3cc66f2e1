import numpy as np
import pytest

from bup import metrics
from bup.metrics.conformal import conformal_sets
from dashboard.figures import reliability
from tests.support.figures import LIGHT, labelled_probs, named, two_bins


def test_the_reliability_diagram_shows_what_the_bins_hold():
    bins = two_bins()
    figure = reliability.reliability_figure(bins, LIGHT, "mine")
    points = named(figure, "mine")
    np.testing.assert_allclose(points.x, [0.7, 0.9])
    np.testing.assert_allclose(points.y, [0.75, 0.5])
    numbers = np.flatnonzero(bins.count)
    assert points.customdata.tolist() == numbers.tolist()
    np.testing.assert_allclose(points.y + points.error_y.array, bins.high[numbers])
    np.testing.assert_allclose(points.y - points.error_y.arrayminus, bins.low[numbers])
    accuracy, count = (t for t in figure.data if t.type == "bar" and t.name is None)
    assert accuracy.y.tolist() == [0.75, 0.5] and count.y.tolist() == [4, 2]
    assert list(count.text) == ["4", "2"]
    for bar in (accuracy, count):
        assert bar.customdata.tolist() == numbers.tolist()
        np.testing.assert_allclose(bar.x, bins.edges[numbers])
        np.testing.assert_allclose(bar.x + bar.width, bins.edges[numbers + 1])


def test_the_gap_is_shaded_from_accuracy_to_confidence_and_hatched_by_its_sign():
    figure = reliability.reliability_figure(two_bins(), LIGHT)
    modest, boastful = named(figure, "not confident enough"), named(figure, "too confident")
    np.testing.assert_allclose([modest.base[0], modest.base[0] + modest.y[0]], [0.7, 0.75])
    np.testing.assert_allclose([boastful.base[0], boastful.base[0] + boastful.y[0]], [0.5, 0.9])
    assert modest.marker.pattern.shape != boastful.marker.pattern.shape


def test_empty_bins_have_no_point_no_bar_and_no_number():
    figure = reliability.reliability_figure(two_bins(), LIGHT)
    for trace in figure.data:
        if trace.type == "bar" or trace.customdata is not None:
            assert len(trace.x) <= 2 and np.isfinite(np.asarray(trace.y, float)).all()


def test_a_second_run_is_drawn_over_the_first_but_cannot_be_clicked(run, rival, cora):
    mine, theirs = (metrics.reliability_bins(*labelled_probs(r, cora), 10) for r in (run, rival))
    figure = reliability.reliability_figure(mine, LIGHT, "a", (theirs, "b"))
    other = named(figure, "b")
    full = theirs.count > 0
    np.testing.assert_allclose(other.x, theirs.confidence[full])
    np.testing.assert_allclose(other.y, theirs.accuracy[full])
    assert other.customdata is None
    assert other.marker.symbol != named(figure, "a").marker.symbol
    outline = figure.data[-1]
    assert np.asarray(outline.y)[1:-1:2].tolist() == theirs.count.tolist()


def test_bins_of_equal_mass_may_have_no_width():
    probs = np.array([[1.0, 0.0]] * 9 + [[0.6, 0.4]])
    bins = metrics.reliability_bins(probs, np.zeros(10, int), 4, "mass")
    points = named(reliability.reliability_figure(bins, LIGHT, "mine"), "mine")
    assert points.y.tolist() == [1] * np.count_nonzero(bins.count)


def test_the_confidence_histogram_counts_every_node_once(run, cora):
    probs, targets = labelled_probs(run, cora)
    confidence, hit = metrics.confidence(probs), metrics.hits(probs, targets)
    figure = reliability.confidence_histogram(confidence, hit, LIGHT)
    assert named(figure, "right").y.sum() == hit.sum()
    assert named(figure, "wrong").y.sum() == (~hit).sum()
    assert named(figure, "wrong").marker.pattern.shape
    where = {a.text.rsplit(" ", 1)[0]: a.x for a in figure.layout.annotations}
    assert where == pytest.approx({"mean confidence": confidence.mean(), "accuracy": hit.mean()})


@pytest.mark.parametrize("sure, right", [(0.9, 0.5), (0.5, 0.9), (0.1, 0.3), (0.3, 0.1), (1, 1)])
def test_no_line_of_the_confidence_histogram_crosses_a_label(sure, right):
    figure = reliability.confidence_histogram(np.full(10, sure), np.arange(10) < 10 * right, LIGHT)
    upper, lower = sorted(figure.layout.annotations, key=lambda a: a.ay)
    assert upper.ay < lower.ay - LIGHT.font_size
    assert upper.xanchor == lower.xanchor
    # The lower label lies on the far side of the upper label's line.
    assert upper.x >= lower.x if lower.xanchor == "right" else upper.x <= lower.x


def test_the_set_size_figure_counts_every_node_once(run, cora):
    sets = conformal_sets(run.probs, cora, run.split)
    nodes = run.split.test[~run.split.is_ood(cora.labels[run.split.test])]
    targets = run.split.targets(cora.labels[nodes])
    covered = sets.member[nodes, targets]
    figure = reliability.set_size_figure(sets.size[nodes], covered, 6, LIGHT)
    inside, outside = named(figure, "contains the true class"), named(figure, "misses it")
    assert inside.y.sum() == covered.sum() and outside.y.sum() == (~covered).sum()
    assert inside.x.tolist() == list(range(7)) and inside.y[0] == 0
    mean = (inside.x * (inside.y + outside.y)).sum() / len(nodes)
    assert mean == pytest.approx(sets.size[nodes].mean())


def test_the_risk_coverage_figure_marks_the_chosen_coverage(run, rival, cora):
    curves = []
    for result in (run, rival):
        probs, targets = labelled_probs(result, cora)
        curves.append(
            metrics.risk_coverage(1 - metrics.confidence(probs), metrics.hits(probs, targets))
        )
    figure = reliability.risk_coverage_figure(curves[0], 0.6, LIGHT, "a", (curves[1], "b"))
    lines, marks = figure.data[::2], figure.data[1::2]
    for curve, line, mark, name in zip(curves, lines, marks, "ab", strict=True):
        np.testing.assert_allclose(line.x, curve.coverage)
        np.testing.assert_allclose(line.y, 1 - curve.risk)
        assert (mark.x[0], mark.y[0]) == (0.6, curve.accuracy_at(0.6))
        assert line.name == f"{name}: {curve.accuracy_at(0.6):.1%} right"


def test_a_constant_uncertainty_gives_a_single_visible_point():
    curve = metrics.risk_coverage(np.zeros(4), np.array([True, True, True, False]))
    line, mark = reliability.risk_coverage_figure(curve, 0.5, LIGHT).data
    assert line.x.tolist() == [1] and "markers" in line.mode
    assert mark.y[0] == 0.75
