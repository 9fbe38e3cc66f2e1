"""The pieces that the paper's baselines are made of, against slow and obvious arithmetic."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.integrate import quad
from scipy.stats import beta, entropy, kstest, logistic
from torch.distributions import Kumaraswamy, RelaxedBernoulli

import bup
from bup.engine.gradients import LogRatios
from bup.engine.sparse import Csr
from bup.graph import Graph, simple_edges
from bup.graph.operators import neighbour_mean, normalised_links, normalised_rows, walk
from bup.methods import beta_bernoulli, degem, energy, gcn, gebm, ggp, gpn, grasp, sgcn, vgcn
from bup.run.splits import Split
from bup.scores.samples import SAMPLED, sample_scores


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def random_matrix(rows: int, columns: int) -> sparse.csr_array:
    return sparse.random_array((rows, columns), density=0.4, rng=0, format="csr")


def test_sampled_scores_split_the_entropy_of_the_mean():
    probs = torch.rand(5, 4, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    probs /= probs.sum(-1, keepdim=True)
    probs[:, 0] = torch.tensor([1.0, 0.0, 0.0])  # all draws certain, and of the same class
    mean, scores = sample_scores(probs)
    assert set(scores) == {score.name for score in SAMPLED}
    assert torch.allclose(mean, sum(probs) / 5)
    for node in range(4):
        draws = probs[:, node].numpy()
        divergences = [entropy(draw, draws.mean(axis=0)) for draw in draws]
        assert scores["mutual_information"][node].item() == pytest.approx(np.mean(divergences))
        entropies = [entropy(draw) for draw in draws]
        assert scores["expected_entropy"][node].item() == pytest.approx(np.mean(entropies))


@pytest.mark.parametrize(("a", "b"), [(1.4, 0.9), (0.7, 2.5), (3.0, 1.0)])
def test_the_divergence_of_keep_rates_is_its_integral(a, b):
    shape = torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)
    posterior, prior = Kumaraswamy(*shape), beta(beta_bernoulli.PRIOR, 1)

    def integrand(u: float) -> float:  # over quantiles, which takes the poles out
        rate = beta_bernoulli.kumaraswamy(torch.tensor(u, dtype=torch.float64), *shape)
        return posterior.log_prob(rate).item() - prior.logpdf(rate.item())

    expected, _ = quad(integrand, 1e-6, 1 - 1e-6, limit=200)
    assert beta_bernoulli.kl_from_prior(*shape).item() == pytest.approx(expected, abs=1e-3)


def test_keep_rates_follow_their_distribution():
    a, b = torch.tensor(1.3), torch.tensor(0.8)
    rates = beta_bernoulli.kumaraswamy(torch.rand(20_000, generator=generator()), a, b)
    theory = Kumaraswamy(a, b)
    assert rates.mean().item() == pytest.approx(theory.mean.item(), abs=0.01)
    assert rates.var().item() == pytest.approx(theory.variance.item(), abs=0.01)


def test_a_masked_product_is_the_dense_one_and_so_are_its_gradients():
    matrix = random_matrix(6, 5)
    dense = torch.randn(5, 3, generator=generator()).requires_grad_(True)
    logit = torch.tensor(0.4, requires_grad=True)
    weight = torch.randn(6, 3, generator=generator(1))
    product = beta_bernoulli.masked_product(Csr.from_scipy(matrix), dense, logit, generator(2))
    found = torch.autograd.grad((product * weight).sum(), (dense, logit))

    u = torch.rand(matrix.nnz, generator=generator(2))
    logistic = u.log() - (1 - u).log()
    mask = torch.zeros(6, 5)
    rows, columns = matrix.nonzero()
    mask[rows, columns] = torch.sigmoid((logit + logistic) / beta_bernoulli.TEMPERATURE)
    slow = (mask * torch.from_numpy(matrix.toarray()).float()) @ dense
    expected = torch.autograd.grad((slow * weight).sum(), (dense, logit))
    assert torch.allclose(product, slow, atol=1e-5)
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_masks_are_relaxed_bernoulli_draws():
    n, logit = 20_000, torch.tensor(0.7)
    diagonal = Csr.from_scipy(sparse.csr_array(sparse.eye_array(n)))
    masks = beta_bernoulli.masked_product(diagonal, torch.ones(n, 1), logit, generator())[:, 0]
    density = RelaxedBernoulli(torch.tensor(beta_bernoulli.TEMPERATURE), logits=logit)
    edges = torch.linspace(0, 1, 11)
    for low, high in pairwise(edges):
        grid = torch.linspace(low.item(), high.item(), 402)[1:-1]
        share = density.log_prob(grid).exp().mean() * (high - low)
        found = ((masks > low) & (masks <= high)).float().mean()
        assert found.item() == pytest.approx(share.item(), abs=0.02)


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_region_gives_the_outputs_of_the_whole_graph(blocks, path_graph, monkeypatch):
    # With certain masks nothing is random, and the rows that a region leaves out cannot matter.
    monkeypatch.setattr(
        beta_bernoulli, "keep_rates", lambda p, g: torch.full((beta_bernoulli.LAYERS,), 1 - 1e-7)
    )
    monkeypatch.setattr(beta_bernoulli, "TEMPERATURE", 1e-3)
    p = beta_bernoulli.initial_parameters(5, 4, 2, blocks, generator())
    words = path_graph.features
    kernel = sparse.csr_array(path_graph.adjacency + sparse.eye_array(5))
    regions = [
        beta_bernoulli.MultiHopField.of(words, kernel, nodes)
        for nodes in (np.array([4, 1]), np.arange(5))
    ]
    part, whole = (
        beta_bernoulli.log_probabilities(p, region, 1, generator())[0][0] for region in regions
    )
    assert torch.allclose(part, whole[[4, 1]], atol=1e-4)

    dense = torch.from_numpy(kernel.toarray()).float()
    hidden = torch.from_numpy(words.toarray())
    for k in range(1, 5):
        weight = p[f"weight_{k}"][0].flatten(0, 1)  # blocks, one below the other, are one matrix
        hidden = dense @ hidden @ weight + p[f"bias_{k}"][0].sum(0)
        hidden = hidden.relu() if k < 4 else hidden
    assert torch.allclose(whole, hidden.log_softmax(-1), atol=1e-3)


@pytest.fixture
def process(path_graph: Graph) -> tuple[ggp.GaussianProcess, ggp.KernelRegion, np.ndarray]:
    """Posteriors of two classes with three inducing points; the nodes 2, 0 and 4 of a path."""
    words = sparse.csr_array(np.random.RandomState(0).rand(5, 4))
    with_loops = sparse.csr_array(path_graph.adjacency + sparse.eye_array(5))
    means = sparse.csr_array(with_loops.multiply(1 / path_graph.looped_degree[:, None]))
    inducing = torch.rand(4, 3, generator=generator(), dtype=torch.float64)
    p = ggp.GaussianProcess(inducing, classes=2, offset=0.8)
    with torch.no_grad():
        p.posterior.variational_mean.normal_(generator=generator(1))
        noise = torch.randn(1, 2, 3, 3, generator=generator(2), dtype=torch.float64)
        p.posterior.chol_variational_covar.add_(0.3 * noise)
    return p, ggp.KernelRegion.of(words, means, np.array([2, 0, 4])), words.toarray()


NEAR = ((1, 2, 3), (0, 1), (4,))  # the closed neighbourhoods of 2, 0 and 4 on the path


def poly(x: np.ndarray, y: np.ndarray) -> float:
    return (x @ y + 0.8) ** 3


def test_kernel_blocks_of_a_graph_process_are_means_over_neighbourhoods(process):
    p, region, words = process
    offset = torch.tensor(0.8, dtype=torch.float64)
    own = [np.mean([poly(words[i], words[j]) for i in near for j in near]) for near in NEAR]
    assert np.allclose(region.variances(offset), own)
    points = p.inducing[0].T.numpy()
    cross = [[np.mean([poly(words[i], z) for i in near]) for z in points] for near in NEAR]
    assert np.allclose(region.covariances(p.inducing[0], offset), cross)


def test_messages_of_a_graph_process_are_the_textbooks(process):
    p, region, words = process
    with torch.no_grad():
        mean, var = p.messages(region)
    points = p.inducing[0].T.numpy()
    k_uu = np.array([[poly(a, b) for b in points] for a in points]) + ggp.JITTER * np.eye(3)
    weights = np.linalg.cholesky(k_uu)
    for n, near in enumerate(NEAR):
        k_hu = np.array([np.mean([poly(words[i], z) for i in near]) for z in points])
        k_hh = np.mean([poly(words[i], words[j]) for i in near for j in near])
        gain = np.linalg.solve(k_uu, k_hu)
        for c in range(2):
            root = p.posterior.chol_variational_covar[0, c].detach().tril().numpy()
            of_values = weights @ root @ root.T @ weights.T  # covariance of u
            u = weights @ p.posterior.variational_mean[0, c].detach().numpy()
            assert mean[n, c].item() == pytest.approx(gain @ u)
            expected = k_hh - gain @ k_hu + gain @ of_values @ gain
            assert var[n, c].item() == pytest.approx(max(expected, ggp.SMALLEST_VARIANCE))
    divergences = []
    for c in range(2):
        root = p.posterior.chol_variational_covar[0, c].detach().tril()
        m = p.posterior.variational_mean[0, c].detach()
        logs = root.diagonal().abs().log().sum()
        divergences.append(0.5 * (root.square().sum() + m.square().sum() - 3) - logs)
    assert p.divergence().item() == pytest.approx(sum(divergences).item())


def test_robust_labels_against_draws():
    mean = torch.tensor([[0.3, -0.2, 0.1]], dtype=torch.float64)
    var = torch.tensor([[0.5, 0.2, 1.5]], dtype=torch.float64)
    noise = torch.randn(200_000, 3, generator=generator(), dtype=torch.float64)
    largest = (mean + var.sqrt() * noise).argmax(-1)
    hits = torch.nn.functional.one_hot(largest, 3).double()
    truth = 0.9 * hits + 0.05 * (1 - hits)
    found = ggp.robust(bup.likelihood.class_probabilities(mean, var), 0.1, 3)
    assert torch.allclose(found, truth.mean(0), atol=5e-3)
    assert found.sum().item() == pytest.approx(1)
    for label in range(3):
        expected = ggp.expected_log_likelihood(mean, var, torch.tensor([label]), 0.1)
        assert expected.item() == pytest.approx(truth[:, label].log().mean().item(), abs=0.02)


def test_training_a_graph_process_improves_its_bound(cora):
    result = bup.fit(cora, "ggp", per_class=5, epochs=15, learning_rate=0.005)
    loss = result.history["loss"]
    assert all(after < before for before, after in pairwise(loss))


def test_a_radial_flow_knows_its_determinant():
    s = gpn.GpnSettings(latent=3)
    p = gpn.initial_parameters(4, 2, s, [torch.Generator().manual_seed(0)])
    p = {name: 3 * tensor.double() for name, tensor in p.items()}
    z = torch.randn(3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)

    def flow(z, c):
        for k in range(gpn.LAYERS):
            centre = p["centre"][0, k, c]
            a = torch.nn.functional.softplus(p["radius"][0, k, c])
            b = torch.nn.functional.softplus(p["push"][0, k, c]) - a
            z = z + b * (z - centre) / (a + (z - centre).norm())
        return z

    for c in range(2):
        jacobian = torch.autograd.functional.jacobian(lambda z, c=c: flow(z, c), z)
        base = torch.distributions.Normal(0.0, 1.0).log_prob(flow(z, c)).sum()
        expected = base + torch.linalg.slogdet(jacobian).logabsdet
        assert gpn.log_density(p, z[None])[0, c].item() == pytest.approx(expected.item())


def test_a_flow_keeps_a_density():
    """Each class's density still integrates to one."""
    s = gpn.GpnSettings(latent=1)
    p = gpn.initial_parameters(4, 2, s, [torch.Generator().manual_seed(0)])
    p = {name: 2 * tensor.double() for name, tensor in p.items()}
    z = torch.linspace(-40, 40, 200_001, dtype=torch.float64)[:, None]
    density = gpn.log_density(p, z).exp()
    assert torch.trapezoid(density, z, dim=0).tolist() == pytest.approx([1, 1], abs=1e-4)


