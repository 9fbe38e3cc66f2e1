import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import bup
from bup import metrics
from bup.conformal import conformal_sets
from bup.errors import BupError
from bup.inspection import inspect
from bup.propagation import RULES, Shares
from bup.results import evaluate, node_table
from dashboard.figures import classes, compare, node, ood, reliability, structure, training
from dashboard.figures.reproduce import Dot, beside_published
from dashboard.theme import Theme

LIGHT = Theme()
NASTY = '<img src=x onerror="alert(1)"> & <b>bold</b>'


@pytest.fixture(scope="module")
def run(cora):
    return bup.fit(cora, epochs=25, left_out=[6])


@pytest.fixture(scope="module")
def rival(cora):
    return bup.fit(cora, method="gcn", epochs=25, left_out=[6])


def known(result, graph):
    nodes = result.split.test[~result.split.is_ood(graph.labels[result.split.test])]
    return result.probs[nodes], result.split.targets(graph.labels[nodes])


def named(figure, name):
    (trace,) = [t for t in figure.data if t.name == name]
    return trace


def texts(figure):
    """Every piece of text in a figure that plotly would read as markup."""
    found = []

    def walk(value, key=""):
        if isinstance(value, dict):
            for name, inner in value.items():
                walk(inner, name)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, key)
        elif isinstance(value, str) and key not in ("bdata", "dtype"):
            found.append(value)

    walk(json.loads(figure.to_json()))
    return found


def two_bins():
    """Four nodes of confidence 0.7, three right, and two of 0.9, one right; ten bins."""
    probs = np.array([[0.7, 0.3]] * 4 + [[0.9, 0.1]] * 2)
    return metrics.reliability_bins(probs, np.array([0, 0, 0, 1, 0, 1]), 10)


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
    mine, theirs = (metrics.reliability_bins(*known(r, cora), 10) for r in (run, rival))
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
    probs, targets = known(run, cora)
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
        probs, targets = known(result, cora)
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


@pytest.mark.parametrize("score", ["confidence", "message_entropy"])
def test_score_histograms_are_densities_of_the_test_nodes(run, cora, score):
    table = node_table(run, cora)
    figure = ood.score_histograms(table, score, LIGHT, bins=30)
    test = table[table.part == "test"]
    groups = {
        "known classes, right": test[~test.ood & test.correct.fillna(False)],
        "known classes, wrong": test[~test.ood & ~test.correct.fillna(True)],
        "left-out classes": test[test.ood],
    }
    assert [t.name for t in figure.data] == list(groups)
    for trace, group, note in zip(
        figure.data, groups.values(), figure.layout.annotations, strict=True
    ):
        assert (trace.y * trace.width).sum() == pytest.approx(1)
        edges = np.append(trace.x, trace.x[-1] + trace.width[-1])
        expected = np.histogram(group[score], edges, density=True)[0]
        np.testing.assert_allclose(trace.y, expected, atol=1e-9)
        assert f"{len(group):,} nodes, mean {group[score].mean():.3f}" in note.text
    assert len({t.marker.pattern.shape for t in figure.data}) == 3


def small_table(**columns):
    n = len(columns["confidence"])
    plain = {"part": ["test"] * n, "ood": [False] * n, "correct": [True] * n}
    table = pd.DataFrame(plain | columns)
    return table.astype({"correct": "boolean"})


def test_groups_without_a_node_have_no_panel():
    figure = ood.score_histograms(small_table(confidence=[0.2, 0.9]), "confidence", LIGHT)
    assert [t.name for t in figure.data] == ["known classes, right"]


def test_nodes_that_are_not_tested_are_not_drawn():
    table = small_table(confidence=[0.2, 0.9, 0.5], part=["train", "test", "unused"])
    assert "1 nodes" in ood.score_histograms(table, "confidence", LIGHT).layout.annotations[0].text


def test_a_constant_score_fills_one_bin():
    table = small_table(confidence=[0.5] * 4, correct=[True, False, True, False])
    for trace in ood.score_histograms(table, "confidence", LIGHT).data:
        assert np.count_nonzero(trace.y) == 1


def test_a_score_that_the_method_lacks_is_named(rival, cora):
    with pytest.raises(BupError, match="no score 'message_std': choose one of confidence, pred"):
        ood.score_histograms(node_table(rival, cora), "message_std", LIGHT)


