"""Which nodes and words speak for an answer."""

import dataclasses
import json
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import bup
from bup import cli
from bup.engine.receptive_field import Inputs
from bup.explanation import sentences
from bup.explanation.inspection import with_links
from bup.explanation.reasons import Reasoner, why_no_reasons
from bup.methods import METHODS
from bup.propagation import RULES

SMALL = "synthetic:nodes=120,classes=3,words=40,mean_degree=5"
EXACT = [
    *(("bup", {"propagation": rule, "layers": "simple"}) for rule in RULES),
    *(("bup", {"propagation": rule, "layers": "paper"}) for rule in RULES),
    ("bup", {"calibrate": "variance"}),
    *((method, {}) for method in ("gcn", "energy", "grasp", "gebm", "mlp")),
    ("gcn", {"calibrate": "temperature+bias"}),
]
WITH_REMAINDER = [
    *("mc_dropout", "ensemble", "gpn", "degem", "vgcn", "bbgdc", "bbde"),
]


@pytest.fixture(scope="module")
def small() -> bup.Graph:
    return bup.load_graph(SMALL)


def trained(graph, method="bup", **more):
    return bup.fit(graph, method, **{"per_class": 5, "validation": 20, "epochs": 5} | more)


def gap_of(outputs, reasons):
    rows = outputs[reasons.node].astype(float)
    return rows[reasons.answer] - rows[reasons.rival]


@pytest.mark.parametrize(("method", "more"), EXACT)
def test_contributions_sum_to_the_gap_of_the_stored_outputs(small, method, more):
    result = trained(small, method, **more)
    reasoner = Reasoner(small, result)
    for node in (0, 35, int(small.degree.argmax())):
        found = reasoner.explain(node)
        assert found.remainder_name == "" and abs(found.remainder) < 1e-9
        assert found.contributions.sum() == pytest.approx(gap_of(result.mean, found), abs=1e-5)
        assert found.words.sum(axis=1) == pytest.approx(found.contributions, abs=1e-9)
        assert len(found.nodes) == len(set(found.nodes.tolist()))
        assert (np.diff(np.abs(found.contributions)) <= 1e-12).all()


def test_the_outputs_of_a_subjective_network_are_logs_of_evidence(small):
    result = trained(small, "sgcn")
    alpha = result.probs * result.probs.shape[1] / result.own_scores["vacuity"][:, None]
    found = Reasoner(small, result).explain(35)
    evidence = np.log(alpha.astype(float) - 1)
    assert found.contributions.sum() == pytest.approx(gap_of(evidence, found), abs=1e-3)


@pytest.mark.parametrize("method", WITH_REMAINDER)
def test_what_is_no_sum_over_words_is_a_named_remainder(small, method):
    result = trained(small, method)
    found = Reasoner(small, result).explain(35)
    stored = np.log(result.probs) if result.mean is None else result.mean
    assert found.gap == pytest.approx(gap_of(stored, found), abs=1e-6)
    assert found.contributions.sum() + found.remainder == pytest.approx(found.gap, abs=1e-9)
    assert abs(found.remainder) > 1e-6 and found.remainder_name
    assert found.words.sum(axis=1) == pytest.approx(found.contributions, abs=1e-6)


def test_members_of_an_ensemble_contribute_on_average(small):
    result = trained(small, "ensemble")
    found = Reasoner(small, result).explain(35)
    x, kernel = dense(small)
    pairs = zip(result.weights["mean_1"], result.weights["mean_2"], strict=True)
    outputs = np.mean([kernel @ np.maximum(kernel @ x @ w1, 0) @ w2 for w1, w2 in pairs], axis=0)
    assert found.contributions.sum() == pytest.approx(gap_of(outputs, found), abs=1e-5)


def test_every_method_says_whether_it_can(small):
    can = {name for name, method in METHODS.items() if method.explains.reasons}
    exact = {method for method, _ in EXACT} | {"sgcn"}
    assert can == exact | set(WITH_REMAINDER)
    for name in can:
        assert bool(METHODS[name].explains.remainder) == (name in WITH_REMAINDER)