def test_evidence_falls_with_the_distance_from_training_nodes(path_graph):
    split = Split(np.array([0, 3]), np.array([1]), np.array([2]), (0, 1), ())
    near, two, three = np.exp(-0.5), np.exp(-2), np.exp(-4.5)
    expected = 1 + np.array([[1, three], [near, two], [two, near], [three, 1], [0, 0]])
    assert np.allclose(sgcn.kernel_evidence(path_graph, split), expected)


def test_dissonance_is_conflict_between_classes():
    alpha = 1 + torch.tensor([[9.0, 0, 0], [5, 5, 0], [3, 3, 3], [0, 0, 0]])
    found = sgcn.dissonance(alpha)
    for node, row in enumerate(alpha.tolist()):
        belief = [(a - 1) / sum(row) for a in row]
        expected = 0.0
        for k, b in enumerate(belief):
            others = [x for j, x in enumerate(belief) if j != k]
            if sum(others):
                balances = [1 - abs(x - b) / (x + b) if x + b else 0 for x in others]
                weighted = sum(x * bal for x, bal in zip(others, balances, strict=True))
                expected += b * weighted / sum(others)
        assert found[node].item() == pytest.approx(expected, abs=1e-6)
    assert found[0] == 0 and found[1] > 0.7


def test_energy_spreads_along_links_and_stays_with_a_lonely_node(path_graph):
    own = np.array([0.0, 8.0, 0.0, 0.0, 5.0])
    once = np.array([4.0, 4.0, 2.0, 0.0, 5.0])
    twice = [(4 + 4) / 2, (4 + (4 + 2) / 2) / 2, (2 + (4 + 0) / 2) / 2, (0 + 2) / 2, 5]
    assert np.allclose(energy.spread(own, path_graph), twice)
    assert np.allclose(0.5 * own + 0.5 * (neighbour_mean(path_graph) @ own), once)


