"""One node followed by hand: each number is the model's own and comes from the one before."""

import functools
import math

import numpy as np
import pytest
import torch

import bup
from bup import likelihood
from bup.explanation.derivation import derive
from bup.explanation.inspection import Inspector
from bup.methods.bup import SMALLEST_VARIANCE
from bup.propagation.arithmetic import Operation, ProductTerm

SETTINGS = [
    {},
    {"propagation": "doubt"},
    {"layers": "paper"},
    {"propagation": "doubt", "layers": "paper"},
    {"propagation": "evidence"},
    {"propagation": "gcn", "calibrate": "none"},
    {"propagation": "none", "calibrate": "variance"},
    {"prediction": "erf"},
    {"correlation": "words"},
    {"neighbours": "linked"},
]
NODES = (0, 5, 77, 311)
REAL = [{}, {"propagation": "doubt"}, {"prediction": "erf"}]


def named(settings):
    return ",".join(f"{k}={v}" for k, v in settings.items()) or "defaults"


@pytest.fixture(scope="module")
def small():
    return bup.load_graph("synthetic:nodes=400,classes=4,words=200")


@pytest.fixture(scope="module", params=SETTINGS, ids=named)
def inspector(small, request):
    done = bup.fit(small, epochs=15, validation=60, test=100, left_out=[3], **request.param)
    return Inspector(small, done)


@pytest.mark.parametrize("node", NODES)
def test_the_last_numbers_are_the_runs_own(inspector, node):
    result = inspector.result
    for column in range(result.probs.shape[1]):
        found = derive(inspector, node, column=column)
        assert found["mean"].result == pytest.approx(result.mean[node, column], abs=1e-6)
        assert found["scale"].result == pytest.approx(result.var[node, column], rel=2e-6)
        last = found.operations[-1]
        assert last.result == pytest.approx(result.probs[node, column], abs=1e-6)


@pytest.mark.parametrize("node", NODES)
def test_every_number_comes_from_the_one_before(inspector, node):
    found = derive(inspector, node)
    names = [operation.name for operation in found.operations]

    def line(name, **about):
        ((key, value),) = about.items()
        return next(one for one in found[name].terms if getattr(one, key) == value)

    assert line("gather", node=found.neighbour).factors[1] == pytest.approx(found["say"].result)
    assert found["activate"].terms[0].product == pytest.approx(found["gather"].result)
    assert line("again", node=node).factors[1] == pytest.approx(found["activate"].result)
    assert line("mean", unit=found.unit).factors[0] == pytest.approx(found["again"].result)
    now = found["own"].result
    for name in [n for n in names if n in ("step 1", "map", "step 2")]:
        operation = found[name]
        if name == "map":
            assert line("map", unit=found.unit).factors[0] == pytest.approx(now, rel=1e-5)
        elif operation.start_symbol:
            assert operation.start == pytest.approx(now, rel=1e-5)
        else:
            assert operation.terms[0].factors[0] == pytest.approx(now, rel=1e-5)
            if "factor" in names:
                assert operation.terms[0].factors[1] == pytest.approx(found["factor"].result)
        now = operation.result
    assert line("weigh", unit=found.unit).factors[0] == pytest.approx(now, rel=1e-5)
    if "share" in names:
        own = found["share"].terms[found.column].factors[0]
        assert own == pytest.approx(found["duels"].result, rel=1e-5)


@pytest.mark.parametrize("node", NODES)
def test_the_slices_add_up_to_the_exact_probability(inspector, node):
    found = derive(inspector, node)
    rows = (
        torch.from_numpy(a[[node]]).double() for a in (inspector.result.mean, inspector.result.var)
    )
    exact = likelihood.class_probabilities(*rows)[0, found.column].item()
    assert found["integral"].result == pytest.approx(exact, abs=1e-6)


