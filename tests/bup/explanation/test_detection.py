"""Who finds what, against code that looks at one node at a time."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

import bup
from bup.explanation import detection
from bup.explanation.detection import DetectionNodes
from bup.graph import Graph, simple_edges

few = st.integers(0, 3)  # so that many tie
unhurried = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)


@st.composite
def searches(draw):
    m = draw(st.integers(1, 12))
    sought = np.array(draw(st.lists(st.booleans(), min_size=m, max_size=m)))
    nodes = np.array(draw(st.permutations(range(m + 3)))[:m])
    doubts = [
        np.array(draw(st.lists(few, min_size=m + 3, max_size=m + 3)), float) for _ in range(3)
    ]
    return DetectionNodes(nodes, sought), doubts


@unhurried
@given(searches())
def test_a_rank_is_the_share_of_surer_nodes_ties_half(case):
    search, (doubt, *_) = case
    values = [doubt[n] for n in search.nodes]
    slow = [
        sum(1.0 if other < value else 0.5 if other == value else 0.0 for other in values)
        / len(values)
        for value in values
    ]
    assert search.ranks(doubt) == pytest.approx(slow)


@unhurried
@given(searches(), st.floats(0, 1))
def test_as_many_as_possible_are_flagged_within_the_false_alarms(case, share):
    search, (doubt, *_) = case
    flagged = search.flagged(doubt, share)
    others = ~search.positive
    allowed = share * others.sum() + 1e-9

    def alarms(threshold: float) -> int:
        return sum(doubt[n] >= threshold for n, o in zip(search.nodes, others, strict=True) if o)

    candidates = [*sorted({doubt[n] for n in search.nodes}), np.inf]
    threshold = next(t for t in candidates if alarms(t) <= allowed)
    assert flagged.tolist() == [bool(doubt[n] >= threshold) for n in search.nodes]


@unhurried
@given(searches())
def test_the_node_at_a_threshold_is_the_surest_one_flagged_there(case):
    search, (doubt, *_) = case
    thresholds = np.array([0.0, 1.0, 2.5, np.inf])
    for node, threshold in zip(search.node_at(doubt, thresholds), thresholds, strict=True):
        values = [doubt[n] for n in search.nodes]
        assert doubt[node] == min([v for v in values if v >= threshold], default=max(values))


def test_false_alarms_are_a_share():
    with pytest.raises(bup.BupError, match="a share between 0 and 1, got 5"):
        DetectionNodes(np.array([0]), np.array([True])).flagged(np.zeros(1), 5)


@unhurried
@given(searches())
def test_every_sought_node_is_caught_by_exactly_those_who_flag_it(case):
    search, doubts = case
    flags = {name: search.flagged(d, 0.2) for name, d in zip("abc", doubts, strict=True)}
    found = detection.group_by_detectors(search, flags)
    slow: dict[tuple[str, ...], set[int]] = {}
    for place, node in enumerate(search.nodes.tolist()):
        if search.positive[place]:
            slow.setdefault(tuple(n for n in flags if flags[n][place]), set()).add(node)
    assert {who: set(nodes.tolist()) for who, nodes in found.items()} == slow
    sizes = [len(who) for who in found]
    assert sizes == sorted(sizes, reverse=True)


def test_what_is_sought_in_a_run(run, cora):
    strangers, wrong = detection.unseen(run, cora), detection.mistakes(run, cora)
    for node, sought in zip(strangers.nodes, strangers.positive, strict=True):
        assert sought == (cora.labels[node] == 6)
    assert set(wrong.nodes) == {n for n in run.split.test if cora.labels[n] != 6}
    for node, sought in zip(wrong.nodes, wrong.positive, strict=True):
        assert sought == (run.predicted[node] != cora.labels[node])
    assert strangers.possible and wrong.possible
    assert not DetectionNodes(np.arange(2), np.array([True, True])).possible


@unhurried
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_a_cell_counts_the_nodes_of_its_row_and_column(pairs):
    true, assigned = np.array([*zip(*pairs, strict=True)] or [[], []], dtype=int)
    counts = detection.confusion(true, assigned, 4)
    assert counts.tolist() == [[pairs.count((i, j)) for j in range(4)] for i in range(4)]


def words_graph(edges, rows, words=("a", "b", "c")):
    ends = np.array(edges, dtype=int).reshape(-1, 2)
    return Graph(
        name="toy",
        features=sparse.csr_array(np.array(rows, dtype=np.float32)),
        edges=simple_edges(ends[:, 0], ends[:, 1]),
        labels=np.zeros(len(rows), dtype=np.int64),
        class_names=("x",),
        words=words,
    )


@unhurried
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=12),
    st.sets(st.integers(0, 7)),
)
def test_groups_are_what_links_among_the_nodes_join(edges, chosen):
    graph = words_graph(edges, np.eye(8, 3) + 1)
    nodes = np.array(sorted(chosen), dtype=int)
    left, slow = set(chosen), []
    while left:  # walk from one node as far as links among the chosen lead
        group, front = set(), [left.pop()]
        while front:
            node = front.pop()
            group.add(node)
            front += [n for n in graph.neighbours(node).tolist() if n in chosen and n not in group]
        left -= group
        if len(group) >= 2:
            slow.append(group)
    found = [set(g.tolist()) for g in detection.linked_groups(graph, nodes)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, slow))
    assert [len(g) for g in found] == sorted(map(len, slow), reverse=True)


def test_a_group_is_named_by_what_others_lack():
    rows = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0]]
    graph = words_graph([(0, 1)], rows)
    # "a" is everywhere, "c" nowhere here: "b" alone tells these two from the rest.
    assert detection.distinctive_words(graph, np.array([0, 1])) == ["b"]
    assert detection.distinctive_words(graph, np.array([2])) == ["c"]
    assert detection.distinctive_words(words_graph([], rows, None), np.array([0])) == []
    assert detection.distinctive_words(graph, np.array([], dtype=int)) == []


def test_the_commonest_word_of_a_group():
    assert detection.agreement(["A", "A"]) == "A"
    assert detection.agreement(["A", "B", "B"]) == "B (2 of 3)"