def test_graph_energy_is_high_far_from_the_training_nodes():
    hidden = torch.tensor([[0.0, 0], [0.2, 0.1], [5, 5], [5.1, 5.2], [20, -20]])
    labels = torch.tensor([0, 0, 1, 1])
    distance = gebm.class_distances(hidden, hidden[:4], labels, 2)
    assert (distance[:2, 0] < distance[:2, 1]).all() and (distance[2:4, 1] < distance[2:4, 0]).all()
    output = torch.tensor([[2.0, 0], [2, 0], [0, 2], [0, 2], [1, 1]])
    scaled = gebm.rescale(distance, distance, output)
    assert scaled.amax() <= output.amax() + 0.3 and scaled[4].mean() > scaled[:4].amin(1).mean()
    no_links = Csr.from_scipy(sparse.eye_array(5, format="csr"))
    found = gebm.graph_energy(output - scaled, no_links)
    assert found.argmax() == 4


def test_class_distances_are_those_of_a_diagonal_gaussian():
    random = torch.Generator().manual_seed(0)
    known, labels = torch.randn(30, 4, generator=random), torch.arange(30) % 3
    known[:, 3] = 1  # a unit that does not vary
    places = torch.randn(7, 4, generator=random)
    found = gebm.class_distances(places, known, labels, 3)
    for c in range(3):
        own = known[labels == c].double()
        spread = own.sub(own.mean(0)).square().mean(0).clamp_min(1e-6)
        slow = [
            sum((x - m) ** 2 / v for x, m, v in zip(row, own.mean(0), spread, strict=True))
            for row in places
        ]
        assert np.allclose(found[:, c], slow, rtol=1e-4)


