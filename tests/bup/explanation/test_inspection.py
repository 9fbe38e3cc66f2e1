from itertools import pairwise

import numpy as np
import pytest

import bup
from bup.explanation.inspection import Inspector, inspect, with_links
from bup.methods import find, why_no_interval
from bup.propagation import RULES


@pytest.mark.parametrize("rule", RULES)
def test_a_node_alone_is_what_it_is_in_the_whole_graph(cora, rule):
    result = bup.fit(cora, propagation=rule, calibrate="variance", epochs=10)
    for node in (0, 7, int(cora.degree.argmax())):
        seen = inspect(cora, result, node)
        assert np.allclose(seen.mean, result.mean[node], atol=1e-5)
        assert np.allclose(seen.var, result.var[node], rtol=1e-4)
        assert np.allclose(seen.probs, result.probs[node], atol=1e-4)
        assert (seen.low <= seen.high).all()
        assert len(seen.steps) == len(RULES[rule].layers) and seen.formula.words
        for one, next in pairwise(seen.steps):
            assert np.allclose(one.after, next.before, rtol=1e-5)
        for step in seen.steps:
            total = step.before + step.own + step.change.sum(axis=0)
            assert np.allclose(total, step.after, rtol=1e-6)


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("bup", {"calibrate": "none"}),
        ("bup", {"calibrate": "variance", "propagation": "doubt"}),
        ("bup", {"calibrate": "spread"}),
        ("bup", {"calibrate": "spread", "prediction": "sampled"}),
        ("ggp", {"calibrate": "none"}),
        ("ggp", {"calibrate": "spread"}),
    ],
)
def test_a_bar_is_the_mean_of_the_distribution_whose_interval_is_drawn(cora, method, settings):
    result = bup.fit(cora, method, epochs=10, **settings)
    assert why_no_interval(result.spec) == ""
    nodes = np.arange(0, cora.num_nodes, 27)
    found = find(method).explains.probabilities(result, result.mean[nodes], result.var[nodes], 0.9)
    assert np.allclose(found.probs, result.probs[nodes], atol=1e-3)
    shown = result.probs[nodes]
    # The least and the most that a mean can be, with a twentieth of the cases outside each end.
    assert (shown >= 0.9 * found.low + 0.05 * found.high - 1e-3).all()
    assert (shown <= 0.05 * found.low + 0.9 * found.high + 0.05 + 1e-3).all()
    inspector = Inspector(cora, result)
    assert np.allclose(inspector.interval(nodes[1])[0], found.low[1], atol=1e-6)


@pytest.mark.parametrize(
    ("method", "settings", "why"),
    [
        ("bup", {"prediction": "erf"}, "'erf', which is not the mean of a distribution"),
        (
            "bup",
            {"prediction": "genz", "calibrate": "none"},
            "'genz', which is not the mean of a distribution",
        ),
        ("bup", {"calibrate": "temperature"}, "Calibrated by Temperature scaling"),
        ("bup", {"calibrate": "spread+bias"}, "Calibrated by Class bias"),
        ("gcn", {}, "messages have no variance"),
    ],
)
def test_where_no_interval_belongs_to_the_bar_a_sentence_says_why(method, settings, why):
    graph = bup.load_graph("synthetic:nodes=300,classes=3,words=80")
    result = bup.fit(graph, method, epochs=2, validation=60, test=100, **settings)
    assert why in why_no_interval(result.spec)
    with pytest.raises(bup.BupError, match=why):
        Inspector(graph, result).interval(0)
    if method != "gcn":
        seen = inspect(graph, result, 0)
        assert seen.low is None and seen.high is None
    if settings.get("prediction"):
        assert np.allclose(seen.probs, result.probs[0], atol=1e-4)


def test_a_link_more_or_less_changes_the_node_without_training(cora):
    result = bup.fit(cora, propagation="evidence", epochs=10)
    node = 7
    neighbour = int(cora.neighbours(node)[0])
    before = inspect(cora, result, node)
    without = inspect(with_links(cora, remove=[(node, neighbour)]), result, node)
    assert (without.var > before.var).all()
    stranger = next(i for i in range(1000, 2000) if i not in cora.neighbours(node))
    added = inspect(with_links(cora, add=[(stranger, node)]), result, node)
    assert (added.var < before.var).all()
    back = with_links(with_links(cora, remove=[(node, neighbour)]), add=[(neighbour, node)])
    assert back.digest == cora.digest


def test_links_that_cannot_be_changed_are_explained(path_graph):
    for arguments, message in (
        ({"remove": [(0, 2)]}, "no link between n0 and n2"),
        ({"add": [(0, 1)]}, "linked already"),
        ({"add": [(1, 1)]}, "n1 cannot be linked to itself"),
        ({"add": [(0, 9)]}, "joins nodes from 0 to"),
    ):
        with pytest.raises(bup.BupError, match=message):
            with_links(path_graph, **arguments)


def test_a_node_goes_by_its_index_or_its_id(cora, citeseer):
    result = bup.fit(cora, epochs=3)
    node = cora.find("35")
    by_id, by_index = (bup.inspection.inspect(cora, result, n) for n in ("35", np.int64(node)))
    assert by_id.node == by_index.node == node and np.array_equal(by_id.mean, by_index.mean)
    for wrong in (cora.num_nodes, -1, 1.5, None, True, "nobody"):
        with pytest.raises(bup.BupError, match=f"{wrong!r}"):
            bup.inspection.inspect(cora, result, wrong)
    with pytest.raises(bup.BupError, match="3,327 nodes and the result 2,708"):
        bup.inspection.inspect(citeseer, result, 0)


def test_a_method_without_variance_has_nothing_to_explain(cora):
    with pytest.raises(bup.BupError, match="choose one of bup, ggp"):
        inspect(cora, bup.fit(cora, "gcn", epochs=2), 0)


def test_a_method_that_only_stores_variances_still_shows_intervals(cora):
    result = bup.fit(cora, "ggp", epochs=3)
    seen = inspect(cora, result, 7)
    assert seen.steps == () and seen.formula is None
    assert np.allclose(seen.probs, result.probs[7], atol=1e-5)
    assert (seen.low <= seen.high).all() and (seen.var > 0).all()
    error_rate = dict(result.spec.settings)["error_rate"]
    assert (seen.low >= error_rate / 6 * 0.999).all()  # no class is less likely than a wrong label
