import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bup.errors import BupError
from bup.propagation import RULES
from bup.results.result import node_table
from dashboard.figures import structure
from tests.support.figures import LIGHT

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
        x, y, np.array([10, 11, 12, 13]), list("abcd"), LIGHT, "x", "y", binned=binned
    )
    points, medians = figure.data
    assert points.customdata.tolist() == [10, 13] and points.y.tolist() == [5, 8]
    assert list(points.text) == ["a", "d"]
    assert medians.y.tolist() == [6.5] and medians.x.tolist() == [2.5]
    with pytest.raises(BupError, match="nothing to draw"):
        structure.binned_medians(np.array([np.nan]), np.array([1.0]))


def test_intervals_of_the_scatter_reach_from_low_to_high(run, cora):
    degree, std = cora.looped_degree, node_table(run, cora)["message_std"].to_numpy()
    binned = structure.binned_medians(degree, std)
    nodes = np.arange(cora.num_nodes)
    figure = structure.against_figure(degree, std, nodes, cora.ids, LIGHT, "x", "y", True, binned)
    points, medians = figure.data
    np.testing.assert_allclose(medians.y + medians.error_y.array, binned.high)
    np.testing.assert_allclose(medians.y - medians.error_y.arrayminus, binned.low)
    assert points.customdata.tolist() == nodes.tolist()
    assert figure.layout.xaxis.type == "log"


def test_the_factor_stands_above_the_learned_std_on_one_axis(run, rival, cora):
    nodes = np.arange(cora.num_nodes)
    rule = RULES["paper"].propagation(cora, RULES["paper"].settings_from())
    factor, std = rule.factor, node_table(run, cora)["message_std"].to_numpy()
    figure = structure.factor_figure(cora.looped_degree, factor, std, nodes, cora.ids, LIGHT)
    above, below = (t for t in figure.data if t.name == "nodes")
    np.testing.assert_allclose(above.y, factor)
    np.testing.assert_allclose(below.y, std)
    assert above.x.tolist() == below.x.tolist() == cora.looped_degree.tolist()
    assert above.customdata.tolist() == below.customdata.tolist() == nodes.tolist()
    assert figure.layout.xaxis.matches == "x2"
    with pytest.raises(BupError, match="no variance"):
        structure.factor_figure(cora.looped_degree, factor, rival.var, nodes, cora.ids, LIGHT)


@pytest.mark.parametrize("log", [False, True])
def test_of_very_many_nodes_a_chart_shows_how_many_are_where(monkeypatch, log):
    monkeypatch.setattr(structure, "MOST_POINTS", 500)
    random = np.random.RandomState(0)
    x, y = random.geometric(0.01, 2000).astype(float), random.randn(2000)
    figure = structure.against_figure(x, y, np.arange(2000), [], LIGHT, "Degree", "Score", log)
    (cells,) = figure.data
    counts = np.nan_to_num(np.array(cells.text, dtype=float))
    assert cells.type == "heatmap" and counts.sum() == 2000
    column = (x >= cells.x[3]) & (x < cells.x[4])
    assert counts[:, 3].sum() == column.sum()
    assert (np.isfinite(np.array(cells.z, dtype=float)) == (counts > 0)).all()
    assert "more than 500 nodes" in structure.points_caption(2000, LIGHT)
    assert "Click a point" in structure.points_caption(500, LIGHT)