def detection(run, cora, score):
    test = run.split.test
    return run.uncertainties()[score][test], run.split.is_ood(cora.labels[test])


@pytest.mark.parametrize("score", ["confidence", "message_std"])
def test_the_area_under_the_drawn_roc_is_the_auroc(run, cora, score):
    scores, out = detection(run, cora, score)
    area = metrics.auroc(scores, out)
    curve, guess = ood.roc_figure(metrics.roc(scores, out), LIGHT, area).data
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(area)
    assert curve.name == f"this score: AUROC {area:.1%}"
    assert np.trapezoid(guess.y, guess.x) == 0.5


def test_the_area_under_the_drawn_steps_is_the_average_precision(run, cora):
    scores, out = detection(run, cora, "confidence")
    figure = ood.precision_recall_figure(metrics.precision_recall(scores, out), out.mean(), LIGHT)
    curve, guess = figure.data
    assert curve.line.shape == "hv"
    # hv: from each point go sideways first, at that point's own height
    area = (curve.y[:-1] * -np.diff(curve.x)).sum()
    assert area == pytest.approx(metrics.aupr(scores, out))
    assert set(guess.y) == {out.mean()}


def test_constant_scores_are_guessing():
    out = np.array([True, False, False, False])
    roc = metrics.roc(np.ones(4), out)
    curve = ood.roc_figure(roc, LIGHT, metrics.auroc(np.ones(4), out)).data[0]
    assert np.trapezoid(curve.y, curve.x) == 0.5
    steps = ood.precision_recall_figure(metrics.precision_recall(np.ones(4), out), 0.25, LIGHT)
    assert (steps.data[0].y[:-1] * -np.diff(steps.data[0].x)).sum() == 0.25


values = st.floats(-100, 100, allow_subnormal=False)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_binned_medians_are_the_medians_of_nodes_with_neighbouring_x(data):
    n = data.draw(st.integers(1, 60))
    x = data.draw(arrays.arrays(float, n, elements=st.integers(0, 8).map(float)))
    y = data.draw(arrays.arrays(float, n, elements=values))
    found = structure.binned_medians(x, y, data.draw(st.integers(1, 10)))
    assert found.count.sum() == n
    assert (found.first[1:] > found.last[:-1]).all()  # equal x are never torn apart
    for first, last, count, middle, median, low, high in zip(
        found.first,
        found.last,
        found.count,
        found.x,
        found.median,
        found.low,
        found.high,
        strict=True,
    ):
        inside = (x >= first) & (x <= last)
        assert inside.sum() == count
        assert np.median(x[inside]) == middle and np.median(y[inside]) == median
        assert y[inside].min() <= low <= high <= y[inside].max()


@pytest.mark.parametrize("n", [1, 2, 3, 10, 41, 60])
def test_the_interval_of_a_median_is_that_of_resamples_really_drawn(n):
    random = np.random.RandomState(3)
    y = np.sort(random.randn(n))
    slow = np.median(y[random.randint(n, size=(40_000, n))], axis=1)
    quick = structure._resampled_medians(y, 40_000, random)
    at = np.unique(np.concatenate([slow, quick]))
    share = [np.searchsorted(np.sort(drawn), at, side="right") / 40_000 for drawn in (slow, quick)]
    # Kolmogorov and Smirnov's statistic of two samples this large stays below 0.0138 in 999 of 1000
    assert np.abs(share[0] - share[1]).max() < 0.0138


def test_nodes_without_a_value_are_left_out_of_the_scatter():
    x = np.ma.MaskedArray([1.0, 2.0, 3.0, 4.0], [False, True, False, False])
    y = np.array([5.0, 6.0, np.nan, 8.0])
    binned = structure.binned_medians(x, y, 1)
    figure = structure.against_figure(
        x, y, np.array([10, 11, 12, 13]), LIGHT, "x", "y", binned=binned
    )
    points, medians = figure.data
    assert points.customdata.tolist() == [10, 13] and points.y.tolist() == [5, 8]
    assert medians.y.tolist() == [6.5] and medians.x.tolist() == [2.5]
    with pytest.raises(BupError, match="nothing to draw"):
        structure.binned_medians(np.array([np.nan]), np.array([1.0]))


