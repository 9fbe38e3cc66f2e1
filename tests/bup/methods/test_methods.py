"""One contract for every method in the table, and what only BUP promises."""

import dataclasses

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from torch_geometric.nn import GCNConv

import bup
from bup import methods, metrics
from bup.engine.loop import Progress
from bup.engine.receptive_field import Inputs
from bup.explanation.inspection import Inspector
from bup.graph import Graph, simple_edges
from bup.methods import METHODS, TRAINED, complete
from bup.methods import bup as bup_method
from bup.methods import gcn as gcn_method
from bup.methods.gcn import gcn_output
from bup.propagation import RULES
from bup.results.result import Result
from bup.run.splits import Split
from bup.training import fitting
from tests.toys import centroids

SHORT = {"epochs": 8}


def small(method: str, **settings) -> dict:
    """Settings for a quick run, of those that a method has."""
    wanted = SHORT | settings
    has = {f.name for f in dataclasses.fields(METHODS[method].settings)}
    return {name: value for name, value in wanted.items() if name in has}


def cliques(size: int = 12, classes: int = 3) -> Graph:
    """Linked cliques, one per class; each node has its class's word and one of its own."""
    n = size * classes
    labels = np.repeat(np.arange(classes), size)
    pairs = [(a, b) for a in range(n) for b in range(a) if labels[a] == labels[b]]
    pairs += [(size * c, size * c + size) for c in range(classes - 1)]
    words = np.zeros((n, classes + n), dtype=np.float32)
    words[np.arange(n), labels] = 1
    words[np.arange(n), classes + np.arange(n)] = 1
    ends = np.array(pairs)
    names = tuple("abcdef"[:classes])
    return Graph("cliques", words, simple_edges(ends[:, 0], ends[:, 1]), labels, names)


def fit(graph: Graph, method: str, **arguments) -> Result:
    request = {"per_class": 2, "validation": 8, "test": None, **arguments}
    return bup.fit(graph, method, **request)


@pytest.fixture(params=[*TRAINED, centroids.METHOD.name])
def method(request, monkeypatch) -> str:
    monkeypatch.setitem(METHODS, "centroids", centroids.METHOD)  # one that has no epochs
    return request.param


def test_learns_linked_cliques(method):
    graph = cliques()
    result = fit(graph, method)
    assert np.mean(result.predicted[result.split.test] == graph.labels[result.split.test]) > 0.9


def test_gives_probabilities_for_every_node(method):
    graph = cliques()
    result = fit(graph, method, **small(method))
    assert result.probs.shape == (36, 3)
    assert np.allclose(result.probs.sum(axis=1), 1, atol=1e-5) and (result.probs >= 0).all()
    assert all(np.isfinite(score).all() for score in result.scores().values())


def test_the_same_seed_is_bit_identical(method, cora):
    request = small(method, hidden=16)
    first, second = (bup.fit(cora, method, seed=3, **request) for _ in range(2))
    assert np.array_equal(first.probs, second.probs) and first.history == second.history
    other = bup.fit(cora, method, seed=4, **request)
    assert not np.array_equal(first.probs, other.probs)


def test_no_global_random_state_is_touched(method):
    torch.manual_seed(1)
    np.random.seed(1)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()
    fit(cliques(), method, **small(method))
    assert torch.equal(before[0], torch.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state()[1])


def test_a_left_out_class_reaches_nothing(method):
    graph = cliques(classes=4)
    swapped = np.array([0, 2, 1, 3])[graph.labels]
    results = [
        fit(dataclasses.replace(graph, labels=labels), method, left_out=[1, 2], **small(method))
        for labels in (graph.labels, swapped)
    ]
    assert results[0].probs.shape == (48, 2) and results[0].split.classes == (0, 3)
    assert np.array_equal(results[0].probs, results[1].probs)
    assert set(results[0].predicted) <= {0, 3}


def test_permuting_the_nodes_permutes_the_result(method):
    graph = cliques()
    order = np.random.RandomState(0).permutation(36)
    place = np.argsort(order)
    moved = Graph(
        "moved",
        graph.features[order],
        simple_edges(*place[graph.edges]),
        graph.labels[order],
        graph.class_names,
    )
    split = bup.make_split(graph, 2, 8, None)
    moved_split = Split(
        place[split.train], place[split.validation], place[split.test], split.classes, ()
    )
    settings = METHODS[method].settings(**small(method, dropout=0.0))
    fits = [
        METHODS[method].fit(g, [s], [0], settings, None)[0]
        for g, s in ((graph, split), (moved, moved_split))
    ]
    difference = np.abs(fits[0].probs[order] - fits[1].probs)
    if METHODS[method].is_stochastic:  # other draws for other places
        assert difference.mean() < 0.05
    else:
        assert difference.max() < 1e-5