def test_judged_distances_take_the_scale_of_those_that_were_fitted():
    usual, output = torch.linspace(0, 100, 2001)[:, None], torch.linspace(-1, 3, 2001)[:, None]
    found = gebm.rescale(torch.tensor([[2.5], [50.0], [97.5], [1000.0]]), usual, output)
    assert np.allclose(found[:, 0], [-0.9, 1.0, 2.9, 39.0], atol=1e-4)


def test_diffusion_is_the_slow_sum(path_graph):
    mean = walk(path_graph)
    x = np.arange(10.0).reshape(5, 2)
    dense, expected = mean.toarray(), x
    for _ in range(10):
        expected = 0.5 * expected + 0.5 * dense @ expected
    found = gebm.diffuse(torch.from_numpy(x).float(), Csr.from_scipy(mean))
    assert np.allclose(found, expected, atol=1e-5)
    assert np.allclose(found[4], x[4])  # a node without links keeps its own


@pytest.fixture
def degem_parts(path_graph):
    generators = [torch.Generator().manual_seed(3)]
    s = degem.DegemSettings(hidden=4)
    p = degem.initial_parameters(path_graph, 2, s, generators)
    words = Csr.from_scipy(normalised_rows(path_graph.features))
    return p, words, Csr.from_scipy(normalised_links(path_graph)), generators[0]


