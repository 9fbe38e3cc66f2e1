"""Propagation rules: what the paper's conditioning gives, and what every rule promises."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from torch.autograd import gradcheck

from bup.engine.receptive_field import Inputs
from bup.engine.sparse import Csr
from bup.errors import BupError
from bup.graph import Graph, simple_edges
from bup.graph.operators import gcn_kernel
from bup.propagation import RULES, Propagation
from bup.propagation.conditional import Conditional, conditional_variance, covariance
from bup.propagation.correlations import CORRELATIONS, LinkCorrelation


def graph_of(pairs, n, words=None) -> Graph:
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Graph(
        "test",
        np.ones((n, 1), dtype=np.float32) if words is None else words,
        simple_edges(ends[:, 0], ends[:, 1]),
        np.zeros(n, dtype=np.int64),
        ("a",),
    )


@st.composite
def graphs(draw) -> Graph:
    n = draw(st.integers(1, 12))
    node = st.integers(0, n - 1)
    words = np.random.RandomState(draw(st.integers(0, 2**31))).binomial(1, 0.4, (n, 5))
    pairs = draw(st.lists(st.tuples(node, node), max_size=40))
    return graph_of(pairs, n, words.astype(np.float32))


@st.composite
def graphs_with_variances(draw):
    graph = draw(graphs())
    seed = draw(st.integers(0, 2**31))
    exponent = torch.randn(
        graph.num_nodes, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )
    return graph, (2 * exponent).exp()


def rule_on(graph: Graph, rule: str, **values) -> Propagation:
    return RULES[rule].propagation(graph, RULES[rule].settings_from(**values))


def stepped(graph: Graph, var: torch.Tensor, rule: str, **values) -> torch.Tensor:
    """One step on all nodes, in double precision: single has too few digits for these checks."""
    hop = Inputs.of(graph).everything().hops[0]
    exact = SimpleNamespace(
        at_targets=lambda values: values,
        gather=lambda values: values,
        links=Csr.from_scipy(graph.adjacency, dtype=torch.float64),
        kernel=Csr.from_scipy(gcn_kernel(graph), dtype=torch.float64),
    )
    propagation = rule_on(graph, rule, **values)
    if isinstance(propagation, Conditional):
        propagation._factor = torch.from_numpy(propagation.factor)
    single = rule_on(graph, rule, **values).step(var.float(), hop)
    double = propagation.step(var, exact)
    assert torch.allclose(single, double.float(), rtol=1e-4)
    return double


def schur(graph: Graph, var: torch.Tensor, s) -> torch.Tensor:
    """The obvious way: the covariance of each node and its neighbours, and one inverse of it.

    1 / (Sigma^-1)_ii is the variance of i given all the others.
    """
    correlation = CORRELATIONS[s.correlation]
    result = torch.empty_like(var)
    for i in range(graph.num_nodes):
        nodes = [i, *graph.neighbours(i).tolist()]
        for c in range(var.shape[1]):
            sigma = np.diag(var[nodes, c].numpy())
            for a, j in enumerate(nodes):
                for b, k in enumerate(nodes):
                    filled = s.neighbours == "linked" and k in graph.neighbours(j)
                    if a != b and (a == 0 or b == 0 or filled):
                        cor = correlation.between(graph, np.array([j]), np.array([k]), s.lam)[0]
                        sigma[a, b] = cor * float((var[j, c] * var[k, c]).sqrt())
            result[i, c] = 1 / np.linalg.inv(sigma)[0, 0]
    return result


@given(
    graphs_with_variances(),
    st.floats(0.8, 10),
    st.sampled_from(list(CORRELATIONS)),
    st.sampled_from(["apart", "linked"]),
)
@settings(max_examples=60, deadline=None)
def test_a_step_is_the_conditional_variance_under_any_correlation(sample, lam, name, neighbours):
    graph, var = sample
    chosen = {"lam": lam, "correlation": name, "neighbours": neighbours}
    s = RULES["paper"].settings_from(**chosen)
    try:
        after = stepped(graph, var, "paper", **chosen)
    except BupError as error:  # filled-in correlations need not form a covariance
        assert neighbours == "linked" and "lam above" in str(error)
        return
    assert torch.allclose(after, schur(graph, var, s), rtol=1e-8, atol=0)
    assert (after > 0).all()


def test_equation_four_and_five_by_hand():
    cov = covariance(np.array([4.0, 9.0, 1.0]), np.array([0.5, 0.2]))
    assert np.allclose(cov, [[4, 3, 0.4], [3, 9, 0], [0.4, 0, 1]])
    var, parts = conditional_variance(cov)
    assert np.allclose(parts, [1.0, 0.16]) and var == pytest.approx(2.84)
    filled = covariance(np.ones(3), np.array([0.5, 0.5]), np.array([[0, 0.5], [0.5, 0]]))
    assert conditional_variance(filled)[0] == pytest.approx(1 - 2 / 6)


def test_filling_in_neighbours_changes_a_triangle():
    triangle = graph_of([(0, 1), (1, 2), (0, 2)], 3)
    plain, filled = (rule_on(triangle, "paper", neighbours=n).factor for n in ("apart", "linked"))
    assert plain == pytest.approx(1 - 2 / 9)
    # r = (1/3, 1/3), R = [[1, 1/3], [1/3, 1]]: r^T R^-1 r = 2/9 / (4/3) = 1/6
    assert filled == pytest.approx(1 - 1 / 6)


def test_nodes_that_speak_alike_make_each_other_surer():
    words = np.array([[1, 0], [1, 0], [0, 1], [0, 0]], dtype=np.float32)
    graph = graph_of([(0, 1), (0, 2), (0, 3)], 4, words)
    factor = rule_on(graph, "paper", correlation="words").factor
    assert factor[0] == pytest.approx(1 - 1 / 8)  # only node 1 speaks as it does
    assert factor[1] == pytest.approx(1 - 1 / 8) and factor[2] == factor[3] == 1
    shares = rule_on(graph, "paper", correlation="words").shares(0, np.ones((4, 2)))
    assert np.allclose(shares.change, [[-1 / 8] * 2, [0, 0], [0, 0]])


@given(graphs_with_variances(), st.sampled_from(list(CORRELATIONS)))
@settings(max_examples=30, deadline=None)
def test_under_the_papers_rule_the_neighbours_variances_cancel(sample, correlation):
    graph, var = sample
    louder = var.clone()
    louder[1:] *= 50
    for neighbours in ("apart", "linked"):
        rule = rule_on(graph, "paper", lam=4.0, correlation=correlation, neighbours=neighbours)
        quiet, loud = (rule.shares(0, v.numpy()).after for v in (var, louder))
        assert np.allclose(quiet, loud, rtol=1e-10)


def test_under_the_papers_rule_a_busy_neighbour_can_add_variance():
    """Node 0 has one neighbour of degree 2; a second one, of degree 100, takes less off."""
    one = graph_of([(0, 1)], 101)
    two = graph_of([(0, 1), *[(2, k) for k in range(3, 101)], (0, 2)], 101)
    assert two.looped_degree[2] == 100
    before, after = (rule_on(graph, "paper").factor[0] for graph in (one, two))
    assert before == pytest.approx(1 - 1 / (2 * 2))
    assert after == pytest.approx(1 - (1 / 2 + 1 / 100) / 3)
    assert after > before


@given(graphs(), st.floats(0.5, 4), st.sampled_from(list(CORRELATIONS)))
@settings(max_examples=60, deadline=None)
def test_half_is_the_smallest_lam_that_keeps_every_variance_positive(graph, lam, correlation):
    factor = rule_on(graph, "paper", lam=lam, correlation=correlation).factor
    assert (factor > 1 - 1 / (2 * lam) - 1e-12).all()


def test_a_smaller_lam_is_refused_and_would_be_wrong():
    for lam in (0.49, 0.0, -1.0, float("nan")):
        with pytest.raises(BupError, match=r"lam must be >= 0.5 .* got"):
            rule_on(graph_of([], 1), "paper", lam=lam)
    # in a large star of leaves a lam below 0.5 would take more than everything from the hub
    star = graph_of([(0, k) for k in range(1, 200)], 200)
    assert 1 - (1 - rule_on(star, "paper", lam=0.5).factor[0]) * 0.5 / 0.49 < 0


def test_correlations_that_cannot_be_are_refused(monkeypatch):
    def use(between) -> dict:
        toy = LinkCorrelation(
            "toy", "", "", lambda graph, i, j, lam: between(*graph.looped_degree[[i, j]])
        )
        monkeypatch.setitem(CORRELATIONS, "toy", toy)
        return {"correlation": "toy"}

    star = graph_of([(0, 1), (0, 2), (0, 3)], 4)
    with pytest.raises(BupError, match="'toy' must be symmetric"):
        rule_on(star, "paper", **use(lambda a, b: 1 / a))
    with pytest.raises(BupError, match=r"leave node 0 no variance .*lam above 1"):
        rule_on(star, "paper", **use(lambda a, b: np.full(len(a), 0.6)))
    # nodes 2 and 3 are both tied to 1 but not to each other: 0.9 twice cannot be
    kite = graph_of([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], 4)
    with pytest.raises(BupError, match="neighbours of node 0 do not form a covariance"):
        tied = use(lambda a, b: np.where(a + b > 7, 0.1, 0.9))
        rule_on(kite, "paper", neighbours="linked", **tied)


@given(graphs_with_variances(), st.floats(0.1, 5), st.floats(0.1, 5))
@settings(max_examples=50, deadline=None)
def test_evidence_adds_precisions(sample, weight, noise):
    graph, var = sample
    result = stepped(graph, var, "evidence", evidence_weight=weight, evidence_noise=noise)
    for i in range(graph.num_nodes):
        precision = 1 / var[i]
        for j in graph.neighbours(i):
            precision = precision + weight / (var[j] + noise)
        assert torch.allclose(result[i], 1 / precision, rtol=1e-12)


@given(graphs_with_variances(), st.integers(0, 11), st.integers(0, 11))
@settings(max_examples=60, deadline=None)
def test_evidence_falls_with_every_further_neighbour(sample, a, b):
    graph, var = sample
    a, b = a % graph.num_nodes, b % graph.num_nodes
    linked = graph_of([*graph.edges.T.tolist(), (a, b)], graph.num_nodes)
    before, after = (stepped(g, var, "evidence") for g in (graph, linked))
    assert (after <= before).all()
    if linked.num_edges > graph.num_edges:
        assert (after[[a, b]] < before[[a, b]]).all()


@given(graphs_with_variances(), st.integers(0, 11), st.floats(1.01, 100))
@settings(max_examples=60, deadline=None)
def test_evidence_rises_with_every_neighbours_variance(sample, node, times):
    graph, var = sample
    node %= graph.num_nodes
    louder = var.clone()
    louder[node] *= times
    before, after = (stepped(graph, v, "evidence") for v in (var, louder))
    assert (after >= before * (1 - 1e-12)).all()
    near = graph.neighbours(node).tolist()
    assert (after[near] > before[near]).all()


@pytest.mark.parametrize("rule", [name for name, rule in RULES.items() if rule.lesson])
def test_gradients(rule):
    graph = graph_of([(0, 1), (1, 2), (0, 2), (2, 3)], 5)
    var = torch.rand(5, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 0.1
    var.requires_grad_(True)
    assert gradcheck(lambda v: stepped(graph, v, rule), (var,))


@given(
    graphs_with_variances(),
    st.sampled_from([name for name, rule in RULES.items() if rule.lesson or name == "none"]),
    st.integers(0, 11),
)
@settings(max_examples=80, deadline=None)
def test_shares_sum_exactly_to_the_change_of_every_rule(sample, rule, node):
    graph, var = sample
    node %= graph.num_nodes
    values = {"lam": 2.0, "evidence_weight": 0.7, "evidence_noise": 0.3}
    after = stepped(graph, var, rule, **values)[node].numpy()
    shares = rule_on(graph, rule, **values).shares(node, var.numpy())
    assert shares.neighbours.tolist() == graph.neighbours(node).tolist()
    assert np.allclose(shares.after, after, rtol=1e-12)
    total = shares.before + shares.own + shares.change.sum(axis=0)
    assert np.allclose(total, after, rtol=1e-12)
    if rule in ("paper", "evidence"):
        assert (shares.change < 0).all() and not shares.own.any()


@given(graphs_with_variances(), st.sampled_from(["apart", "linked"]))
@settings(max_examples=30, deadline=None)
def test_shares_agree_with_the_factor_that_training_uses(sample, neighbours):
    graph, var = sample
    rule = rule_on(graph, "paper", lam=4.0, correlation="words", neighbours=neighbours)
    for node in range(graph.num_nodes):
        shares = rule.shares(node, var.numpy())
        assert np.allclose(shares.after, rule.factor[node] * shares.before, rtol=1e-10)


@pytest.mark.parametrize("rule", [name for name, rule in RULES.items() if rule.lesson])
def test_every_rule_writes_its_formula_for_a_node(rule):
    graph = graph_of([(0, 1), (1, 2)], 3)
    propagation = rule_on(graph, rule)
    formula = propagation.formula(1, [propagation.shares(1, np.ones((3, 2)))])
    assert formula.words and formula.latex and formula.meaning
    assert formula.latex.count("{") == formula.latex.count("}")


@pytest.mark.parametrize(
    ("name", "sign"), [("cora", -0.21), ("citeseer", -0.08), ("pubmed", -0.61)]
)
def test_on_the_real_graphs_the_papers_factor_falls_with_degree(name, sign, request):
    graph = request.getfixturevalue(name)
    factor = rule_on(graph, "paper").factor
    assert spearmanr(graph.looped_degree, factor).statistic == pytest.approx(sign, abs=0.01)


def test_a_hop_picks_numbers_of_numpy_and_of_torch(path_graph):
    hop, _ = Inputs.of(path_graph).field([np.array([1, 3]), np.array([0])]).hops
    values = np.random.RandomState(0).random_sample((2, path_graph.num_nodes))
    for given_values in (values, values[0], path_graph.looped_degree):
        expected = hop.gather(torch.tensor(given_values, dtype=torch.float32))
        assert torch.equal(hop.gather(given_values), expected)
