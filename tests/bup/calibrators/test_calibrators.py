"""Calibration after training, whatever the method."""

import dataclasses
import math
from functools import partial

import numpy as np
import pytest
import torch
from numpy.polynomial import chebyshev
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

import bup
from bup import calibrators, likelihood, metrics
from bup.calibrators import CALIBRATORS, CalibrationData, LabelledNodes, spread, temperature
from bup.calibrators.base import label_nll
from bup.calibrators.wats import wavelets
from bup.explanation.inspection import inspect
from bup.methods import complete


@pytest.fixture(scope="module")
def plain(cora):
    return bup.fit(cora, "gcn", per_class=10)


def validation_nll(result, graph) -> float:
    nodes = result.split.validation
    return metrics.negative_log_likelihood(
        result.probs[nodes], result.split.targets(graph.labels[nodes])
    )


ANY = [c.name for c in CALIBRATORS.values() if not c.needs_variance]


@pytest.mark.parametrize("name", [c for c in ANY if c != "bias"])
def test_a_calibrator_keeps_the_answers_and_improves_the_likelihood(name, cora, plain):
    result = bup.fit(cora, "gcn", calibrate=name, per_class=10)
    assert np.array_equal(result.predicted, plain.predicted)
    assert np.allclose(result.probs.sum(axis=1), 1, atol=1e-5)
    assert validation_nll(result, cora) < validation_nll(plain, cora) - 0.02
    test = [bup.evaluate(r, cora)["test"]["ece"] for r in (result, plain)]
    assert test[0] < test[1]


@pytest.mark.parametrize("name", ANY)
def test_a_calibrator_never_looks_at_test_labels(name, cora, plain):
    split = plain.split
    changed = cora.labels.copy()
    others = np.setdiff1d(np.arange(cora.num_nodes), [*split.train, *split.validation])
    changed[others] = (changed[others] + 1) % cora.num_classes
    outputs = calibrators.Outputs(torch.from_numpy(plain.mean))
    graphs = cora, dataclasses.replace(cora, labels=changed)
    data = (
        CalibrationData(outputs, LabelledNodes.of(g, split, split.validation), g, split, 0)
        for g in graphs
    )
    first, second = (CALIBRATORS[name].fit(each).probs for each in data)
    assert torch.equal(first, second)


class Outputs(ClassifierMixin, BaseEstimator):
    """A classifier whose outputs are its inputs."""

    def fit(self, x, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, x):
        return x

    def predict(self, x):
        return self.classes_[x.argmax(axis=1)]


def test_temperature_agrees_with_scikit_learn(cora, plain):
    held = LabelledNodes.of(cora, plain.split, plain.split.validation)
    logits, labels = plain.mean[held.nodes].astype(np.float64), held.labels.numpy()
    peer = CalibratedClassifierCV(
        FrozenEstimator(Outputs().fit(logits, labels)), method="temperature"
    )
    peer.fit(logits, labels)
    said = calibrators.Outputs(torch.from_numpy(plain.mean))
    ours, constants, _ = temperature.fit(CalibrationData(said, held, cora, plain.split, 0))
    assert 0 < constants["temperature"] < 1  # the GCN is not confident enough
    theirs = peer.predict_proba(plain.mean.astype(np.float64))
    assert np.abs(ours.numpy() - theirs).max() < 1e-3


def test_a_joined_name_is_the_setting_of_the_same_name():
    joined = complete(bup.Spec(method="mlp+temperature"))
    assert joined == complete(bup.Spec(method="mlp", settings=(("calibrate", "temperature"),)))
    assert joined.method == "mlp"
    assert dict(complete(bup.Spec(method="bup+variance")).settings)["calibrate"] == "variance"
    with pytest.raises(bup.BupError, match="calibrate must be one of"):
        complete(bup.Spec(method="gcn+variance"))
    with pytest.raises(bup.BupError, match="leave one of them out"):
        complete(bup.Spec(method="gcn+gats", settings=(("calibrate", "none"),)))
    with pytest.raises(bup.BupError, match="doubt asks for doubt, the setting propagation for gcn"):
        complete(bup.Spec(method="doubt", settings=(("propagation", "gcn"),)))


def test_any_method_can_be_calibrated(cora):
    plain, scaled = (bup.fit(cora, name, epochs=15) for name in ("sgcn", "sgcn+temperature"))
    assert np.array_equal(plain.predicted, scaled.predicted)
    assert validation_nll(scaled, cora) < validation_nll(plain, cora)
    assert np.array_equal(plain.own_scores["vacuity"], scaled.own_scores["vacuity"])


