"""The smallest changes of a graph that change an answer."""

import dataclasses
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import bup
from bup.explanation import sentences
from bup.explanation.changes import MOST_LINKS, ChangeSearch, _sets, outputs_of, without
from bup.explanation.inspection import Inspector, with_links
from bup.explanation.reasons import Reasoner
from bup.methods import find
from bup.methods.base import softmax
from tests.bup.explanation.test_reasons import SMALL, dense, graphs, hand_made, trained


@pytest.fixture(scope="module")
def small() -> bup.Graph:
    return bup.load_graph(SMALL)


def answer_by_hand(graph, weights, node):
    x, kernel = dense(graph)
    first, second = (weights[name].astype(float) for name in ("mean_1", "mean_2"))
    return int((kernel @ np.maximum(kernel @ x @ first, 0) @ second)[node].argmax())


@settings(max_examples=60)
@given(graphs(), st.data())
def test_a_change_of_one_link_is_found_whenever_there_is_one_that_speaks_for_it(drawn, data):
    graph, random = drawn
    result = hand_made(graph, random)
    node = data.draw(st.integers(0, graph.num_nodes - 1))
    reasoner = Reasoner(graph, result)
    search, reasons = ChangeSearch(reasoner), reasoner.explain(node)
    found = search.fewest_links(reasons)
    ahead = reasons.links[reasons.link_contributions > 0].tolist()
    alone = [
        tuple(link)
        for link in ahead
        if answer_by_hand(with_links(graph, remove=[link]), result.weights, node) != reasons.answer
    ]
    if alone:  # by exhaustive removal: one link is enough
        assert found is not None and len(found.links) == 1 and tuple(found.links[0]) in alone
    elif found is not None:
        assert len(found.links) > 1
    pairs = [
        pair
        for pair in combinations(ahead[:8], 2)
        if answer_by_hand(with_links(graph, remove=pair), result.weights, node) != reasons.answer
    ]
    if pairs and not alone:
        assert found is not None and len(found.links) == 2
    if found is not None:
        changed = with_links(graph, remove=found.links)
        assert answer_by_hand(changed, result.weights, node) == found.answer != reasons.answer


@settings(max_examples=40)
@given(graphs(), st.data())
def test_the_outputs_of_one_node_are_those_of_the_whole_network(drawn, data):
    graph, random = drawn
    result = hand_made(graph, random)
    reasoner = Reasoner(graph, result)
    for node in range(graph.num_nodes):
        found = outputs_of(reasoner.layers, reasoner.inputs, node)[0]
        assert found == pytest.approx(result.mean[node], abs=1e-5)


def changes_of(graph, result, most=30):
    """The changes of some nodes' answers: reasons, links and words of each."""
    reasoner = Reasoner(graph, result)
    search = ChangeSearch(reasoner)
    for node in range(0, graph.num_nodes, graph.num_nodes // most):
        reasons = reasoner.explain(node)
        yield search, reasons, search.fewest_links(reasons), search.fewest_words(reasons)


@pytest.mark.parametrize(
    "more",
    [
        {"propagation": "doubt"},
        {"propagation": "evidence", "calibrate": "none"},
        {"calibrate": "variance", "layers": "paper"},
        {"calibrate": "spread+bias"},
    ],
)
def test_every_change_is_what_bup_itself_says_on_the_changed_graph(small, more):
    result = trained(small, epochs=60, **more)
    count = 0
    for search, reasons, links, words in changes_of(small, result):
        for change in filter(None, (links, words)):
            changed = without(small, change.links, change.words)
            seen = Inspector(changed, result).inspect(reasons.node)
            logs = np.log(seen.probs)
            if "bias" in str(more):
                logs = logs + [result.constants[f"bias_{c}"] for c in range(len(logs))]
            probs = softmax(logs)
            assert probs.argmax() == change.answer != reasons.answer
            assert change.confidence == pytest.approx(probs.max(), abs=1e-5)
            again = search.answer_on(reasons.node, changed)
            assert again == (change.answer, pytest.approx(change.confidence))
            count += 1
    assert count > 10


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("gcn", {"calibrate": "temperature"}),
        ("mlp", {}),
        ("sgcn", {}),
        ("ensemble", {}),
        ("gpn", {}),
        ("degem", {}),
    ],
)
def test_changes_of_other_methods_change_the_answer_of_their_network(small, method, more):
    result = trained(small, method, epochs=60, **more)
    count = 0
    for search, reasons, links, words in changes_of(small, result, most=6):
        assert search.why_not(reasons.node) == ""
        same = search.answer_on(reasons.node, small)
        stored = result.probs[reasons.node]
        assert same == (stored.argmax(), pytest.approx(stored.max(), abs=2e-3))
        for change in filter(None, (links, words)):
            changed = without(small, change.links, change.words)
            answer, confidence = search.answer_on(reasons.node, changed)
            assert answer == change.answer != reasons.answer
            assert confidence == pytest.approx(change.confidence)
            count += 1
        if method == "mlp":  # it reads no links
            assert links is None
    assert count