def test_intervals_of_the_scatter_reach_from_low_to_high(run, cora):
    degree, std = cora.degree, node_table(run, cora)["message_std"].to_numpy()
    binned = structure.binned_medians(degree, std)
    nodes = np.arange(cora.num_nodes)
    figure = structure.against_figure(degree, std, nodes, LIGHT, "x", "y", True, binned)
    points, medians = figure.data
    np.testing.assert_allclose(medians.y + medians.error_y.array, binned.high)
    np.testing.assert_allclose(medians.y - medians.error_y.arrayminus, binned.low)
    assert points.customdata.tolist() == nodes.tolist()
    assert figure.layout.xaxis.type == "log"


def test_the_factor_stands_above_the_learned_std_on_one_axis(run, rival, cora):
    nodes = np.arange(cora.num_nodes)
    rule = RULES["paper"].on(cora, RULES["paper"].settings_from(), ())
    factor, std = rule.factor, node_table(run, cora)["message_std"].to_numpy()
    figure = structure.factor_figure(cora.degree, factor, std, nodes, LIGHT)
    above, below = (t for t in figure.data if t.name == "nodes")
    np.testing.assert_allclose(above.y, factor)
    np.testing.assert_allclose(below.y, std)
    assert above.x.tolist() == below.x.tolist() == cora.degree.tolist()
    assert above.customdata.tolist() == below.customdata.tolist() == nodes.tolist()
    assert figure.layout.xaxis.matches == "x2"
    with pytest.raises(BupError, match="no variance"):
        structure.factor_figure(cora.degree, factor, rival.var, nodes, LIGHT)


def test_the_metrics_table_holds_what_evaluate_says_and_marks_the_best(run, rival, cora):
    reports = {"a": evaluate(run, cora), "b": evaluate(rival, cora)}
    spans = {"a": {"accuracy": metrics.Interval(0.1, 0.9)}}
    table = compare.metrics_table(reports, spans)
    for name, report in reports.items():
        mine = table[table.run == name].set_index(["group", "metric"])
        for key in ("accuracy", "ece", "nll"):
            row = mine.loc["Known classes", metrics.METRICS[key].label]
            other = reports["b" if name == "a" else "a"]["test"][key]
            ahead = report["test"][key] > other
            assert row.value == report["test"][key]
            assert row.best == (ahead == metrics.METRICS[key].higher_is_better)
        found = mine.loc["Finding left-out classes", "AUROC of prob std"].value
        assert found == report["ood"]["scores"]["prob_std"]["auroc"]
    first = table.iloc[0]
    assert (first.key, first.run, first.low, first.high) == ("accuracy", "a", 0.1, 0.9)
    assert table[table.run == "b"].low.isna().all()


def test_a_score_that_only_one_run_has_wins_nothing(run, rival, cora):
    table = compare.metrics_table({"a": evaluate(run, cora), "b": evaluate(rival, cora)})
    alone = table[table.metric == "AUROC of message std"]
    assert alone.run.tolist() == ["a", "a"] and not alone.best.any()
    shown = compare.shown(table).set_index(["group", "metric"])
    assert list(shown.columns) == ["a", "b"]
    assert shown.loc[("Finding mistakes", "AUROC of message std"), "b"] == ""


def test_the_table_for_reading_writes_percent_intervals_and_a_star():
    reports = {
        "a": {"test": {"accuracy": 0.8, "nll": 0.5, "nodes": 9}, "errors": {}},
        "b": {"test": {"accuracy": 0.7, "nll": 0.5, "nodes": 9}, "errors": {}},
    }
    spans = {"a": {"accuracy": metrics.Interval(0.75, 0.85)}}
    shown = compare.shown(compare.metrics_table(reports, spans))
    assert shown["a"].tolist() == ["80.0 % [75.0, 85.0] ★", "0.500 ★"]
    assert shown["b"].tolist() == ["70.0 %", "0.500 ★"]
    assert not compare.metrics_table({"a": reports["a"]}).best.any()


def test_overlaid_runs_differ_in_more_than_colour():
    bins = two_bins()
    runs = [(f"run {i}", bins) for i in range(8)]
    figure = compare.overlay_reliability(runs, LIGHT)
    lines = figure.data[1:]
    assert [line.name for line in lines] == [name for name, _ in runs]
    looks = {(line.marker.symbol, line.line.dash) for line in lines[:6]}
    assert len(looks) == 6
    for line in lines:
        np.testing.assert_allclose(line.y, [0.75, 0.5])