def test_degem_joins_what_arrives_over_none_to_five_links(path_graph, degem_parts):
    p, words, links, _ = degem_parts
    x = normalised_rows(path_graph.features).toarray()
    step = 0.5 * np.eye(5) + normalised_links(path_graph).toarray()
    order = torch.tensor([2, 0, 1, 4, 3])
    for given in (None, order):
        arrived = []
        for hop in range(6):
            weights = p["hops"][0][:, 4 * hop : 4 * hop + 4].numpy()
            shuffled = x if given is None else x[given.numpy()]
            message = np.linalg.matrix_power(step, hop) @ shuffled @ weights
            length = np.maximum(np.linalg.norm(message, axis=1, keepdims=True), 1e-12)
            arrived.append(np.maximum(message / length, 0))
        slow = np.concatenate(arrived, 1) @ p["join"][0].numpy() + p["join_bias"][0].numpy()
        found = degem.encode(p, words.matmul(p["hops"][0]), links, given)
        assert np.allclose(found, np.maximum(slow, 0), atol=1e-5)


def test_degems_energy_is_a_batch_normalised_head(degem_parts):
    p, _, _, generator = degem_parts
    places, summary = (torch.randn(shape, generator=generator) for shape in ((9, 4), (4,)))
    hidden = degem.head_hidden(p, places, summary)
    both = torch.cat([p["head_own"][0], p["head_all"][0]])
    joined = torch.cat([places, summary.expand(9, 4)], 1)
    assert torch.allclose(hidden, (joined @ both + p["head_bias"][0]).relu(), atol=1e-6)
    expected = torch.nn.functional.batch_norm(hidden, None, None, training=True)
    assert torch.allclose(degem.energy(p, hidden), (expected @ p["head_out"][0])[:, 0], atol=1e-5)


def test_langevin_finds_places_of_low_energy(degem_parts):
    p, _, _, generator = degem_parts
    summary = torch.zeros(4)
    usual = degem.head_hidden(p, torch.randn(50, 4, generator=generator), summary)
    start = 2 * torch.rand(20, 4, generator=generator) - 1
    found = degem.langevin(p, start, summary, usual, generator)
    before, after = (
        degem.energy(p, degem.head_hidden(p, x, summary), usual) for x in (start, found)
    )
    assert (after < before).float().mean() > 0.9 and not found.requires_grad


