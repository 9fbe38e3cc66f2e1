"""Doubt: formulas against arithmetic written out, what it promises, and what it never looks at."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import ArpackError, svds
from scipy.stats import multivariate_normal, spearmanr

import bup
from bup import metrics
from bup.explanation.inspection import Inspector, inspect, with_links
from bup.graph import Graph, simple_edges
from bup.graph.operators import unit_rows, walk
from bup.propagation import RULES
from bup.propagation import doubt as rule
from bup.propagation.topics import Scatter, topics, walk_mean
from bup.run.splits import Split


def drawn(seed: int, n: int = 24, words: int = 7) -> Graph:
    random = np.random.RandomState(seed)
    ends = random.randint(0, n, (2, 40))
    return Graph(
        "drawn",
        random.binomial(1, 0.4, (n, words)).astype(np.float32),
        simple_edges(*ends),
        np.arange(n) % 3,
        ("a", "b", "c"),
    )


def told(seed: int, n: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    return random.randn(n, classes), random.dirichlet(np.ones(classes), n)


def after_training(graph: Graph, mean, probs, constants=None, **chosen) -> rule.Doubt:
    n = graph.num_nodes
    split = Split(np.arange(6), np.arange(6, 12), np.arange(12, n), (0, 1, 2), ())
    s = RULES["doubt"].settings_from(**chosen)
    return RULES["doubt"].propagation(graph, s).after_training(split, mean, probs, constants or {})


def test_topics_are_the_principal_coordinates_of_averaged_words():
    graph = drawn(0, n=40, words=20)
    p = walk(graph).toarray()
    counts = (graph.features != 0).sum(axis=0)
    words = unit_rows(graph.features * np.log(41 / (counts + 1))).toarray()
    around = words
    for _ in range(2):
        around = 0.9 * p @ around + 0.1 * words
    u, s, _ = np.linalg.svd(around - around.mean(axis=0))
    z = topics(graph, walk(graph), 4)
    assert np.allclose(np.abs(z), np.abs(u[:, :4] * s[:4]), atol=1e-8)
    small = topics(graph, walk(graph), 19)  # nearly as many as there are words: another way
    assert np.allclose(np.abs(small[:, :4]), np.abs(z), atol=1e-8)


def test_topics_have_a_second_way(cora, monkeypatch):
    usual = topics(cora, walk(cora), 6)

    def unsettled(operator, dims, **options):
        if options.get("solver") != "propack":
            raise ArpackError(-1)
        return svds(operator, dims, **options)

    monkeypatch.setattr("scipy.sparse.linalg.svds", unsettled)
    assert np.allclose(np.abs(topics(cora, walk(cora), 6)), np.abs(usual), atol=1e-6)


def test_ratios_are_those_of_normal_densities():
    random = np.random.RandomState(0)
    z, nodes, labels = random.randn(50, 3), np.arange(9), np.arange(9) % 3
    ratios = Scatter.of(z, nodes, labels, 3).log_ratios(z)
    total = np.cov(z.T, bias=True)
    means = [z[nodes[labels == c]].mean(axis=0) for c in range(3)]
    within = sum((z[i] - means[labels[i]])[:, None] * (z[i] - means[labels[i]]) for i in nodes) / 6
    background = multivariate_normal(z.mean(axis=0), total).logpdf(z)
    for c, mean in enumerate(means):
        expected = multivariate_normal(mean, (within + total) / 2).logpdf(z) - background
        assert np.allclose(ratios[:, c], expected, atol=1e-6)


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_doubt_is_what_its_formula_says(seed):
    graph = drawn(seed)
    mean, probs = told(seed, graph.num_nodes, 3)
    found = after_training(graph, mean, probs)
    z = topics(graph, walk(graph), 7)
    known = np.zeros(graph.num_nodes)
    for dims in (3, 5, 7):
        scatter = Scatter.of(z[:, :dims], np.arange(6), graph.labels[:6], 3)
        ratio = np.exp(scatter.log_ratios(z[:, :dims])).mean(1)
        known += ratio / (1 + ratio) / 3
    top = mean.max(axis=1)
    strong = 1 / (1 + np.exp(-(top - top[:6].mean() / 2) / top[:6].std()))
    u = -np.log(0.05 + 0.95 * known)
    u = u + 2 / 5 * (-np.log(0.05 + 0.95 * strong) - np.log(probs.max(axis=1)))
    p = walk(graph).toarray()
    spread = 0.2 * sum(0.8**k * np.linalg.matrix_power(p, k) for k in range(10))
    spread = spread + 0.8**10 * np.linalg.matrix_power(p, 10)
    v = 1.5 * (1 - 1 / 3) / graph.looped_degree
    total = np.log(np.exp(spread @ u) + np.exp(v + p @ p @ v) - 1)
    assert np.allclose(found.total, total, rtol=1e-8)
    assert np.allclose(found.factor, (1 + total) / (1 + total.mean()), rtol=1e-8)


@given(st.integers(0, 1000), st.integers(0, 23), st.floats(0.05, 0.95))
@settings(max_examples=30, deadline=None)
def test_an_unsure_node_makes_no_other_surer(seed, node, less):
    graph = drawn(seed)
    mean, probs = told(seed, graph.num_nodes, 3)
    before = after_training(graph, mean, probs)
    unsure = probs.copy()
    top = unsure[node].argmax()
    unsure[node, top] = max(1 / 3, less * unsure[node, top])
    after = after_training(graph, mean, unsure, before.constants)
    assert (after.factor >= before.factor - 1e-12).all()
    if unsure[node, top] < probs[node, top] - 1e-6 and unsure[node].max() < probs[node, top] - 1e-6:
        near = np.append(graph.neighbours(node), node)
        assert (after.factor[near] > before.factor[near]).all()


@given(st.integers(0, 1000), st.integers(0, 23))
@settings(max_examples=30, deadline=None)
def test_shares_and_parts_add_up(seed, node):
    graph = drawn(seed)
    found = after_training(graph, *told(seed, graph.num_nodes, 3))
    var = np.random.RandomState(seed).rand(graph.num_nodes, 4)
    shares = found.shares(node, var)
    assert shares.neighbours.tolist() == graph.neighbours(node).tolist()
    assert np.allclose(shares.before + shares.own + shares.change.sum(0), shares.after, rtol=1e-10)
    assert np.allclose(shares.after, var[node] * found.factor[node])
    parts, classes = found.breakdowns(node)
    *doubts, few_links = parts.values
    together = math.exp(sum(doubts)) + math.exp(few_links) - 1
    assert math.log(together) == pytest.approx(found.total[node])
    assert sum(classes.values) == pytest.approx(1) and min(classes.values) >= 0
    # what is usual is what the mean node has, so all shares of all nodes cancel
    everyone = [found.shares(i, np.ones((graph.num_nodes, 1))) for i in range(graph.num_nodes)]
    assert sum(float(s.after[0] - 1) for s in everyone) == pytest.approx(0, abs=1e-8)


def test_a_doubtful_neighbour_adds_and_a_sure_one_takes_off():
    graph = dataclasses.replace(
        drawn(3), edges=simple_edges(np.array([20, 20]), np.array([21, 22]))
    )
    mean, probs = told(0, graph.num_nodes, 3)
    mean[21], probs[21] = -9, [0.34, 0.33, 0.33]
    mean[22], probs[22] = [9, 0, 0], [0.98, 0.01, 0.01]
    shares = after_training(graph, mean, probs).shares(20, np.ones((graph.num_nodes, 1)))
    change = dict(zip(shares.neighbours.tolist(), shares.change[:, 0].tolist(), strict=True))
    assert change[21] > change[22]


def test_no_label_but_those_of_known_nodes_is_looked_at(cora):
    result = bup.fit(cora, left_out=[6], propagation="doubt", epochs=10)
    changed = cora.labels.copy()
    hidden = np.setdiff1d(np.arange(cora.num_nodes), result.split.train)
    changed[hidden] = (changed[hidden] + 1) % cora.num_classes
    other = dataclasses.replace(cora, labels=changed)
    assert np.array_equal(
        Inspector(cora, result).propagation.factor, Inspector(other, result).propagation.factor
    )
    both = bup.fit(cora, left_out=[6], propagation="doubt", known="validation", epochs=10)
    assert not np.array_equal(both.var, result.var)


def test_training_goes_without_propagation_and_the_factor_comes_after(cora):
    plain, found = (
        bup.fit(cora, propagation=p, calibrate="none", epochs=15) for p in ("none", "doubt")
    )
    assert np.array_equal(plain.mean, found.mean)
    factor = Inspector(cora, found).propagation.factor
    assert np.allclose(found.var, plain.var * factor[:, None], rtol=1e-4)
    assert factor.mean() == pytest.approx(1)


def test_a_link_to_a_doubtful_group_makes_a_node_doubtful(cora):
    result = bup.fit(cora, left_out=[6], propagation="doubt")
    std = result.scores()["message_std"]
    doubtful = np.argsort(-std)[:3].tolist()
    node = int(np.argsort(std)[100])
    before = inspect(cora, result, node)
    linked = with_links(cora, add=[(node, other) for other in doubtful])
    after = inspect(linked, result, node)
    assert after.var.mean() > 1.05 * before.var.mean()
    assert np.allclose(before.var, result.var[node], rtol=1e-4)


@pytest.mark.parametrize(
    "features",
    [
        np.zeros((30, 4), dtype=np.float32),
        np.ones((30, 1), dtype=np.float32),
        np.random.RandomState(0).randn(30, 50).astype(np.float32),
    ],
    ids=["no words", "one word", "more words than nodes"],
)
def test_odd_words_still_give_a_sound_factor(features):
    graph = dataclasses.replace(drawn(1, n=30), features=features)
    found = after_training(graph, *told(0, 30, 3))
    assert np.isfinite(found.factor).all() and (found.factor > 0).all()


def test_both_promises_and_what_it_is_for(cora):
    """Fresh seeds: links and nearness make a node surer, an unseen class and a mistake do not."""
    result = bup.fit(cora, seed=200, propagation="doubt")
    std = result.scores()["message_std"]
    assert spearmanr(cora.degree, std).statistic < -0.3
    distance = cora.mean_hops(result.split.train)
    reached = ~distance.mask
    assert spearmanr(distance[reached], std[reached]).statistic > 0.15
    assert bup.evaluate(result, cora)["errors"]["message_std"]["auroc"] > 0.7

    unseen = bup.fit(cora, seed=200, left_out=[2], propagation="doubt")
    paper = bup.fit(cora, seed=200, left_out=[2])
    test = unseen.split.test
    ood = unseen.split.is_ood(cora.labels[test])
    ours, theirs = (metrics.auroc(r.scores()["message_std"][test], ood) for r in (unseen, paper))
    assert ours > 0.85 and ours > theirs + 0.2


def test_a_walk_mean_is_a_mean():
    graph = drawn(5)
    values = np.random.RandomState(0).rand(graph.num_nodes)
    assert np.allclose(walk_mean(walk(graph), np.ones(graph.num_nodes), 0.2, 10), 1)
    found = walk_mean(walk(graph), values, 0.2, 10)
    assert found.min() >= values.min() and found.max() <= values.max()