def test_the_disagreement_of_two_sure_runs_comes_first():
    a = pd.DataFrame(
        {
            "id": list("wxyz"),
            "true": ["p", "p", "q", ""],
            "part": "test",
            "ood": False,
            "predicted": ["p", "p", "p", "q"],
            "confidence": [0.9, 0.99, 0.8, 0.7],
        }
    )
    b = a.assign(predicted=["p", "q", "q", "p"], confidence=[0.9, 0.5, 0.9, 0.6])
    found = compare.disagreement_table(a, b)
    assert found.node.tolist() == [2, 3, 1]
    assert found.id.tolist() == ["y", "z", "x"]
    assert found.predicted_a.tolist() == ["p", "q", "p"]
    assert found.confidence_b.tolist() == [0.9, 0.6, 0.5]
    assert len(compare.disagreement_table(a, a)) == 0
    with pytest.raises(BupError, match="different graphs"):
        compare.disagreement_table(a, b.iloc[:3])


def rows(table):
    """The rows of a table of classes: name, number, and left and right end of every mark in %."""
    found = []
    for row in ElementTree.fromstring(table).findall("tbody/tr"):
        marks = {}
        for mark in row.findall("td/div/i"):
            style = dict(part.split(":", 1) for part in mark.get("style").split(";"))
            left = float(style.get("left", "0%")[:-1])
            marks[mark.get("class")] = (left, left + float(style.get("width", "0%")[:-1]))
        found.append((row.find("th").text, row.find("td[@class='number']").text, marks, row.attrib))
    return found


@pytest.mark.parametrize("number", [1, 3, 20])
@pytest.mark.parametrize("theme", [LIGHT, Theme(dark=True, large=True)])
def test_probabilities_are_shown_with_interval_prediction_and_truth(number, theme):
    probs = np.random.RandomState(0).dirichlet(np.ones(number))
    low, high = probs / 2, (1 + probs) / 2
    names = [f"class {i}" for i in range(number)]
    found = rows(classes.probability_table(probs, low, high, names, number - 1, theme))
    top = int(probs.argmax())
    for i, (name, text, marks, about) in enumerate(found):
        assert name == names[i] + (" ★" if i == number - 1 else "")
        assert text == ("<0.1%" if probs[i] < 0.0005 else f"{probs[i]:.1%}")
        assert marks["bar"] == pytest.approx((0, 100 * probs[i]), abs=0.006)
        assert marks["span"] == pytest.approx((100 * low[i], 100 * high[i]), abs=0.011)
        assert (about.get("class") == "predicted") == (i == top)
        assert about["title"] == f"{low[i]:.1%} to {high[i]:.1%}"


def test_probabilities_do_without_interval_and_truth():
    found = rows(
        classes.probability_table(np.array([0.5, 0.5]), None, None, ["a", "a"], None, LIGHT)
    )
    assert [list(marks) for *_, marks, _ in found] == [["bar"], ["bar"]]
    assert [name for name, *_ in found] == ["a", "a"]
    assert [a.get("class") for *_, a in found] == ["predicted", None]  # a tie: the lower number


@given(
    arrays.arrays(float, 4, elements=st.floats(-1e4, 1e4)),
    arrays.arrays(float, 4, elements=st.floats(1e-3, 1e3)),
)
def test_a_ridge_spans_three_std_around_its_mean_on_one_scale(mean, std):
    table = classes.message_table(mean, std, list("abcd"), LIGHT)
    left, right = (mean - 3 * std).min(), (mean + 3 * std).max()

    def share(value):
        return 100 * (value - left) / (right - left)

    for i, (_, text, marks, _) in enumerate(rows(table)):
        for name, reach in (("ridge", 3), ("span", 1), ("mean", 0)):
            ends = (share(mean[i] - reach * std[i]), share(mean[i] + reach * std[i]))
            assert marks[name] == pytest.approx(ends, abs=0.02)
        assert text == f"{mean[i]:z.2f} ± {std[i]:.2f}"
    for tick in ElementTree.fromstring(table).findall("tfoot/tr/td/div/span"):
        place = float(tick.get("style").removeprefix("left:")[:-1])
        assert 0 <= place <= 100
        assert place == pytest.approx(share(float(tick.text)), abs=0.02)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_and_round(low, width):
    ticks = classes._round_numbers(low, low + width)
    assert len(ticks) <= 6
    steps = np.diff(ticks)
    if len(steps):
        assert np.allclose(steps, steps[0], rtol=1e-3)
        assert f"{steps[0]:.0e}"[0] in "125"