def test_several_seeds_side_by_side_are_the_same_as_one_by_one(method, cora):
    graph, request = cora, {"per_class": 5}
    if not METHODS[method].batches_seeds:  # a small graph will do
        graph, request = cliques(), {"per_class": 2, "validation": 8, "test": None}
    request |= small(method, epochs=30)
    together = bup.fit_many(graph, method, seeds=[2, 0, 7], **request)
    for result in together:
        alone = bup.fit(graph, method, seed=result.spec.seed, **request)
        assert result.spec == alone.spec and result.kept_epoch == alone.kept_epoch
        assert np.array_equal(result.probs, alone.probs)


def test_progress_is_reported_and_can_cancel(method):
    seen: list[Progress] = []

    def watch(progress: Progress) -> None:
        seen.append(progress)
        if progress.epoch == 3:
            raise bup.Cancelled

    if "epochs" not in small(method):  # then there may be nothing to report
        fit(cliques(), method, on_epoch=watch)
        return
    with pytest.raises(bup.Cancelled):
        fit(cliques(), method, on_epoch=watch)
    assert [p.epoch for p in seen] == [1, 2, 3]
    assert all(p.loss > 0 and 0 <= p.validation_accuracy <= 1 for p in seen)


def test_a_result_survives_the_store(method, tmp_path):
    graph = cliques()
    result = fit(graph, method, **small(method))
    store = bup.Store(tmp_path)
    assert fitting.load(result.spec, graph, store) is None
    fitting.save(result, graph, store)
    back = fitting.load(result.spec, graph, store)
    for name in ("probs", "mean", "var"):
        assert np.array_equal(getattr(back, name), getattr(result, name))
    assert back.history == result.history and back.split.classes == result.split.classes
    assert back.weights.keys() == result.weights.keys()
    other = dataclasses.replace(graph, labels=graph.labels[::-1].copy())
    assert fitting.load(result.spec, other, store) is None


def test_runs_that_differ_in_more_than_their_seed_are_not_trained_together(cora):
    specs = [bup.Spec(seed=0), bup.Spec(seed=1, per_class=5)]
    with pytest.raises(bup.BupError, match="seed only"):
        fitting.fit_specs(cora, specs)
    with pytest.raises(bup.BupError, match="at least one seed"):
        bup.fit_many(cora, seeds=[])


