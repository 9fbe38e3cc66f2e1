import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck

from bup import propagation
from bup.errors import BupError
from bup.graph import Graph, simple_edges
from bup.propagation import (
    conditional_variance,
    conditional_variance_dense,
    edge_correlations,
    evidence_variance,
    explain,
    paper_correlation,
    paper_factor,
    reduction_shares,
)
from bup.sparse import Csr
from bup.operators import gcn_kernel


def graph_of(pairs, n) -> Graph:
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Graph(
        "test",
        np.ones((n, 1), dtype=np.float32),
        simple_edges(ends[:, 0], ends[:, 1]),
        np.zeros(n, dtype=np.int64),
        ("a",),
    )


@st.composite
def graphs(draw) -> Graph:
    n = draw(st.integers(1, 12))
    node = st.integers(0, n - 1)
    return graph_of(draw(st.lists(st.tuples(node, node), max_size=40)), n)


@st.composite
def graphs_with_variances(draw):
    graph = draw(graphs())
    seed = draw(st.integers(0, 2**31))
    exponent = torch.randn(
        graph.num_nodes, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )
    return graph, (2 * exponent).exp()


def both_directions(graph: Graph) -> tuple[torch.Tensor, np.ndarray]:
    index = np.concatenate([graph.edges, graph.edges[::-1]], axis=1)
    return torch.from_numpy(index), index


@given(graphs_with_variances(), st.floats(0.5, 10))
@settings(max_examples=60, deadline=None)
def test_closed_form_general_form_and_schur_complement_agree(sample, lam):
    graph, var = sample
    cor = edge_correlations(graph, paper_correlation(lam))
    index, ends = both_directions(graph)
    on_links = torch.from_numpy(cor[ends[0], ends[1]]) if ends.size else torch.zeros(0).double()

    closed = var * torch.from_numpy(paper_factor(graph, lam))[:, None]
    general = conditional_variance(var, on_links, index)
    dense = conditional_variance_dense(var, torch.from_numpy(cor.toarray()))
    assert torch.allclose(closed, dense, rtol=1e-10, atol=0)
    assert torch.allclose(general, dense, rtol=1e-10, atol=0)
    assert (closed > 0).all()


@given(graphs_with_variances(), st.sampled_from(["paper", "constant", "sum"]))
@settings(max_examples=60, deadline=None)
def test_any_symmetric_correlation_and_filled_in_neighbours_agree_with_schur(sample, which):
    graph, var = sample
    correlation = {
        "paper": paper_correlation(3.0),
        "constant": lambda a, b: np.full_like(a, 0.08),
        "sum": lambda a, b: 0.7 / (a + b),
    }[which]
    cor = torch.from_numpy(edge_correlations(graph, correlation).toarray())
    for neighbour_links in (False, True):
        shares = reduction_shares(graph, correlation, neighbour_links)
        kept = 1 - torch.from_numpy(np.asarray(shares.sum(axis=1)).ravel())
        dense = conditional_variance_dense(var, cor, neighbour_links)
        assert torch.allclose(var * kept[:, None], dense, rtol=1e-10, atol=1e-14)


def test_filling_in_neighbours_changes_a_triangle():
    triangle = graph_of([(0, 1), (1, 2), (0, 2)], 3)
    plain, filled = (
        reduction_shares(triangle, paper_correlation(1.0), links).sum() for links in (False, True)
    )
    assert plain == pytest.approx(3 * 2 / 9)
    # r = (1/3, 1/3), R = [[1, 1/3], [1/3, 1]]: r^T R^-1 r = 2/9 / (4/3) = 1/6
    assert filled == pytest.approx(3 / 6)


@given(graphs_with_variances())
@settings(max_examples=30, deadline=None)
def test_under_the_papers_rule_the_neighbours_variances_cancel(sample):
    graph, var = sample
    cor = torch.from_numpy(edge_correlations(graph, paper_correlation()).toarray())
    louder = var.clone()
    louder[1:] *= 50
    for neighbour_links in (False, True):
        quiet, loud = (
            conditional_variance_dense(v, cor, neighbour_links)[0] for v in (var, louder)
        )
        assert torch.allclose(quiet, loud, rtol=1e-10)


def test_under_the_papers_rule_a_busy_neighbour_can_add_variance():
    """Node 0 has one neighbour of degree 2; a second one, of degree 100, takes less off."""
    one = graph_of([(0, 1)], 101)
    two = graph_of([(0, 1), *[(2, k) for k in range(3, 101)], (0, 2)], 101)
    assert two.degree[2] == 100
    assert paper_factor(one)[0] == pytest.approx(1 - 1 / (2 * 2))
    assert paper_factor(two)[0] == pytest.approx(1 - (1 / 2 + 1 / 100) / 3)
    assert paper_factor(two)[0] > paper_factor(one)[0]