def waterfall(figure, steps):
    """Bars of each step from top to bottom, as (row, start, change), and its two marks."""
    found = []
    for column in range(steps):
        axis = "x" if column == 0 else f"x{column + 1}"
        mine = [t for t in figure.data if (t.xaxis or "x") == axis]
        bars = [b for t in mine if t.type == "bar" for b in zip(t.y, t.base, t.x, strict=True)]
        (marks,) = [t for t in mine if t.type == "scatter"]
        found.append((sorted(bars), marks))
    return found


@settings(max_examples=12, deadline=None)
@example(k=0, steps=2, with_own=False, seed=0)
@example(k=13, steps=1, with_own=False, seed=0)
@example(k=14, steps=2, with_own=True, seed=0)
@given(st.integers(0, 30), st.integers(1, 3), st.booleans(), st.integers(0, 2**31))
def test_the_waterfall_runs_from_before_to_after_without_a_gap(k, steps, with_own, seed):
    random = np.random.RandomState(seed)
    neighbours = random.permutation(100)[:k]
    shares = []
    for _ in range(steps):
        before, change = 1 + random.rand(5), random.randn(k, 5) / 10
        own = random.randn(5) / 10 if with_own else np.zeros(5)
        shares.append(Shares(neighbours, change, own, before, before + own + change.sum(axis=0)))
    figure = node.shares_figure(tuple(shares), [f"n{i}" for i in neighbours], LIGHT)
    names = list(figure.layout.yaxis.ticktext)
    assert names[0] == "before" and names[-1] == "after"
    assert ("the node itself" in names) == with_own
    assert len(names) <= 2 + node.MOST_NEIGHBOURS + 1 + with_own
    clickable = set()
    for step, (bars, marks) in zip(shares, waterfall(figure, steps), strict=True):
        at = step.before.mean()
        for row, (place, start, change) in enumerate(bars, start=1):
            assert place == row and start == pytest.approx(at, abs=1e-12)
            at += change
        assert at == pytest.approx(step.after.mean(), abs=1e-12)
        assert marks.x[0] == step.before.mean() and marks.x[1] == step.after.mean()
        assert marks.y[1] == len(bars) + 1
    for trace in figure.data:
        if trace.customdata is not None:
            for row, neighbour in zip(trace.y, trace.customdata, strict=True):
                assert names[row] == f"n{neighbour}"
                clickable.add(neighbour)
    assert len(clickable) == (k if k <= node.MOST_NEIGHBOURS + 1 else node.MOST_NEIGHBOURS)
    assert (f"{k - node.MOST_NEIGHBOURS} others" in names) == (k > node.MOST_NEIGHBOURS + 1)


def test_the_waterfall_of_a_real_node_names_those_who_matter_most(run, cora):
    hub = int(cora.degree.argmax())
    steps = inspect(cora, run, hub).steps
    ids = [cora.node_id(i) for i in cora.neighbours(hub)]
    figure = node.shares_figure(steps, ids, LIGHT)
    total = np.abs(sum(step.change.mean(axis=1) for step in steps))
    names = figure.layout.yaxis.ticktext[1:13]
    least_shown = min(total[ids.index(name)] for name in names)
    assert np.sum(total > least_shown) <= 12
    assert figure.layout.yaxis.ticktext[13] == f"{len(ids) - 12} others"
    with pytest.raises(BupError, match="give one each"):
        node.shares_figure(steps, ids[:-1], LIGHT)


def test_what_adds_variance_is_hatched():
    one = np.ones((1, 1))
    steps = (Shares(np.array([7]), one, np.zeros(1), one[0], one[0] * 2),)
    (bar,) = [t for t in node.shares_figure(steps, ["x"], LIGHT).data if t.type == "bar"]
    assert bar.name == "added" and bar.marker.pattern.shape and bar.text == ("+1.000",)