def test_the_mean_path_is_pygs_gcn(cora):
    result = bup.fit(cora, "gcn", **SHORT)
    convolutions = []
    for name in ("mean_1", "mean_2"):
        weight = torch.from_numpy(result.weights[name])
        convolution = GCNConv(*weight.shape, bias=False)
        convolution.lin.weight.data = weight.T
        convolutions.append(convolution)
    words = torch.from_numpy(cora.features.toarray())
    words = words / words.sum(dim=1, keepdim=True).clamp_min(1)
    index = torch.tensor(np.concatenate([cora.edges, cora.edges[::-1]], axis=1))
    with torch.no_grad():
        hidden = convolutions[0](words, index).relu()
        expected = convolutions[1](hidden, index)
    assert np.allclose(result.mean, expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("layers", bup_method.LAYERS)
@pytest.mark.parametrize("rule", RULES)
def test_a_field_gives_the_same_messages_as_the_whole_graph(cora, rule, layers):
    """Training looks at the neighbourhood of its nodes only, and loses nothing by it."""
    settings = bup_method.BupSettings(propagation=rule, layers=layers, hidden=8)
    generators = [torch.Generator().manual_seed(s) for s in (0, 1)]
    p = bup_method.initial_parameters(cora.num_features, 7, settings, generators)
    p["var_2"].normal_(generator=generators[0])
    both = settings.rule.propagation(cora, settings)
    inputs = Inputs.of(cora)
    targets = [np.array([5, 3, 2000]), np.array([17, 5])]
    part = bup_method.messages(p, inputs.field(targets), settings, both)
    rows = 0
    for s, nodes in enumerate(targets):
        one = {name: tensor[s : s + 1] for name, tensor in p.items()}
        alone = settings.rule.propagation(cora, settings)
        whole = bup_method.messages(one, inputs.everything(), settings, alone)
        here = slice(rows, rows := rows + len(nodes))
        assert torch.allclose(part.mean[here], whole.mean[nodes], atol=1e-6)
        assert torch.allclose(part.var[here], whole.var[nodes], atol=1e-6)


@pytest.mark.parametrize("layers", bup_method.LAYERS)
def test_gradients_reach_every_parameter(layers):
    graph = cliques()
    settings = bup_method.BupSettings(hidden=4, layers=layers)
    generators = [torch.Generator().manual_seed(0)]
    p = bup_method.initial_parameters(graph.num_features, 3, settings, generators)
    for tensor in p.values():
        tensor.requires_grad_(True)
    field = Inputs.of(graph).field([np.arange(0, 36, 5)])
    propagation = settings.rule.propagation(graph, settings)
    m = bup_method.messages(p, field, settings, propagation, generators)
    (m.mean.sum() + (m.var * torch.arange(3)).sum()).backward()
    assert all(tensor.grad.abs().sum() > 0 for tensor in p.values())


@pytest.mark.parametrize("layers", bup_method.LAYERS)
@pytest.mark.parametrize("rule", RULES)
def test_variances_are_positive_under_any_weights(rule, layers):
    graph = cliques()
    settings = bup_method.BupSettings(propagation=rule, layers=layers, hidden=4, lam=0.5)
    generators = [torch.Generator().manual_seed(0)]
    p = bup_method.initial_parameters(graph.num_features, 3, settings, generators)
    for scale in (1.0, 100.0, -100.0):
        wild = {name: scale * torch.randn_like(tensor) for name, tensor in p.items()}
        propagation = settings.rule.propagation(graph, settings)
        var = bup_method.messages(wild, Inputs.of(graph).everything(), settings, propagation).var
        assert (var > 0).all() and torch.isfinite(var).all()


@pytest.mark.parametrize("layers", bup_method.LAYERS)
@pytest.mark.parametrize("rule", RULES)
def test_the_trace_shows_every_step_and_ends_in_the_result(cora, rule, layers):
    result = bup.fit(cora, propagation=rule, layers=layers, calibrate="none", **SHORT)
    inspector = Inspector(cora, result)
    nodes = np.arange(cora.num_nodes)
    found = inspector.explains.trace(result, nodes, inspector.inputs, inspector.propagation)
    assert np.allclose(found.mean, result.mean, atol=1e-6)
    assert np.allclose(found.var, result.var, atol=1e-6)
    assert len(found.steps) == len(RULES[rule].layers) == len(inspector.layer_stds()) - 1
    for step in found.steps:
        if inspector.propagation.factor is not None:
            expected = step.before * inspector.propagation.factor[:, None]
            assert np.allclose(step.after, expected, rtol=1e-4)
    if layers == "simple" and len(found.steps) == 2:
        assert np.array_equal(found.steps[0].after, found.steps[1].before)


def test_the_papers_layers_are_a_map_and_an_activation_after_every_step(cora):
    """Equation (6) with plain products, one after the other."""
    result = bup.fit(cora, layers="paper", calibrate="none", **SHORT)
    w = {name: torch.from_numpy(array).double() for name, array in result.weights.items()}
    factor = torch.from_numpy(Inspector(cora, result).propagation.factor)[:, None]
    words = torch.from_numpy(cora.features.toarray()).double()
    words = words / words.sum(dim=1, keepdim=True).clamp_min(1)
    var = torch.nn.functional.softplus(words @ w["var_1"] + w["var_bias"])
    for weights in ("var_hidden", "var_2"):
        var = torch.nn.functional.softplus((var * factor) @ w[weights])
    assert np.allclose(result.var, var.numpy(), atol=1e-4)


def test_a_variance_scale_is_the_best_one_on_the_validation_nodes(cora):
    result = bup.fit(cora, per_class=5, calibrate="variance", epochs=60)
    scale = result.constants["variance_factor"]
    nodes = result.split.validation
    labels = torch.from_numpy(result.split.targets(cora.labels[nodes]))
    mean, var = (torch.from_numpy(a[nodes]) for a in (result.mean, result.var))
    rule = dict(result.spec.settings)["prediction"]
    nll = {
        k: -bup_method.log_probability(mean, k * var, labels, rule).mean().item()
        for k in (0.9, 1.0, 1.1)
    }
    assert scale != 1 and min(nll, key=nll.get) == 1.0


def test_a_temperature_leaves_the_answers_alone(cora):
    plain, scaled = (bup.fit(cora, "gcn", calibrate=c, epochs=50) for c in ("none", "temperature"))
    assert np.array_equal(plain.predicted, scaled.predicted)
    nodes = plain.split.validation
    nll = [
        metrics.negative_log_likelihood(r.probs[nodes], r.split.targets(cora.labels[nodes]))
        for r in (plain, scaled)
    ]
    assert nll[1] < nll[0]


def test_the_best_epoch_is_kept(cora):
    result = bup.fit(cora, per_class=5, epochs=60)
    nll = result.history["validation_nll"]
    assert result.kept_epoch == 1 + int(np.argmin(nll))
    nodes = result.split.validation
    by_the_loss = bup.fit(cora, per_class=5, epochs=60, calibrate="none", prediction="erf")
    again = metrics.negative_log_likelihood(
        by_the_loss.probs[nodes], result.split.targets(cora.labels[nodes])
    )
    assert again == pytest.approx(min(nll), abs=1e-4)


def test_bup_learns_cora_and_knows_less_of_a_class_it_never_saw(cora):
    result = bup.fit(cora, left_out=[6])
    report = bup.evaluate(result, cora)
    assert report["test"]["accuracy"] > 0.75 and report["test"]["ece"] < 0.12
    for score in ("confidence", "prob_std"):
        assert report["ood"][score]["in"] > report["ood"][score]["out"]
    assert report["structure"]["message_std"]["degree"]["spearman"] < 0


def test_evidence_ties_uncertainty_to_degree(cora):
    result = bup.fit(cora, propagation="evidence")
    assert spearmanr(cora.degree, metrics.message_std(result.var)).statistic < -0.9
    assert bup.evaluate(result, cora)["test"]["accuracy"] > 0.75


def test_gcn_is_under_confident_on_cora(cora):
    result = bup.fit(cora, "gcn")
    known = result.split.test
    confidence = metrics.confidence(result.probs[known]).mean()
    accuracy = metrics.accuracy(result.probs[known], cora.labels[known])
    assert accuracy > 0.75 and confidence < accuracy - 0.1


def test_outputs_of_a_field_and_of_the_graph_agree_for_gcn(cora):
    inputs = Inputs.of(cora)
    generator = torch.Generator().manual_seed(0)
    p = {"mean_1": torch.randn(1, 1433, 4, generator=generator), "mean_2": torch.ones(1, 4, 7)}
    whole = gcn_output(p, inputs.everything())
    assert torch.allclose(gcn_output(p, inputs.field([np.array([9, 1])])), whole[[9, 1]], atol=1e-5)


def test_a_run_in_words_names_what_was_changed():
    def words(method, **settings):
        spec = complete(bup.Spec(method=method, settings=tuple(settings.items())))
        return methods.describe_run(spec)

    assert words("bup") == words("bup", hidden=64) == "bup"
    assert words("gcn+temperature", hidden=64) == "gcn+temperature"
    assert words("gcn", calibrate="gats") == "gcn+gats (hidden=16, keep=last, patience=10)"
    assert words("gcn+temperature", hidden=32) == "gcn+temperature (hidden=32)"
    assert words("bup", loss="exact", lam=2) == "bup (lam=2.0, loss=exact)"


@pytest.mark.parametrize("keep", ["best", "last"])
def test_training_that_diverges_ends_with_what_it_had(cora, keep, monkeypatch):
    usual, calls = gcn_method.GcnNetwork.validation, []

    def lost(self):
        calls.append(1)
        nll, accuracy = usual(self)
        return (nll if len(calls) < 5 else nll * torch.nan), accuracy

    monkeypatch.setattr(gcn_method.GcnNetwork, "validation", lost)
    result = bup.fit(cora, "gcn", keep=keep, epochs=30)
    assert len(result.history["loss"]) == 4 and 1 <= result.kept_epoch <= 4
    assert np.isfinite(result.probs).all()
    calls.extend([1] * 9)
    with pytest.raises(bup.BupError, match=r"diverged in its first epoch.* than 0\.5"):
        bup.fit(cora, "gcn", keep=keep, epochs=15, learning_rate=0.5)
