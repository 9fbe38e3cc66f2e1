import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import bernoulli

from bup.datasets import synthetic
from bup.datasets.synthetic import Parameters, posterior
from bup.datasets.synthetic.model import BlockModel, make_model, sample
from bup.datasets.synthetic.posterior import posterior_from_links
from bup.errors import BupError
from bup.graph import Graph

SMALL = "synthetic:nodes=60,classes=3,words=40,seed=1"


@pytest.fixture(scope="module")
def default():
    return make_model(Parameters()), synthetic.load("synthetic")


@pytest.fixture
def no_enumeration(monkeypatch):
    monkeypatch.setattr(posterior, "MAX_STATES", 1)


def tiny_model(nodes=6, classes=3, words=5, scale=1.0):
    """Rates large enough that repeated links and words are common."""
    stream = np.random.RandomState(7)
    propensity = stream.uniform(0.5, 2, nodes)
    return BlockModel(
        prior=stream.dirichlet(np.full(classes, 8.0)),
        propensity=propensity / propensity.mean(),
        within_rate=scale * stream.uniform(0.8, 1.6, classes),
        across_rate=scale * 0.3,
        word_rate=stream.uniform(0.05, 1.5, (classes, words)),
    )


def graph_with(model, edges, seed=0):
    """A graph with these links whose classes and words are drawn from the model."""
    drawn = sample(model, seed)
    return Graph("by hand", drawn.features, np.array(edges).T, drawn.labels, drawn.class_names)


def test_the_same_name_gives_the_same_graph():
    assert synthetic.load(SMALL).digest == synthetic.load(SMALL).digest
    assert synthetic.load(SMALL).digest != synthetic.load(SMALL.replace("seed=1", "seed=2")).digest


def test_the_random_stream_has_not_changed():
    """Results stored under a name fit only the graph that the name meant when they were stored."""
    digest = synthetic.load(SMALL).digest
    assert digest == "409e9dcd29ceac86b3ec2840b90377a8f52dc7e140e10db26a6e6aabde1d8984"


def test_a_graph_carries_its_canonical_name():
    assert (
        synthetic.load("synthetic:seed=1,words=40,classes=3,nodes=60,homophily=0.81").name == SMALL
    )


def test_feature_strength_changes_only_the_words():
    one, other = (synthetic.load(f"{SMALL},feature_strength={s}") for s in (0, 3))
    assert np.array_equal(one.edges, other.edges) and np.array_equal(one.labels, other.labels)
    assert (one.features != other.features).nnz > 0


knobs_strategy = st.builds(
    Parameters,
    nodes=st.integers(10, 2000),
    classes=st.integers(2, 50),
    words=st.integers(1, 100_000),
    mean_degree=st.floats(0, 9),
    homophily=st.floats(0, 1),
    feature_strength=st.floats(0, 1000),
    seed=st.integers(0, 2**32 - 1),
)


@given(knobs_strategy)
def test_names_round_trip(parameters):
    name = synthetic.graph_name(parameters)
    assert synthetic.parse_name(name) == parameters
    assert synthetic.graph_name(synthetic.parse_name(name)) == name


def test_a_name_lists_only_what_differs_in_one_order():
    assert synthetic.graph_name(Parameters()) == "synthetic"
    assert synthetic.parse_name("synthetic") == Parameters()
    parameters = synthetic.parse_name("synthetic: homophily=1, nodes=500,classes=7,seed=3")
    assert parameters == Parameters(nodes=500, homophily=1.0, seed=3)
    assert synthetic.graph_name(parameters) == "synthetic:nodes=500,homophily=1,seed=3"
    assert synthetic.graph_name(Parameters(homophily=-0.0)) == synthetic.graph_name(
        Parameters(homophily=0)
    )
    assert synthetic.graph_name(Parameters(seed=np.int64(3))) == "synthetic:seed=3"