def test_support_spreads_from_labelled_nodes_over_added_links():
    random = np.random.RandomState(0)
    graph = Graph(
        "drawn",
        np.ones((40, 1), dtype=np.float32),
        simple_edges(*random.randint(0, 39, (2, 60))),  # the last node has no link
        np.zeros(40, dtype=int),
        ("a",),
    )
    certainty, train = random.uniform(0.3, 0.9, 40), np.arange(10)
    joined = grasp.linked_sources(graph, certainty, train)
    ordered = sorted(range(10, 40), key=lambda i: certainty[i])
    strange, known = {ordered[0]}, {ordered[-1]}  # 5 % of 30, rounded down

    def supported(node):
        near = set(graph.neighbours(node).tolist())
        return len(near & known) / (len(near & strange) + 1)

    ratios = [supported(node) for node in range(10)]
    assert len(joined) == 5
    assert min(ratios[i] for i in joined) >= max(ratios[i] for i in set(range(10)) - {*joined})
    weights = graph.adjacency.toarray().astype(float)
    weights[np.ix_(joined, joined)] += 1.001
    expected = certainty.copy()
    for _ in range(8):
        for_all = weights @ expected
        expected = [
            for_all[i] / weights[i].sum() if weights[i].sum() else expected[i] for i in range(40)
        ]
        expected = np.array([max(v, 1) if i < 10 else v for i, v in enumerate(expected)])
    assert np.allclose(grasp.spread(graph, certainty, train), expected)
    assert expected[39] == certainty[39]


def test_members_of_an_ensemble_are_plain_networks(cora):
    result = bup.fit(cora, "ensemble", members=2, epochs=5, seed=3)
    seeds = np.random.RandomState(3).randint(2**31, size=2)
    members = gcn.GcnNetwork.fit_batch(
        cora, [result.split] * 2, [int(s) for s in seeds], gcn.GcnSettings(epochs=5), None
    )
    assert np.allclose(result.probs, (members[0].probs + members[1].probs) / 2, atol=1e-7)


def test_links_are_worth_something(cora):
    with_links, without = (
        bup.evaluate(bup.fit(cora, name), cora)["test"]["accuracy"] for name in ("gcn", "mlp")
    )
    assert 0.4 < without < with_links - 0.15


def test_pairs_are_numbered_row_by_row():
    pairs = vgcn.Pairs(5)
    i, j = torch.triu_indices(5, 5, offset=1)
    assert len(pairs) == 10
    assert torch.equal(pairs.place(i, j), torch.arange(10))
    found = pairs.ends(torch.arange(10))
    assert torch.equal(found[0], i) and torch.equal(found[1], j)


def test_prior_logits_trust_links(path_graph):
    probs = vgcn.prior_logits(path_graph, vgcn.VgcnSettings()).sigmoid()
    pairs = vgcn.Pairs(5)
    linked = pairs.place(torch.tensor([0, 1, 2]), torch.tensor([1, 2, 3]))
    expected = torch.full((10,), 1e-5)
    expected[linked] = 0.99
    assert torch.allclose(probs, expected, rtol=1e-4)


def test_uniforms_are_uniform():
    draws = vgcn.Uniforms(5001)
    first, g = draws.draw(generator()).clone(), generator(1)
    assert kstest(first.numpy(), "uniform").pvalue > 0.01
    assert first.min() >= 0 and first.max() <= 1 and not torch.equal(first, draws.draw(g))