# Against slow and obvious code


@st.composite
def graphs(draw, most=9, words=6):
    n = draw(st.integers(3, most))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True))
    random = np.random.RandomState(draw(st.integers(0, 2**16)))
    features = random.rand(n, words) * (random.rand(n, words) < 0.6)  # some have none
    ends = np.array(sorted(chosen), dtype=np.int64).reshape(-1, 2).T
    labels = random.permutation(np.arange(n) % 3)
    graph = bup.Graph("random", features.astype(np.float32), ends, labels, ("a", "b", "c"))
    return graph, random


def hand_made(graph, random, hidden=4, method="gcn"):
    """A result whose weights are drawn, with the outputs that they give."""
    f, n = graph.num_features, graph.num_nodes
    first, second = random.randn(f, hidden), random.randn(hidden, 3)
    x, kernel = dense(graph)
    outputs = kernel @ np.maximum(kernel @ x @ first, 0) @ second
    probs = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    split = bup.Split(np.arange(1), np.arange(1, 2), np.arange(2, n), classes=(0, 1, 2))
    spec = bup.methods.complete(bup.Spec("random", method))
    weights = {"mean_1": first.astype(np.float32), "mean_2": second.astype(np.float32)}
    return bup.Result(
        spec=spec,
        graph=graph,
        split=split,
        probs=probs.astype(np.float32),
        mean=outputs.astype(np.float32),
        var=None,
        weights=weights,
        constants={},
        own_scores={},
        history={},
        kept_epoch=1,
        seconds=0.0,
    )


def dense(graph):
    """X with rows that sum to one, and K = D^-1/2 (A + I) D^-1/2, as on paper."""
    x = sparse.csr_array(graph.features).toarray().astype(float)
    sums = np.abs(x).sum(axis=1, keepdims=True)
    x = np.divide(x, sums, out=np.zeros_like(x), where=sums > 0)
    links = np.eye(graph.num_nodes)
    for a, b in graph.edges.T:
        links[a, b] = links[b, a] = 1
    root = 1 / np.sqrt(links.sum(axis=1))
    return x, root[:, None] * links * root[None, :]


def by_loops(graph, weights, node, answer, rival):
    """Contributions [inner, source, word] to the gap, one product after the other."""
    x, kernel = dense(graph)
    first, second = (weights[name].astype(float) for name in ("mean_1", "mean_2"))
    n, f = x.shape
    found = np.zeros((n, n, f))
    for inner in range(n):
        before = kernel[inner] @ x @ first
        for unit in np.flatnonzero(before > 0):
            slope = kernel[node, inner] * (second[unit, answer] - second[unit, rival])
            for source in range(n):
                for word in range(f):
                    value = kernel[inner, source] * x[source, word] * first[word, unit]
                    found[inner, source, word] += slope * value
    return found


@settings(max_examples=40)
@given(graphs(), st.data())
def test_contributions_are_those_of_a_loop_over_all_products(drawn, data):
    graph, random = drawn
    result = hand_made(graph, random)
    node = data.draw(st.integers(0, graph.num_nodes - 1))
    found = Reasoner(graph, result).explain(node)
    slow = by_loops(graph, result.weights, node, found.answer, found.rival)
    words = np.zeros((graph.num_nodes, graph.num_features))
    words[found.nodes] = found.words.toarray()
    assert words == pytest.approx(slow.sum(axis=0), abs=1e-6)
    for place, source in enumerate(found.nodes.tolist()):
        assert found.contributions[place] == pytest.approx(slow[:, source].sum(), abs=1e-6)
        near = {node, *graph.neighbours(node).tolist()}
        if source in near:
            assert found.through[place] == source
        else:
            each = np.abs(slow[:, source].sum(axis=1))
            assert each[found.through[place]] == pytest.approx(each.max(), abs=1e-6)
    carried = dict.fromkeys(map(tuple, graph.edges.T.tolist()), 0.0)
    for inner in range(graph.num_nodes):
        for source in range(graph.num_nodes):
            steps = {(min(node, inner), max(node, inner)), (min(inner, source), max(inner, source))}
            for link in steps:
                if link in carried:
                    carried[link] += slow[inner, source].sum()
    links = dict(zip(map(tuple, found.links.tolist()), found.link_contributions, strict=True))
    for link, value in carried.items():
        assert links.get(link, 0.0) == pytest.approx(value, abs=1e-6)
    assert set(links) <= set(carried)