@pytest.mark.parametrize(
    "name",
    [
        "cora",
        "Synthetic",
        "synthetic:",
        "synthetic:size=500",
        "synthetic:nodes",
        "synthetic:nodes=",
        "synthetic:nodes=5e2",
        "synthetic:nodes=500,",
        "synthetic:nodes=500,nodes=600",
        "synthetic:homophily=much",
        "synthetic:homophily=nan",
        "synthetic:feature_strength=inf",
        "synthetic:nodes=" + "9" * 5000,
    ],
)
def test_names_that_cannot_be_read_are_refused_in_one_line(name):
    with pytest.raises(BupError) as refusal:
        synthetic.parse_name(name)
    assert "\n" not in str(refusal.value)


def test_an_unknown_knob_is_answered_with_the_knobs_there_are():
    with pytest.raises(BupError, match=r"size=3.*nodes, classes, words, mean_degree, homophily"):
        synthetic.parse_name("synthetic:size=3")


@pytest.mark.parametrize(
    "bad",
    [
        {"nodes": 9},
        {"nodes": 2_000_001},
        {"nodes": 100.0},
        {"nodes": "100"},
        {"classes": 1},
        {"classes": 51},
        {"words": 0},
        {"mean_degree": -0.1},
        {"mean_degree": 10, "nodes": 10},
        {"mean_degree": 100, "nodes": 2_000_000},
        {"homophily": 1.01},
        {"homophily": float("nan")},
        {"homophily": None},
        {"feature_strength": -1},
        {"seed": -1},
        {"seed": 2**32},
    ],
)
def test_knobs_out_of_bounds_are_refused_by_name(bad):
    with pytest.raises(BupError, match=next(iter(bad))):
        Parameters(**bad)


@pytest.mark.parametrize("homophily", [0.0, 0.3, 0.6, 0.81, 1.0])
def test_homophily_is_the_share_of_links_inside_classes(homophily):
    measured = synthetic.load(synthetic.graph_name(Parameters(homophily=homophily))).homophily
    assert measured == pytest.approx(homophily, abs=0.02)
    if homophily in (0, 1):
        assert measured == homophily


@pytest.mark.parametrize("mean_degree", [1, 3.9, 8])
def test_mean_degree_is_the_number_of_links_per_node(mean_degree):
    """A little below, as the busiest nodes draw the same link more than once."""
    graph = synthetic.load(synthetic.graph_name(Parameters(nodes=20_000, mean_degree=mean_degree)))
    assert graph.degree.mean() == pytest.approx(mean_degree, rel=0.03)


def test_the_default_graph_resembles_cora(default):
    model, graph = default
    share = np.bincount(graph.labels) / graph.num_nodes
    assert np.abs(share - model.prior).max() < 4 * np.sqrt(0.25 / graph.num_nodes)
    assert share.max() == pytest.approx(818 / 2708, abs=0.03)
    assert graph.features.sum(axis=1).mean() == pytest.approx(18, abs=0.5)
    assert set(graph.features.data) == {1}
    assert 80 < graph.degree.max() < 250  # Cora: 168
    assert np.median(graph.degree) == pytest.approx(3, abs=1)
    assert graph.class_names[0] == "Topic A"


@pytest.mark.parametrize("classes", [2, 27, 50])
def test_class_names_are_unique(classes):
    graph = synthetic.load(f"synthetic:nodes=20,words=30,classes={classes}")
    assert len(set(graph.class_names)) == classes


def test_no_links_at_all_is_a_graph_too():
    graph = synthetic.load("synthetic:nodes=30,mean_degree=0")
    assert graph.num_edges == 0
    probs = synthetic.true_posterior("synthetic:nodes=30,mean_degree=0", links=True)
    np.testing.assert_allclose(probs, synthetic.true_posterior("synthetic:nodes=30,mean_degree=0"))