def test_the_objective_over_drawn_graphs_is_the_dense_one_and_so_are_its_gradients(path_graph):
    """Dense and in double precision, with the densities written out, against links and sums."""
    n, draws, tau = 5, 2, vgcn.TEMPERATURE
    prior = vgcn.prior_logits(path_graph, vgcn.VgcnSettings(missing_links=0.3, link_trust=0.7))
    shift = (0.5 * torch.randn(10, generator=generator())).requires_grad_(True)
    uniforms = [torch.rand(10, generator=generator(s)) for s in range(draws)]
    p = {
        "weight_1": torch.randn(1, 5, 3, generator=generator(3)),
        "bias_1": torch.randn(1, 3, generator=generator(4)),
        "weight_2": torch.randn(1, 3, 2, generator=generator(5)),
        "bias_2": torch.randn(1, 2, generator=generator(6)),
    }
    nodes, labels = torch.tensor([0, 3, 4]), torch.tensor([0, 1, 1])

    graphs = vgcn.draw_links(prior + shift.detach(), vgcn.Pairs(n), uniforms)
    place = torch.cat([links.place for links in graphs])
    shifts, log_ratios = LogRatios.apply(shift, place, uniforms)
    entries = (prior[place] + shifts).split([len(links.place) for links in graphs])
    words = Csr.from_scipy(path_graph.features)
    log_probs = vgcn.log_probabilities(p, words, graphs, entries)
    found = vgcn.objective(log_probs[:, nodes], labels, log_ratios)
    (gradient,) = torch.autograd.grad(found, shift)

    def log_density(b: torch.Tensor, location: torch.Tensor) -> torch.Tensor:
        x = (b - location / tau) * tau
        return np.log(tau) - x - 2 * torch.log1p(torch.exp(-x))

    def log_label(a: torch.Tensor) -> torch.Tensor:
        degree = a.sum(0) ** -0.5
        kernel = degree[:, None] * a * degree[None]
        w1, b1, w2, b2 = (
            p[name][0].double() for name in ("weight_1", "bias_1", "weight_2", "bias_2")
        )
        output = kernel @ (kernel @ w1 + b1).relu() @ w2 + b2  # the words are the identity
        return output.log_softmax(-1)[nodes, labels]

    phi = (prior + shift).double()
    i, j = torch.triu_indices(n, n, offset=1)
    terms = []
    for s, u in enumerate(u.double() for u in uniforms):
        b = (phi + u.log() - (1 - u).log()) / tau
        a = torch.eye(n, dtype=torch.float64).index_put((i, j), b.sigmoid())
        a = a.index_put((j, i), b.sigmoid())
        ratio = (log_density(b, phi) - log_density(b, prior.double())).sum()
        reference = logistic(phi.detach().numpy() / tau, 1 / tau).logpdf(b.detach().numpy()).sum()
        assert log_density(b, phi).sum().item() == pytest.approx(reference)
        assert log_ratios[s].item() == pytest.approx(ratio.item(), abs=1e-4)
        terms.append(log_label(a) - ratio / 3)
    slow = -torch.log(torch.stack(terms).exp().mean(0)).mean()
    (expected,) = torch.autograd.grad(slow, shift)
    assert found.item() == pytest.approx(slow.item(), abs=1e-4)
    assert torch.allclose(gradient, expected, atol=1e-3)


def test_vgcn_refuses_a_graph_with_too_many_pairs(pubmed):
    with pytest.raises(bup.BupError, match=r"at most 6,000 nodes .*pubmed with 19,717"):
        bup.fit(pubmed, "vgcn")


@pytest.mark.parametrize(
    "method, setting, usual, other",
    [("gebm", "evidence", "own", "links"), ("grasp", "known", "training", "validation")],
)
def test_what_a_score_goes_by_changes_the_score_and_no_answer(method, setting, usual, other):
    graph = bup.load_graph("synthetic:nodes=300,classes=3,words=60")
    asked = {"per_class": 5, "validation": 40, "test": 150, "epochs": 10}
    first, second = (bup.fit(graph, method, **asked, **{setting: v}) for v in (usual, other))
    assert first.spec == bup.fit(graph, method, **asked).spec
    assert np.array_equal(first.probs, second.probs)
    (score,) = first.own_scores
    assert not np.allclose(first.own_scores[score], second.own_scores[score])
    if method == "grasp":  # labelled nodes are held at certainty
        assert (second.own_scores[score][second.split.validation] <= -1).all()