def test_training_curves_count_epochs_from_one_up_to_all_asked_for(run):
    h = run.history
    figure = training.curves_figure(
        h["loss"], h["validation_nll"], h["validation_accuracy"], run.kept_epoch, LIGHT, 100
    )
    for trace, key in zip(figure.data, h, strict=True):
        assert list(trace.y) == h[key]
        assert trace.x.tolist() == list(range(1, len(h[key]) + 1))
    assert figure.layout.xaxis.range[1] == 101
    assert figure.layout.annotations[-1].x == run.kept_epoch
    assert f"epoch {run.kept_epoch}" in figure.layout.annotations[-1].text


@pytest.mark.parametrize("epochs", [0, 1])
def test_training_curves_are_there_before_the_first_epochs(epochs):
    figure = training.curves_figure([1.0] * epochs, [1.0] * epochs, [0.5] * epochs, None, LIGHT, 60)
    assert [len(t.x) for t in figure.data] == [epochs] * 3
    assert epochs == 0 or all(t.mode == "markers" for t in figure.data)


TWO = np.array([0.5, 0.6])
FLAGS = np.array([True, False])
LABELLED_BY_DATA = {
    "reliability": lambda: reliability.reliability_figure(
        two_bins(), LIGHT, NASTY, (two_bins(), NASTY)
    ),
    "risk": lambda: reliability.risk_coverage_figure(
        metrics.risk_coverage(TWO, FLAGS),
        1.0,
        LIGHT,
        NASTY,
        (metrics.risk_coverage(TWO, FLAGS), NASTY),
    ),
    "against": lambda: structure.against_figure(TWO, TWO, np.arange(2), LIGHT, NASTY, NASTY),
    "overlay": lambda: compare.overlay_reliability([(NASTY, two_bins())], LIGHT),
    "shares": lambda: node.shares_figure(
        (Shares(np.array([3]), -TWO[None] / 2, 0 * TWO, TWO, TWO / 2),), [NASTY], LIGHT
    ),
}


@pytest.mark.parametrize("name", LABELLED_BY_DATA)
def test_text_from_the_data_is_never_markup(name):
    found = texts(LABELLED_BY_DATA[name]())
    assert any("&lt;img src" in text for text in found)
    assert not any("<img" in text for text in found)


def test_text_from_the_data_is_never_markup_in_a_table_of_classes():
    for table in (
        classes.probability_table(TWO, TWO, TWO, [NASTY, "b"], 0, LIGHT),
        classes.message_table(TWO, TWO + 1, [NASTY, "b"], LIGHT),
    ):
        assert "<img" not in table and "<b>" not in table
        assert rows(table)[0][0].startswith(NASTY)


def test_figures_stand_beside_the_published_ones():
    nan = float("nan")
    dots = [
        Dot(0, "5 per class", "bup", 4.5, 2.3, 7.8),
        Dot(1, "5 per class", "gcn+temperature", 4.8, nan, nan),
        Dot(2, "20 per class", "nothing", nan, nan, nan),
        Dot(3, "20 per class", "<b>vgcn", nan, nan, 9.6),
    ]
    figure = beside_published(dots, "ECE (lower is better)", Theme())
    published, here, later, nothing_here = figure.data
    assert (list(here.x), list(here.y)) == ([4.5, 4.8], ["bup", "gcn+temperature"])
    assert list(here.customdata) == [0, 1] and list(here.error_x.array) == [2.3, 0]
    assert (list(published.x), list(published.customdata)) == ([7.8], [0])
    assert (list(later.x), list(later.customdata)) == ([9.6], [3])
    assert list(later.y) == ["&lt;b&gt;vgcn"] and not nothing_here.x
    titles = [note.text for note in figure.layout.annotations]
    assert titles == ["<b>5 per class</b>", "<b>20 per class</b>"]
    assert figure.layout.yaxis2.range[0] < 1, "a row of which nothing is known takes no room"
    assert len(beside_published(dots[:1], "ECE", Theme()).data) == 2
    assert [t.showlegend for t in figure.data[:3]] == [True, True, False]
    late = beside_published(dots[1:], "ECE", Theme()).data
    assert late[2].showlegend, "what only a later group has is explained too"