def test_links_and_words_follow_their_bernoulli_law():
    """Each pair and each word against its formula, by class, and pairs against one another."""
    model = tiny_model(nodes=4, classes=2, words=3)
    links, link_law, words, word_law, labels = [], [], [], [], []
    for seed in range(3000):
        graph = sample(model, seed)
        c = graph.labels
        strength = np.outer(model.propensity, model.propensity)
        links.append(graph.adjacency.toarray())
        link_law.append(1 - np.exp(-strength * model.link_rate[c][:, c]))
        words.append(graph.features.toarray())
        word_law.append(1 - np.exp(-model.word_rate[c]))
        labels.append(c)
    links, link_law, words, word_law, labels = map(
        np.array, (links, link_law, words, word_law, labels)
    )
    for i, j in itertools.combinations(range(4), 2):
        for r, s in itertools.product(range(2), repeat=2):
            here = (labels[:, i] == r) & (labels[:, j] == s)
            assert within_sampling_error(links[here, i, j], link_law[here, i, j])
    for i, w in itertools.product(range(4), range(3)):
        for r in range(2):
            here = labels[:, i] == r
            assert within_sampling_error(words[here, i, w], word_law[here, i, w])
    pairs = list(itertools.combinations(range(4), 2))
    for (i, j), (k, m) in itertools.combinations(pairs, 2):
        both = links[:, i, j] * links[:, k, m]
        assert within_sampling_error(both, link_law[:, i, j] * link_law[:, k, m])
    shares = np.bincount(labels.ravel(), minlength=2) / labels.size
    assert np.abs(shares - model.prior).max() < 4 * np.sqrt(0.25 / labels.size)


def within_sampling_error(hits, probs):
    return abs((hits - probs).sum()) < 4 * np.sqrt((probs * (1 - probs)).sum())


def test_features_that_say_nothing_leave_the_prior():
    parameters = Parameters(nodes=100, feature_strength=0)
    model = make_model(parameters)
    probs = synthetic.true_posterior(parameters)
    np.testing.assert_allclose(probs, np.tile(model.prior, (100, 1)), rtol=1e-10)


def by_words(model, graph):
    """P(c_i | words of i) [n, c]: Bayes' rule written out."""
    present = 1 - np.exp(-model.word_rate)
    words = graph.features.toarray()
    log_joint = [
        np.log(prior) + bernoulli.logpmf(words, p).sum(axis=1)
        for prior, p in zip(model.prior, present, strict=True)
    ]
    return softmax(np.stack(log_joint, axis=1), axis=1)


def test_the_posterior_without_links_is_bayes_rule_written_out():
    model, graph = make_model(synthetic.parse_name(SMALL)), synthetic.load(SMALL)
    found = synthetic.true_posterior(SMALL)
    np.testing.assert_allclose(found, by_words(model, graph), rtol=1e-10)


def slow_posterior(model, graph, known):
    """Every assignment, every pair, every word, one at a time, in plain probabilities."""
    n, c = graph.num_nodes, graph.num_classes
    links = {tuple(edge) for edge in graph.edges.T.tolist()}
    words = graph.features.toarray()
    probs = np.zeros((n, c))
    for classes in itertools.product(range(c), repeat=n):
        if any(classes[i] != graph.labels[i] for i in known):
            continue
        p = 1.0
        for i in range(n):
            p *= model.prior[classes[i]]
            for w in range(graph.num_features):
                present = 1 - np.exp(-model.word_rate[classes[i], w])
                p *= present if words[i, w] else 1 - present
            for j in range(i + 1, n):
                same = classes[i] == classes[j]
                rate = model.within_rate[classes[i]] if same else model.across_rate
                linked = 1 - np.exp(-model.propensity[i] * model.propensity[j] * rate)
                p *= linked if (i, j) in links else 1 - linked
        for i in range(n):
            probs[i, classes[i]] += p
    return probs / probs.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("known", [[], [0, 3], [5, 1, 2, 0, 4], [0, 1, 2, 3, 4, 5]])
def test_enumeration_is_the_sum_over_all_assignments(known):
    model = tiny_model(nodes=6, classes=3, words=4)
    graph = sample(model, 0)
    assert 3 < graph.num_edges < 15 and len(set(graph.labels)) == 3
    found = posterior_from_links(model, graph, np.array(known))
    assert (found.sweeps, found.residual) == (0, 0)
    np.testing.assert_allclose(found.probs, slow_posterior(model, graph, known), atol=1e-12)