def test_a_neighbours_neighbours_are_heard_too(inspector):
    """Written out in loops for one neighbour: relu(sum_k K_jk sum_w x_kw W_wu)."""
    graph, weights = inspector.graph, inspector.result.weights["mean_1"]
    found = derive(inspector, 5)
    words = np.asarray(graph.features.todense(), dtype=float)
    total = 0.0
    for k in [found.neighbour, *graph.neighbours(found.neighbour).tolist()]:
        spoken = sum(
            words[k, w] / words[k].sum() * float(weights[w, found.unit])
            for w in range(graph.num_features)
        )
        total += spoken / math.sqrt(
            int(graph.looped_degree[k]) * int(graph.looped_degree[found.neighbour])
        )
    line = next(one for one in found["again"].terms if one.node == found.neighbour)
    assert line.factors[1] == pytest.approx(max(total, 0), abs=1e-6)


@pytest.mark.parametrize("node", [35, 1000, 2222])
@pytest.mark.parametrize("settings", REAL, ids=named)
@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_a_real_papers_way_is_the_one_done_by_hand(followed_papers, name, settings, node):
    """Every class, with nothing but loops, sums and the error function."""
    done_by_hand(followed_papers(name, **settings), node)


@pytest.mark.parametrize("settings", REAL, ids=named)
def test_so_is_that_of_a_hub_and_of_papers_without_links_or_words(followed_papers, settings):
    inspector = followed_papers("citeseer", **settings)
    special = (
        inspector.graph.looped_degree.argmax(),
        inspector.graph.looped_degree.argmin(),
        word_counts(inspector.graph).argmin(),
    )
    for node in map(int, special):
        done_by_hand(inspector, node)
    assert (
        inspector.graph.looped_degree[special[1]] == 1
        and word_counts(inspector.graph)[special[2]] == 0
    )


def word_counts(graph):
    return np.asarray(graph.features.sum(axis=1)).ravel()


def done_by_hand(inspector, node):
    means, variances, chances = by_hand(inspector, node)
    for column in range(len(means)):
        found = derive(inspector, node, column=column)
        assert found["mean"].result == pytest.approx(means[column], abs=1e-6)
        assert found["scale"].result == pytest.approx(variances[column], rel=2e-6)
        assert found.operations[-1].result == pytest.approx(chances[column], abs=1e-6)
        assert inspector.result.probs[node, column] == pytest.approx(chances[column], abs=1e-6)


@pytest.fixture(scope="module")
def followed_papers(request):
    made = {}

    def trained(name, **settings):
        key = name, *settings.items()
        if key not in made:
            graph = request.getfixturevalue(name)
            made[key] = Inspector(graph, bup.fit(graph, epochs=8, **settings))
        return made[key]

    return trained


def by_hand(inspector, node):
    """Mean, variance and probability of every class, as one would work them out on paper."""
    graph, result = inspector.graph, inspector.result
    weights = {name: array.astype(float).tolist() for name, array in result.weights.items()}
    hidden, classes = len(weights["mean_2"]), len(weights["mean_2"][0])

    def degree(i):
        return len(graph.neighbours(i)) + 1

    def around(i):
        return [i, *graph.neighbours(i).tolist()]

    def words(i):
        row = graph.features[[i]]
        return [(w, x / row.data.sum()) for w, x in zip(row.indices, row.data, strict=True)]

    @functools.cache
    def through(i, name):
        return [sum(x * weights[name][w][u] for w, x in words(i)) for u in range(hidden)]

    def heard(i, said):
        parts = [(1 / math.sqrt(degree(i) * degree(j)), said(j)) for j in around(i)]
        return [sum(k * part[u] for k, part in parts) for u in range(hidden)]

    def first(i):
        return [max(0.0, a) for a in heard(i, lambda j: through(j, "mean_1"))]

    second = heard(node, first)
    means = [
        sum(second[u] * weights["mean_2"][u][c] for u in range(hidden)) for c in range(classes)
    ]

    raw = through(node, "var_1")
    own = [math.log1p(math.exp(raw[u] + weights["var_bias"][u])) for u in range(hidden)]
    if dict(result.spec.settings)["propagation"] == "doubt":
        factor = float(inspector.propagation.factor[node])  # checked in propagation/test_doubt.py
    else:
        taken = sum(1 / (degree(node) * degree(j)) for j in graph.neighbours(node).tolist())
        factor = (1 - taken / dict(result.spec.settings)["lam"]) ** 2
    scale = result.constants["variance_factor"]
    variances = []
    for c in range(classes):
        shares = [math.exp(weights["var_2"][u][c]) for u in range(hidden)]
        weighed = factor * sum(own[u] * shares[u] for u in range(hidden)) / sum(shares)
        variances.append(scale * (weighed + SMALLEST_VARIANCE))

    chances = [0.0] * classes
    width = result.constants["variance_width"]
    step = min(1.0, 1.2 / width)
    count = math.ceil(3.5 / step)
    bell = {i: math.exp(-((i * step) ** 2) / 2) for i in range(-count, count + 1)}
    for i in bell:
        share = bell[i] / sum(bell.values())
        wide = [v * math.exp(width * i * step) for v in variances]
        win = beat_each if dict(result.spec.settings)["prediction"] == "erf" else be_largest
        wins = [win(means, wide, c) for c in range(classes)]
        chances = [chances[c] + share * wins[c] / sum(wins) for c in range(classes)]
    return means, variances, chances