@settings(max_examples=30)
@given(graphs())
def test_a_group_is_the_sum_of_its_members(drawn):
    graph, random = drawn
    reasoner = Reasoner(graph, hand_made(graph, random))
    members = list(range(0, graph.num_nodes, 2))
    found = reasoner.explain_group(members)
    each = [reasoner.explain(node) for node in members]
    for node in range(graph.num_nodes):
        here = found.contributions[found.nodes == node].sum()
        assert here == pytest.approx(sum(one.contribution(node) for one in each), abs=1e-9)
    for place, node in enumerate(found.nodes.tolist()):
        assert found.supported[place] == sum(one.contribution(node) > 0 for one in each)
        own = sum(one.contribution(node) for one in each if one.node == node)
        assert found.own[place] == pytest.approx(own, abs=1e-9)
    assert found.words == pytest.approx(sum(one.words.sum(axis=0) for one in each), abs=1e-9)
    assert found.gap == pytest.approx(sum(one.gap for one in each))
    assert found.contributions.sum() + found.remainder == pytest.approx(found.gap)


@pytest.mark.parametrize("method", ["gpn", "degem"])
def test_a_group_of_a_network_is_the_sum_of_its_members_too(small, method):
    reasoner = Reasoner(small, trained(small, method))
    found = reasoner.explain_group([3, 35, 70, 3])
    each = [reasoner.explain(node) for node in (3, 35, 70)]
    for node in found.nodes[[0, 5, -1]].tolist():
        here = found.contributions[found.nodes == node].sum()
        assert here == pytest.approx(sum(one.contribution(node) for one in each), abs=1e-4)
    assert found.gap == pytest.approx(sum(one.gap for one in each))
    assert found.own is None and found.supported is None and "supports" not in found.table()