@given(graphs(), st.floats(0.5, 4))
@settings(max_examples=60, deadline=None)
def test_half_is_the_smallest_lam_that_keeps_every_variance_positive(graph, lam):
    assert (paper_factor(graph, lam) > 1 - 1 / (2 * lam) - 1e-12).all()


def test_a_smaller_lam_is_refused_and_would_be_wrong():
    for lam in (0.49, 0.0, -1.0, float("nan")):
        with pytest.raises(BupError, match=r"lam must be >= 0.5 .* got"):
            paper_correlation(lam)
    # in a large star of leaves a lam below 0.5 would take more than everything from the hub
    star = graph_of([(0, k) for k in range(1, 200)], 200)
    assert 1 - (1 - paper_factor(star, 0.5)[0]) * 0.5 / 0.49 < 0


def test_correlations_that_cannot_be_are_refused():
    star = graph_of([(0, 1), (0, 2), (0, 3)], 4)
    with pytest.raises(BupError, match="symmetric"):
        edge_correlations(star, lambda a, b: 1 / a)
    with pytest.raises(BupError, match="leave node 0 no variance"):
        reduction_shares(star, lambda a, b: np.full_like(a, 0.6))
    # nodes 2 and 3 are both tied to 1 but not to each other: -0.9 and 0.9 cannot be
    kite = graph_of([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], 4)
    with pytest.raises(BupError, match="do not form a covariance"):
        reduction_shares(kite, lambda a, b: np.where(a + b > 7, 0.1, 0.9), neighbour_links=True)


def evidence(graph: Graph, var: torch.Tensor, **strength) -> torch.Tensor:
    links = Csr.from_scipy(graph.adjacency, dtype=torch.float64)
    return evidence_variance(var, var, links, **strength)


@given(graphs_with_variances(), st.floats(0.1, 5), st.floats(0.1, 5))
@settings(max_examples=50, deadline=None)
def test_evidence_adds_precisions(sample, weight, noise):
    graph, var = sample
    result = evidence(graph, var, weight=weight, noise=noise)
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
    before, after = evidence(graph, var), evidence(linked, var)
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
    before, after = evidence(graph, var), evidence(graph, louder)
    assert (after >= before * (1 - 1e-12)).all()
    near = graph.neighbours(node).tolist()
    assert (after[near] > before[near]).all()


def test_gradients():
    graph = graph_of([(0, 1), (1, 2), (0, 2), (2, 3)], 5)
    var = torch.rand(5, 2, dtype=torch.float64) + 0.1
    var.requires_grad_(True)
    index, ends = both_directions(graph)
    cor = torch.from_numpy(edge_correlations(graph, paper_correlation())[ends[0], ends[1]])
    assert gradcheck(lambda v: conditional_variance(v, cor, index), (var,))
    assert gradcheck(lambda v: evidence(graph, v), (var,))


@given(graphs_with_variances(), st.sampled_from(list(propagation.RULES)), st.integers(0, 11))
@settings(max_examples=80, deadline=None)
def test_shares_sum_exactly_to_the_change_of_every_rule(sample, rule, node):
    graph, var = sample
    node %= graph.num_nodes
    after = {
        "paper": var * torch.from_numpy(paper_factor(graph, 2.0))[:, None],
        "evidence": evidence(graph, var, weight=0.7, noise=0.3),
        "gcn": torch.from_numpy(gcn_kernel(graph) @ var.numpy()),
        "none": var,
    }[rule][node].numpy()
    shares = explain(graph, node, var.numpy(), rule, lam=2.0, weight=0.7, noise=0.3)
    assert shares.neighbours.tolist() == graph.neighbours(node).tolist()
    assert np.allclose(shares.after, after, rtol=1e-12)
    total = shares.before + shares.own + shares.change.sum(axis=0)
    assert np.allclose(total, after, rtol=1e-12)
    if rule in ("paper", "evidence"):
        assert (shares.change < 0).all() and not shares.own.any()


def test_an_unknown_rule_is_named():
    with pytest.raises(BupError, match="no propagation 'magic': choose one of paper, evidence"):
        explain(graph_of([], 1), 0, np.ones((1, 1)), "magic")


@pytest.mark.parametrize(
    ("name", "sign"), [("cora", -0.21), ("citeseer", -0.08), ("pubmed", -0.61)]
)
def test_on_the_real_graphs_the_papers_factor_falls_with_degree(name, sign, request):
    from scipy.stats import spearmanr

    graph = request.getfixturevalue(name)
    assert spearmanr(graph.degree, paper_factor(graph)).statistic == pytest.approx(sign, abs=0.01)
