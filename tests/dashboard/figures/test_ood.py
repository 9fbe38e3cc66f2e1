import numpy as np
import pandas as pd
import pytest

from bup import metrics
from bup.errors import BupError
from bup.results.result import node_table
from dashboard.figures import ood
from tests.support.figures import LIGHT


@pytest.mark.parametrize("score", ["confidence", "message_entropy"])
def test_score_histograms_are_densities_of_the_test_nodes(run, cora, score):
    table = node_table(run, cora)
    figure = ood.score_histograms(table, score, LIGHT, bins=30)
    test = table[table.part == "test"]
    groups = {
        "known classes, right": test[~test.ood & test.correct.fillna(False)],
        "known classes, wrong": test[~test.ood & ~test.correct.fillna(True)],
        "classes never shown": test[test.ood],
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
    assert "1 node," in ood.score_histograms(table, "confidence", LIGHT).layout.annotations[0].text


def test_a_constant_score_fills_one_bin():
    table = small_table(confidence=[0.5] * 4, correct=[True, False, True, False])
    for trace in ood.score_histograms(table, "confidence", LIGHT).data:
        assert np.count_nonzero(trace.y) == 1


def test_a_score_that_the_method_lacks_is_named(rival, cora):
    with pytest.raises(BupError, match="no score 'message_std': choose one of confidence, pred"):
        ood.score_histograms(node_table(rival, cora), "message_std", LIGHT)


def curve_of(scores, out):
    area = metrics.auroc(scores, out)
    found = metrics.roc(scores, out), area, metrics.precision_recall(scores, out)
    return [ood.DetectionCurve("this score", *found)]


def detection(run, cora, score):
    test = run.split.test
    return run.uncertainties()[score][test], run.split.is_ood(cora.labels[test])


@pytest.mark.parametrize("score", ["confidence", "message_std"])
def test_the_area_under_the_drawn_roc_is_the_auroc(run, cora, score):
    scores, out = detection(run, cora, score)
    area = metrics.auroc(scores, out)
    curve, guess = ood.roc_figure(curve_of(scores, out), LIGHT).data
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(area)
    assert curve.name == f"this score: AUROC {area:.1%}"
    assert np.trapezoid(guess.y, guess.x) == 0.5


def test_the_area_under_the_drawn_steps_is_the_average_precision(run, cora):
    scores, out = detection(run, cora, "confidence")
    figure = ood.precision_recall_figure(curve_of(scores, out), out.mean(), LIGHT)
    curve, guess = figure.data
    assert curve.line.shape == "hv"
    # hv: from each point go sideways first, at that point's own height
    area = (curve.y[:-1] * -np.diff(curve.x)).sum()
    assert area == pytest.approx(metrics.aupr(scores, out))
    assert set(guess.y) == {out.mean()}
    assert curve.customdata is None
    nodes = np.arange(len(curve.x))
    clickable = ood.precision_recall_figure(curve_of(scores, out), out.mean(), LIGHT, nodes)
    assert clickable.data[0].customdata.tolist() == nodes.tolist()


def test_constant_scores_are_guessing():
    out = np.array([True, False, False, False])
    curve = ood.roc_figure(curve_of(np.ones(4), out), LIGHT).data[0]
    assert np.trapezoid(curve.y, curve.x) == 0.5
    steps = ood.precision_recall_figure(curve_of(np.ones(4), out), 0.25, LIGHT)
    assert (steps.data[0].y[:-1] * -np.diff(steps.data[0].x)).sum() == 0.25


def test_the_share_of_strangers_is_drawn_with_its_spread():
    rows = pd.DataFrame(
        {
            "method": ["bup", "bup", "doubt", "doubt"],
            "unseen_share": [1.0, 1.0, 1.0, 5.0],
            "auroc_own": [40.0, 50.0, 70.0, 90.0],
        }
    )
    figure = ood.share_figure(rows, LIGHT, here=(2.0, 60.0))
    first, second, own = figure.data
    assert [note.text for note in figure.layout.annotations] == ["bup", "doubt"]
    assert first.name == "bup" and list(first.y) == [45.0]
    assert first.error_y.array[0] == pytest.approx(np.std([40, 50], ddof=1))
    assert list(second.x) == [1.0, 5.0] and list(second.y) == [70.0, 90.0]
    assert (own.x[0], own.y[0]) == (2.0, 60.0)
    assert len(ood.share_figure(rows, LIGHT).data) == 2


def test_several_runs_share_an_axis_and_bars_say_which_nodes_they_are():
    right, ood_mask = np.array([True, False, True, False]), np.array([False, False, False, True])
    parts = ood.node_groups(ood_mask, right)
    first, second = np.array([0.0, 0.2, 0.4, 1.0]), np.array([1.0, 0.5, 0.2, 0.0])
    figure = ood.histograms(parts, [("a", first), ("b", second)], LIGHT, "rank", bins=4)
    bars = [t for t in figure.data if t.type == "bar"]
    lines = [t for t in figure.data if t.type != "bar"]
    assert [t.name for t in lines] == ["b"] * 3 and [len(parts), len(bars)] == [3, 3]
    numbers = np.concatenate([t.customdata for t in bars])
    assert numbers.tolist() == list(range(12))
    for part, bar in zip(parts, bars, strict=True):
        count = np.histogram(first[part.member], np.linspace(0, 1, 5))[0]
        np.testing.assert_allclose(bar.y, count / count.sum() / 0.25)


def test_a_cell_of_the_matrix_says_which_classes_it_is():
    counts = np.arange(9).reshape(3, 3)
    (cells,) = ood.matrix_figure(counts, [2], [0, 1], ["a", "b", "<c>"], LIGHT).data
    assert cells.z.tolist() == [[6, 7]] and cells.customdata.tolist() == [[6, 7]]
    assert cells.hovertext[0][1] == "7 nodes: &lt;c&gt;, taken for b"


def test_who_finds_what_is_a_bar_each():
    found = {("a", "<b>"): np.arange(3), (): np.arange(1)}
    (bars,) = ood.found_by_figure(found, LIGHT).data
    assert list(bars.x) == [3, 1] and list(bars.customdata) == [0, 1]
    assert bars.hovertext[0] == "3 nodes found by a and &lt;b&gt;"