class OwnModel(torch.nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        from torch_geometric.nn import GCNConv

        self.one, self.two = GCNConv(features, 8), GCNConv(8, classes)

    def forward(self, x, edge_index):
        return self.two(self.one(x, edge_index).relu(), edge_index)


def test_an_own_model_is_taken_apart_by_gradient_times_input(small):
    torch.manual_seed(0)
    model = OwnModel(small.num_features, small.num_classes)
    result = bup.fit(small, model=model, per_class=5, validation=20, epochs=5)
    found = Reasoner(small, result).explain(35)
    data = small.to_pyg()
    data.x.requires_grad_(True)
    outputs = result.model.eval()(data.x, data.edge_index)[35]
    gap = outputs[found.answer] - outputs[found.rival]
    gap.backward()
    expected = (data.x.grad * data.x).detach().numpy()
    words = np.zeros(expected.shape)
    words[found.nodes] = found.words.toarray()
    assert words == pytest.approx(expected, abs=1e-5)
    assert found.remainder_name == "biases and what is not linear"
    logs = np.log(result.probs[35].astype(float))
    assert found.gap == pytest.approx(logs[found.answer] - logs[found.rival], abs=1e-5)
    assert found.contributions.sum() + found.remainder == pytest.approx(found.gap)
    assert str(bup.explain(result, 35)).startswith("It says ")


# What is compared, and what cannot be


def test_a_mistake_is_compared_with_the_truth_else_with_the_runner_up(small):
    result = trained(small, left_out=[2], epochs=30)
    reasoner, classes = Reasoner(small, result), list(result.split.classes)
    for node in range(small.num_nodes):
        found = reasoner.explain(node)
        ranked = np.argsort(-result.probs[node], kind="stable")
        true = small.labels[node]
        wrong = true in classes and classes.index(true) != ranked[0]
        assert found.answer == ranked[0]
        assert found.rival == (classes.index(true) if wrong else ranked[1])
    named = reasoner.explain(0, against=small.class_names[classes[reasoner.explain(0).rival]])
    assert named.gap == reasoner.explain(0).gap


def test_what_cannot_be_asked_is_explained(small):
    result = trained(small, left_out=[2])
    reasoner = Reasoner(small, result)
    with pytest.raises(bup.BupError, match="no node"):
        reasoner.explain("nobody")
    with pytest.raises(bup.BupError, match=f"never shown {small.class_names[2]}"):
        reasoner.explain(0, against=2)
    with pytest.raises(bup.BupError, match=r"answer is .* itself"):
        reasoner.explain(0, against=reasoner.explain(0).answer_name)
    with pytest.raises(bup.BupError, match="at least one node"):
        reasoner.explain_group([])
    lost = dataclasses.replace(result, weights={})
    assert "earlier version" in why_no_reasons(lost)
    with pytest.raises(bup.BupError, match="earlier version"):
        Reasoner(small, lost)
    odd = dataclasses.replace(result, weights=result.weights | {"mean_1": np.zeros((3, 2))})
    with pytest.raises(bup.BupError, match=r"shapes \(1, 3, 2\) .* train it again"):
        Reasoner(small, odd)
    with pytest.raises(bup.BupError, match=r"no sum over words\. Choose one of BUP"):
        Reasoner(small, trained(small, "ggp"))


def test_imported_predictions_have_no_reasons(small):
    result = trained(small)
    result = dataclasses.replace(result, spec=dataclasses.replace(result.spec, method="own"))
    with pytest.raises(bup.BupError, match="came without their model"):
        bup.explain(result, 0, graph=small)


# Sentences


def test_a_table_has_every_node_within_reach_and_words_where_there_are_some(small):
    result = trained(small)
    table = bup.explain(result, 35).table()
    found = Reasoner(small, result).explain(35)
    assert table["contribution"].to_numpy() == pytest.approx(found.contributions)
    assert table["told"].tolist() == np.isin(found.nodes, result.split.train).tolist()
    distances = {35: 0} | dict.fromkeys(small.neighbours(35).tolist(), 1)
    assert table["links_away"].tolist() == [distances.get(n, 2) for n in found.nodes.tolist()]
    assert ("words" in table) == (small.words is not None)
    worded = dataclasses.replace(small, words=tuple(f"w{i}" for i in range(small.num_features)))
    other = Reasoner(worded, trained(worded)).explain(35)
    first = other.strongest_words(other.nodes[0], 1)[0][0]
    assert other.table()["words"][0].startswith(first) and first.startswith("w")


def test_an_answer_that_only_the_calibration_gives_is_said_so(small):
    result = trained(small)
    found = Reasoner(small, result).explain(35)
    swapped = result.probs.copy()
    columns = [found.rival, found.answer]
    swapped[35, columns] = swapped[35, columns[::-1]]
    other = Reasoner(small, dataclasses.replace(result, probs=swapped))
    reasons = other.explain(35, against=found.answer_name)
    assert reasons.gap == pytest.approx(-found.gap)
    text = sentences.because(reasons)
    assert text.startswith("By the means of its messages alone the model would say ")
    assert reasons.rival_name in text and "calibration" in text


def test_a_node_without_links_or_words_says_what_can_be_said(small):
    features = sparse.csr_array(small.features).toarray()
    features[35] = 0
    ends = [(35, int(n)) for n in small.neighbours(35)]
    alone = with_links(dataclasses.replace(small, features=features), remove=ends)
    result = trained(alone)
    found = bup.explain(result, 35)
    assert found.reasons.nodes.tolist() == [35] and found.reasons.gap == 0
    assert found.links is None and found.words is None
    assert "no links to take away" in str(found)
    only_words = with_links(small, remove=ends)
    found = bup.explain(trained(only_words), 35)
    assert found.reasons.nodes.tolist() == [35] and found.reasons.gap > 0
    assert "mainly because of its own words" in str(found)


# The matrices of a changed graph


@settings(max_examples=40)
@given(graphs(), st.data())
def test_inputs_without_something_are_those_of_the_graph_without_it(drawn, data):
    graph, _ = drawn
    links = [tuple(pair) for pair in graph.edges.T.tolist()]
    gone = data.draw(st.lists(st.sampled_from(links), unique=True)) if links else []
    flip = data.draw(st.booleans())
    entries = np.argwhere(sparse.csr_array(graph.features).toarray()).tolist()
    chosen = data.draw(st.lists(st.sampled_from(entries), max_size=5)) if entries else []
    words = list(dict.fromkeys(map(tuple, chosen)))
    features = sparse.csr_array(graph.features).toarray()
    for node, word in words:
        features[node, word] = 0
    changed = with_links(dataclasses.replace(graph, features=features), remove=gone)
    given_links = [pair[::-1] for pair in gone] if flip else gone
    before = Inputs.of(graph)
    copies = [m.toarray() for m in (before.words, before.kernel, before.links)]
    fast, slow = before.without(given_links, words), Inputs.of(changed)
    for name in ("words", "kernel", "links"):
        found, expected = getattr(fast, name).toarray(), getattr(slow, name).toarray()
        assert found == pytest.approx(expected, abs=1e-6)
    for old, copy in zip((before.words, before.kernel, before.links), copies, strict=True):
        assert (old.toarray() == copy).all()


# The command


def test_the_command_prints_sentences_and_a_table(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))

    def run(*more, node="35"):
        given = ["explain", "--graph", SMALL, "--node", node, "--per-class", "5", "--set"]
        monkeypatch.setattr(sys, "argv", ["bup", *given, "epochs=5", *more])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return stop.value.code, captured.out, captured.err

    code, text, _ = run("--rows", "3")
    found = json.loads(run("--rows", "3", "--json")[1])
    assert code == 0 and len(found["nodes"]) == 3
    for sentence in found["sentences"]:
        assert sentence in text
    assert f"gap {found['gap']:.3f}" in text and found["nodes"][2]["id"] in text
    assert json.loads(run("--rows", "3", "--json", "--against", found["against"])[1]) == found
    code, _, error = run(node="nobody")
    assert code == 2 and "nobody" in error and error.count("\n") == 1
    code, _, error = run("--against", found["answer"])
    assert code == 2 and "compare it with another class" in error