@pytest.mark.parametrize("method", ["mc_dropout", "bbgdc"])
def test_where_the_answer_cannot_be_computed_again_a_sentence_says_why(small, method):
    result = trained(small, method, epochs=30, calibrate="temperature")
    reasoner = Reasoner(small, result)
    search = ChangeSearch(reasoner)
    odd = [n for n in range(small.num_nodes) if search.why_not(n)]
    assert odd, "drawn at random: some probability differs by more than CLOSE"
    reasons = reasoner.explain(odd[0])
    assert all(search.fewest_links(reasoner.explain(node)) is None for node in odd)
    assert find(method).explains.remainder in search.why_not(odd[0])
    assert search.why_not(odd[0]) in sentences.unless(reasons, search, None) or (
        not small.degree[odd[0]]
    )
    with pytest.raises(bup.BupError, match="cannot be computed again"):
        search.answer_on(odd[0], small)


def test_a_calibration_that_cannot_be_repeated_gives_no_confidence(small):
    result = trained(small, "gcn", epochs=60, calibrate="cagcn")
    found = [links for _, _, links, _ in changes_of(small, result) if links is not None]
    assert found and all(change.confidence is None for change in found)


def test_where_nothing_is_found_the_sentence_says_how_far_it_was_looked(small):
    result = trained(small, "gcn", epochs=60)
    reasoner = Reasoner(small, result)
    search = ChangeSearch(reasoner)
    for node in range(small.num_nodes):
        reasons = reasoner.explain(node)
        if small.degree[node] and search.fewest_links(reasons) is None:
            break
    text = sentences.unless(reasons, search, None)
    assert text == f"No set of up to {MOST_LINKS} links was found whose removal changes the answer."
    assert sentences.without_words(reasons, None) == ""


def test_sentences_name_the_links_that_they_take_away(small):
    result = trained(small, "gcn", epochs=60)
    kinds = set()
    for search, reasons, links, words in changes_of(small, result, most=120):
        if links is None:
            continue
        text, node = sentences.unless(reasons, search, links), reasons.node
        ends = [other for link in links.links for other in link if other != node]
        kinds.add(
            min(len(links.links), 2) * (1 if all(node in link for link in links.links) else -1)
        )
        if "that link" in text:
            assert small.node_id(ends[0]) in sentences.because(reasons)
        elif len(links.links) == 1:
            assert all(small.node_id(end) in text for end in ends)
        answer = small.class_names[result.split.classes[links.answer]]
        assert f"it would say {answer}, " in text
        if words is not None:
            text = sentences.without_words(reasons, words)
            count = len(words.words)
            assert text.startswith("Without one word" if count == 1 else f"Without {count} words")
    assert kinds >= {1, 2}


@settings(max_examples=30)
@given(graphs(), st.data())
def test_a_graph_without_words_has_only_lost_these(drawn, data):
    graph, _ = drawn
    before = sparse.csr_array(graph.features).toarray()
    entries = np.argwhere(before).tolist()
    words = data.draw(st.lists(st.sampled_from(entries), max_size=4)) if entries else []
    after = sparse.csr_array(without(graph, words=[tuple(w) for w in words]).features).toarray()
    for node, word in words:
        before[node, word] = 0
    assert (after == before).all()
    assert dataclasses.replace(graph).digest == graph.digest


def test_smaller_sets_come_first_and_what_is_not_needed_is_put_back():
    places = [(0, k) for k in range(40)]

    def first(*needed, tries=(30, 8), most=10):
        changes = lambda chosen: {(0, k) for k in needed} <= set(chosen)  # noqa: E731
        return next(iter(_sets(places, most, tries, changes)), None)

    assert first(29) == ((0, 29),) and first(30) is None
    assert first(2, 7) == ((0, 2), (0, 7)) and first(2, 7, most=1) is None
    assert first(3, 9) == ((0, 3), (0, 9))  # of the ten strongest, the others are put back
    assert first(1, 4, 8) == ((0, 1), (0, 4), (0, 8)) and first(1, 4, 10) is None
    assert first(5, tries=(3, 2)) == ((0, 5),)