def test_a_large_graph_with_few_unknown_nodes_is_enumerated(default):
    model, graph = default
    unknown = [5, 17, 1999]
    found = posterior_from_links(model, graph, np.setdiff1d(np.arange(graph.num_nodes), unknown))
    assert found.sweeps == 0
    i = unknown[0]
    joint = np.log(synthetic.true_posterior("synthetic")[i])
    for j in set(range(graph.num_nodes)) - set(unknown):
        rate = model.propensity[i] * model.propensity[j] * model.link_rate[:, graph.labels[j]]
        joint += np.log(1 - np.exp(-rate)) if j in graph.neighbours(i) else -rate
    expected = np.exp(joint - joint.max())
    # The three are strangers with almost no say in one another.
    np.testing.assert_allclose(found.probs[i], expected / expected.sum(), atol=0.01)


TREE = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (5, 6)]


@pytest.mark.parametrize("known", [[], [3, 6]])
def test_belief_propagation_is_exact_on_a_tree_whose_missing_links_say_nothing(monkeypatch, known):
    model = tiny_model(nodes=7, classes=3, scale=1e-7)
    graph = graph_with(model, TREE)
    exact = posterior_from_links(model, graph, np.array(known))
    monkeypatch.setattr(posterior, "MAX_STATES", 1)
    found = posterior_from_links(model, graph, np.array(known))
    assert exact.sweeps == 0 < found.sweeps
    assert found.converged and found.sweeps > 2
    np.testing.assert_allclose(found.probs, exact.probs, atol=1e-5)
    assert np.abs(exact.probs - by_words(model, graph)).max() > 0.1


def test_belief_propagation_is_close_to_enumeration_on_small_sparse_graphs(monkeypatch):
    """Measured on these 30: off by 0.0013 on average, by 0.0066 in the worst graph."""
    errors, features_alone = [], []
    for seed in range(30):
        parameters = Parameters(
            nodes=14, classes=2, words=60, mean_degree=1.5, feature_strength=1, seed=seed
        )
        model = make_model(parameters)
        graph = sample(model, seed)
        exact = posterior_from_links(model, graph)
        with monkeypatch.context() as patch:
            patch.setattr(posterior, "MAX_STATES", 1)
            found = posterior_from_links(model, graph)
        assert exact.sweeps == 0 < found.sweeps
        errors.append(np.abs(found.probs - exact.probs).mean())
        by_features = synthetic.true_posterior(parameters)
        features_alone.append(np.abs(by_features - exact.probs).mean())
    assert np.mean(errors) < 0.003 and np.max(errors) < 0.015
    assert np.mean(features_alone) > 10 * np.mean(errors)


def assert_calibrated(probs, labels):
    """Accuracy equals mean confidence, overall and at every level, to 4 standard errors."""
    confidence, right = probs.max(axis=1), probs.argmax(axis=1) == labels
    level = np.floor(confidence * 5).clip(0, 4)
    for here in (np.full(len(labels), True), *(level == k for k in range(5))):
        assert within_sampling_error(right[here], confidence[here]) or here.sum() < 30


@pytest.mark.parametrize("seed", [0, 1])
def test_both_posteriors_are_calibrated_and_links_add_information(seed):
    parameters = Parameters(seed=seed)
    model = make_model(parameters)
    graph = sample(model, seed)
    by_features = synthetic.true_posterior(parameters)
    by_links = posterior_from_links(model, graph)
    assert by_links.sweeps > 0 and by_links.converged
    for probs in (by_features, by_links.probs):
        np.testing.assert_allclose(probs.sum(axis=1), 1)
        assert_calibrated(probs, graph.labels)
    accuracies = [(p.argmax(axis=1) == graph.labels).mean() for p in (by_features, by_links.probs)]
    assert 0.6 < accuracies[0] < 0.7
    assert accuracies[1] > accuracies[0] + 0.15


