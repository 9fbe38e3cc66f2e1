"""Sets of classes: the promise, the arithmetic, the errors."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bup
from bup.graph import Graph, simple_edges
from bup.metrics.conformal import (
    RULES,
    adaptive_scores,
    conformal_sets,
    conformal_threshold,
    measured_share,
)
from bup.run.splits import Split


def random_task(nodes: int, seed: int) -> tuple[np.ndarray, Graph, Split]:
    """Probabilities, and classes drawn from them: an ideal model on a ring."""
    random = np.random.RandomState(seed)
    probs = random.dirichlet([0.6] * 4, size=nodes)
    labels = np.array([random.choice(4, p=p) for p in probs])
    around = np.arange(nodes)
    ring = simple_edges(around, (around + 1) % nodes)
    words = np.ones((nodes, 1), dtype=np.float32)
    graph = Graph("ring", words, ring, labels, tuple("abcd"))
    third = nodes // 3
    split = Split(around[:4], around[4:third], around[third:], (0, 1, 2, 3), ())
    return probs, graph, split


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_sets_contain_the_class_as_often_as_promised(rule, level):
    covered = []
    for seed in range(20):
        probs, graph, split = random_task(900, seed)
        sets = conformal_sets(probs, graph, split, level, rule, seed)
        covered.append(sets.coverage(split.test, graph.labels[split.test]))
    # one rerun's coverage has a standard deviation of about 0.035 (300 calibration nodes)
    assert np.mean(covered) == pytest.approx(level, abs=4 * 0.035 / np.sqrt(20))


def test_scores_add_up_the_more_probable_classes():
    probs = np.array([[0.5, 0.2, 0.3]])
    u = np.random.RandomState(7).uniform()
    expected = [u * 0.5, 0.8 + u * 0.2, 0.5 + u * 0.3]
    assert adaptive_scores(probs, seed=7)[0] == pytest.approx(expected)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(0.05, 0.95))
def test_the_threshold_is_the_smallest_that_keeps_the_promise(scores, level):
    scores = np.array(scores)
    threshold = conformal_threshold(scores, level)
    wanted = np.ceil((len(scores) + 1) * level - 1e-9)
    if wanted > len(scores):
        assert threshold == np.inf
    else:
        assert (scores <= threshold).sum() >= wanted > (scores < threshold).sum()


def test_a_higher_level_gives_larger_sets(cora):
    result = bup.fit(cora, epochs=30)
    args = result.probs, cora, result.split
    small, large = (conformal_sets(*args, level=level) for level in (0.7, 0.95))
    assert (small.member <= large.member).all() and small.size.mean() < large.size.mean()


def test_on_cora_coverage_is_near_the_level_and_neighbours_help(cora):
    found = [bup.evaluate(bup.fit(cora, seed=seed), cora)["conformal"] for seed in range(3)]
    for rule in RULES:
        assert np.mean([f[rule]["coverage"] for f in found]) == pytest.approx(0.9, abs=0.05)
    assert np.mean([f["daps"]["size"] for f in found]) < np.mean([f["aps"]["size"] for f in found])


def test_bad_requests_are_explained():
    probs, graph, split = random_task(30, 0)
    with pytest.raises(bup.BupError, match=r"level must lie between 0 and 1, got 1\.5"):
        conformal_sets(probs, graph, split, level=1.5)
    with pytest.raises(bup.BupError, match="unknown conformal rule 'raps'"):
        conformal_sets(probs, graph, split, rule="raps")


def test_neighbours_count_as_much_as_labelled_links_say():
    words = np.ones((6, 1), dtype=np.float32)
    ends = simple_edges(np.array([0, 1, 2, 3, 4]), np.array([1, 2, 3, 4, 5]))
    graph = Graph("path", words, ends, np.array([0, 0, 0, 1, 1, 1]), ("a", "b"))
    # links 0-1, 1-2, 2-3: two of three join equal classes; ends are 5 times a, once b
    by_chance = (5 / 6) ** 2 + (1 / 6) ** 2
    expected = 0.5 * (2 / 3 - by_chance) / (1 - by_chance)
    assert expected < 0 and measured_share(graph, np.arange(4)) == 0
    by_chance = 0.5
    alike = (4 / 5 - by_chance) / (1 - by_chance)
    assert measured_share(graph, np.arange(6)) == pytest.approx(0.5 * alike * 5 / 105)
    assert measured_share(graph, np.array([0, 2, 4])) == 0  # no link to learn from


def test_labelled_neighbours_speak_for_their_class():
    probs, graph, _ = random_task(90, 3)
    graph = dataclasses.replace(graph, labels=np.arange(90) // 23)  # neighbours mostly agree
    everybody = Split(np.arange(80), np.arange(80, 85), np.arange(85, 90), (0, 1, 2, 3), ())
    found = conformal_sets(probs, graph, everybody, 0.5, "measured", 5)
    share = measured_share(graph, everybody.train)
    own = adaptive_scores(probs, 5)
    heard = own.copy()
    heard[:80] = 1 - np.eye(4)[graph.labels[:80]]
    scores = np.stack(
        [(1 - share) * own[i] + share * (heard[i - 1] + heard[(i + 1) % 90]) / 2 for i in range(90)]
    )
    assert 0 < share < 0.5
    assert np.array_equal(found.member, scores <= found.threshold)