def standard(z):
    """Probability that a standard normal number is below z."""
    return 0.5 + 0.5 * math.erf(z / math.sqrt(2))


def beat_each(means, variances, c):
    """The chances of class c against each other class alone, multiplied."""
    others = [k for k in range(len(means)) if k != c]
    return math.prod(
        standard((means[c] - means[k]) / math.sqrt(variances[c] + variances[k])) for k in others
    )


def be_largest(means, variances, c):
    """The chance that the message of class c is the largest, in thin slices of that message."""
    others = [k for k in range(len(means)) if k != c]
    stds = [math.sqrt(v) for v in variances]
    step = min(0.25, 0.25 * min(stds) / stds[c])
    total = 0.0
    for i in range(-round(8 / step), round(8 / step) + 1):
        x = means[c] + stds[c] * i * step
        below = math.prod(standard((x - means[k]) / stds[k]) for k in others)
        total += step * math.exp(-((i * step) ** 2) / 2) / math.sqrt(2 * math.pi) * below
    return total


def test_words_are_spelt_where_the_graph_knows_them(inspector):
    found = derive(inspector, 5)
    first = int(inspector.graph.features[[found.neighbour]].indices[0])
    assert found["say"].terms[0].label == f"“{inspector.graph.words[first]}”"


def test_the_way_leads_where_one_asks(inspector):
    found = derive(inspector, 5)
    other = next(line.node for line in found["gather"].terms if line.node != found.neighbour)
    there = derive(inspector, 5, neighbour=other, unit=2, column=1)
    assert (there.neighbour, there.unit, there.column) == (other, 2, 1)
    assert derive(inspector, 5, neighbour=311).neighbour == found.neighbour, (
        "no neighbour of node 5"
    )


def test_a_node_without_links_hears_itself(path_graph):
    done = bup.fit(path_graph, per_class=1, validation=1, test=1, epochs=2)
    found = derive(Inspector(path_graph, done), 4)
    assert found.neighbour == 4 and len(found["gather"].terms) == 1
    assert found["factor"].result == 1
    assert found.operations[-1].result == pytest.approx(done.probs[4, found.column], abs=1e-6)


def test_other_methods_are_refused(path_graph):
    done = bup.fit(path_graph, method="gcn", per_class=1, validation=1, test=1, epochs=2)
    with pytest.raises(bup.BupError, match="only a run of bup"):
        derive(Inspector(path_graph, done), 0)


def test_an_operation_does_what_its_formula_says():
    lines = (ProductTerm("a", (2.0, 3.0)), ProductTerm("b", (-4.0, 0.5)))
    assert Operation("", "y", ("u", "v"), lines, start=1.0).result == 5
    assert Operation("", "y", ("u", "v"), lines, multiply=True).result == -12
    assert Operation("", "y", ("u", "v"), lines, picked=1).result == -2
    assert Operation("", "y", ("u", "v"), lines[1:], then="max(0, ·)").result == 0
    assert Operation("", "y", ("u", "v"), lines, each="Φ").values[0] == pytest.approx(1)