def test_links_that_cross_classes_inform_too():
    parameters = Parameters(homophily=0)
    graph = synthetic.load(synthetic.graph_name(parameters))
    by_links = synthetic.true_posterior(parameters, links=True)
    assert_calibrated(by_links, graph.labels)
    by_features = synthetic.true_posterior(parameters)
    assert (by_links.argmax(1) == graph.labels).mean() > (
        by_features.argmax(1) == graph.labels
    ).mean()


def test_known_classes_are_certain_and_carry_the_rest_where_words_say_nothing():
    parameters = Parameters(feature_strength=0)
    labels = synthetic.load(synthetic.graph_name(parameters)).labels
    known = np.concatenate([np.flatnonzero(labels == k)[:20] for k in range(7)])
    probs = synthetic.true_posterior(parameters, links=True, known=known)
    np.testing.assert_array_equal(probs[known], np.eye(7)[labels[known]])
    unknown = np.setdiff1d(np.arange(parameters.nodes), known)
    assert_calibrated(probs[unknown], labels[unknown])
    assert (probs[unknown].argmax(axis=1) == labels[unknown]).mean() > 0.75


def test_without_links_known_classes_say_nothing_of_the_others():
    graph = synthetic.load(SMALL)
    probs = synthetic.true_posterior(SMALL, known=np.array([3, 4]))
    expected = synthetic.true_posterior(SMALL)
    expected[[3, 4]] = np.eye(3)[graph.labels[[3, 4]]]
    np.testing.assert_allclose(probs, expected)


def test_isolated_nodes_are_judged_almost_by_their_words_alone(default):
    """All that is left to the links is that a class with more links makes isolation unlikelier."""
    model, graph = default
    isolated = graph.degree == 0
    assert isolated.sum() > 50
    by_features = synthetic.true_posterior("synthetic")[isolated]
    by_links = posterior_from_links(model, graph).probs[isolated]
    assert np.abs(by_links - by_features).mean() < 0.02
    weight_of_class = np.bincount(graph.labels, weights=model.propensity)
    expected_links = model.link_rate @ weight_of_class
    predicted = by_features * np.exp(-np.outer(model.propensity[isolated], expected_links))
    predicted /= predicted.sum(axis=1, keepdims=True)
    assert np.abs(by_links - predicted).max() < 0.05


def test_a_posterior_that_did_not_settle_is_not_passed_off_as_the_truth(
    monkeypatch, no_enumeration
):
    monkeypatch.setattr(posterior, "MAX_SWEEPS", 1)
    model, graph = make_model(synthetic.parse_name(SMALL)), synthetic.load(SMALL)
    found = posterior_from_links(model, graph)
    assert not found.converged and found.sweeps == 1 and found.residual > 1e-3
    with pytest.raises(BupError, match="did not settle"):
        synthetic.true_posterior(SMALL, links=True)


@pytest.mark.parametrize("known", [[60], [-1], [0.5], [True, False]])
def test_known_nodes_that_are_no_indices_are_refused(known):
    for links in (False, True):
        with pytest.raises(BupError, match="known must be node indices from 0 to 59"):
            synthetic.true_posterior(SMALL, links=links, known=np.array(known))


def test_known_nodes_without_a_label_are_refused():
    model = tiny_model(nodes=7)
    drawn = graph_with(model, TREE)
    labels = np.where(np.arange(7) == 2, -1, drawn.labels)
    graph = Graph("by hand", drawn.features, drawn.edges, labels, drawn.class_names)
    with pytest.raises(BupError, match="no label"):
        posterior_from_links(model, graph, np.array([2]))


def test_a_graph_of_another_model_is_refused(default):
    model, _ = default
    with pytest.raises(BupError, match="drawn from"):
        posterior_from_links(model, synthetic.load(SMALL))


def test_links_that_the_model_never_draws_are_refused():
    model = tiny_model(nodes=7)
    model = BlockModel(model.prior, model.propensity, np.zeros(3), 0.0, model.word_rate)
    with pytest.raises(BupError, match="never draws"):
        posterior_from_links(model, graph_with(model, TREE))