def test_an_uncertain_variance_is_the_mean_over_variances():
    """Quadrature against many draws of the factor, for messages and for plain outputs."""
    random = torch.Generator().manual_seed(0)
    mean = torch.randn(5, 3, dtype=torch.float64, generator=random)
    var = 0.1 + torch.rand(5, 3, dtype=torch.float64, generator=random)
    draws = torch.randn(4000, dtype=torch.float64, generator=random)
    for outputs in (
        calibrators.Outputs(mean),
        calibrators.Outputs(mean, mean, var, likelihood.class_probabilities),
    ):
        found = spread.mix_probabilities(outputs, slice(None), 0.5, 1.2)
        slow = torch.stack(
            [outputs.scaled_probs(slice(None), 0.5 * math.exp(1.2 * q)) for q in draws.tolist()]
        ).mean(0)
        assert torch.allclose(found, slow, atol=0.01)
        certain = spread.mix_probabilities(outputs, slice(None), 2.0, 0.0)
        assert torch.allclose(certain, outputs.scaled_probs(slice(None), 2.0))


def test_heavy_tails_raise_confidence_where_one_factor_must_lower_it(cora):
    """A few confident mistakes: one factor widens all messages, an uncertain one need not."""
    labels = torch.arange(200) % 2
    mean = torch.zeros(200, 2, dtype=torch.float64)
    mean[torch.arange(200), labels] = 2.5
    mean[:16] = mean[:16].flip(1)  # 8 % mistakes, as sure as the others
    outputs = calibrators.Outputs(
        mean, mean, torch.ones_like(mean), partial(likelihood.class_probabilities, rule="erf")
    )
    held = LabelledNodes(torch.arange(200), labels)
    data = CalibrationData(outputs, held, cora, None, 0)
    one, many = (CALIBRATORS[name].fit(data) for name in ("variance", "spread"))
    nll = [label_nll(done.probs, labels).mean().item() for done in (one, many)]
    assert abs(nll[1] - nll[0]) < 0.02  # two classes: both can say 92 %
    assert many.constants["variance_width"] > 0 and many.var_factor < one.var_factor


def test_a_class_bias_finds_the_shares_of_the_classes(cora):
    labels = torch.tensor([0] * 150 + [1] * 50)
    outputs = calibrators.Outputs(torch.zeros(200, 2))
    nodes = LabelledNodes(torch.arange(200), labels)
    done = CALIBRATORS["bias"].fit(CalibrationData(outputs, nodes, cora, None, 0))
    assert done.probs[0, 0].item() == pytest.approx(0.75, abs=0.02)
    assert done.constants["bias_0"] == pytest.approx(-done.constants["bias_1"], abs=1e-3)


def test_calibrators_follow_each_other(cora):
    one = bup.fit(cora, "gcn+spread", epochs=30)
    both = bup.fit(cora, "gcn+spread+bias", epochs=30)
    assert both.constants.items() >= one.constants.items() and "bias_0" in both.constants
    assert validation_nll(both, cora) < validation_nll(one, cora)
    with pytest.raises(bup.BupError, match="calibrate must be one of"):
        complete(bup.Spec(method="gcn+bias+spread"))


@pytest.mark.parametrize("method", ["bup", "ggp"])
@pytest.mark.parametrize("name", ["variance", "spread"])
def test_a_calibrated_message_is_what_the_lens_shows(cora, method, name):
    result = bup.fit(cora, f"{method}+{name}", epochs=10)
    plain = bup.fit(cora, method, epochs=10, calibrate="none")
    factor = result.constants["variance_factor"]
    assert factor != 1 and np.allclose(result.var, factor * plain.var, rtol=1e-5)
    seen = inspect(cora, result, 35)
    assert np.allclose(seen.var, result.var[35], rtol=1e-4)
    assert np.allclose(seen.probs, result.probs[35], atol=1e-4)
    assert (seen.low <= seen.high).all()


def test_wavelets_are_chebyshev_terms_of_the_laplacian(path_graph):
    degrees = path_graph.degree
    linked = np.flatnonzero(degrees)
    root = np.diag(1 / np.sqrt(degrees[linked]))
    adjacency = path_graph.adjacency.toarray()[np.ix_(linked, linked)]
    values, vectors = np.linalg.eigh(np.eye(len(linked)) - root @ adjacency @ root)
    start = np.log(degrees[linked] + 1)
    terms = []
    for k in range(4):
        term = chebyshev.chebval(values - 1, np.eye(4)[k])
        terms.append(np.exp(-2 * k) * vectors @ (term * (vectors.T @ start)))
    expected = np.stack(terms, axis=1)
    expected /= np.abs(expected).sum(axis=1, keepdims=True)
    found = wavelets(path_graph)
    assert np.allclose(found[linked], expected)
    assert np.isfinite(found).all() and np.allclose(found[degrees == 0], 0)