def test_what_led_a_group_there_is_told_with_the_shares_of_its_table(small):
    result = trained(small, "gcn", epochs=40)
    wrong = np.flatnonzero(result.predicted != small.labels)
    reasoner = Reasoner(small, result)
    found = reasoner.explain_group(wrong)
    table, text = found.table(), sentences.led_there(found)
    share = table.share[table.member & (table.share > 0)].sum()
    assert text.startswith(f"{share:.0%} of all that speaks for these answers")
    told = table[table.told & (table.share > 0)]
    assert f"{told.share.sum():.0%} from {len(told)} papers whose class the model was told" in text
    to_others = dict.fromkeys(range(small.num_nodes), 0.0)
    for node in wrong.tolist():
        one = reasoner.explain(node)
        for other in set(one.nodes.tolist()) - {node}:
            to_others[other] += one.contribution(other)
    worst = sorted(to_others, key=to_others.get, reverse=True)[:5]
    assert found.misleading().tolist() == worst
    names = [small.node_id(node) for node in worst]
    assert f"The 5 papers that mislead others most: {', '.join(names[:4])} and {names[4]}" in text
    words = np.sort(found.words)[::-1]
    carried = words[:5].sum() / words[words > 0].sum()
    assert f"5 words carry {carried:.0%} of it" in text
    right = np.flatnonzero(result.predicted == small.labels)
    assert "that lead others most" in sentences.led_there(reasoner.explain_group(right))
    averaged = Reasoner(small, trained(small, "mc_dropout")).explain_group(wrong)
    assert "the average over random dropout is not counted." in sentences.led_there(averaged)
