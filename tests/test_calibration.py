"""Calibration after training, whatever the method."""

import dataclasses

import numpy as np
import pytest
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

import bup
from bup import calibration, metrics
from bup.calibration import CALIBRATORS, Held
from bup.methods import complete


@pytest.fixture(scope="module")
def plain(cora):
    return bup.fit(cora, "gcn", per_class=10)


def validation_nll(result, graph) -> float:
    nodes = result.split.validation
    return metrics.negative_log_likelihood(
        result.probs[nodes], result.split.targets(graph.labels[nodes])
    )


@pytest.mark.parametrize("name", CALIBRATORS)
def test_a_calibrator_keeps_the_answers_and_improves_the_likelihood(name, cora, plain):
    result = bup.fit(cora, f"gcn+{name}", per_class=10)
    assert np.array_equal(result.predicted, plain.predicted)
    assert np.allclose(result.probs.sum(axis=1), 1, atol=1e-5)
    assert validation_nll(result, cora) < validation_nll(plain, cora) - 0.02
    test = [bup.evaluate(r, cora)["test"]["ece"] for r in (result, plain)]
    assert test[0] < test[1]


@pytest.mark.parametrize("name", CALIBRATORS)
def test_a_calibrator_never_looks_at_test_labels(name, cora, plain):
    split = plain.split
    changed = cora.labels.copy()
    others = np.setdiff1d(np.arange(cora.num_nodes), [*split.train, *split.validation])
    changed[others] = (changed[others] + 1) % cora.num_classes
    logits = torch.from_numpy(plain.mean)
    graphs = cora, dataclasses.replace(cora, labels=changed)
    first, second = (CALIBRATORS[name].fit(g, logits, split, 0)[0] for g in graphs)
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
    held = Held.of(cora, plain.split)
    logits, labels = plain.mean[held.nodes].astype(np.float64), held.labels.numpy()
    peer = CalibratedClassifierCV(
        FrozenEstimator(Outputs().fit(logits, labels)), method="temperature"
    )
    peer.fit(logits, labels)
    ours, figures = calibration.temperature(cora, torch.from_numpy(plain.mean), plain.split, 0)
    assert 0 < figures["temperature"] < 1  # the GCN is not confident enough
    theirs = peer.predict_proba(plain.mean.astype(np.float64))
    assert np.abs(ours.softmax(-1).numpy() - theirs).max() < 1e-3


def test_a_joined_name_is_the_setting_of_the_same_name():
    joined = complete(bup.Spec(method="gcn+temperature"))
    assert joined == complete(bup.Spec(method="gcn", settings=(("calibrate", "temperature"),)))
    assert joined.method == "gcn"
    assert dict(complete(bup.Spec(method="bup+variance")).settings)["calibrate"] == "variance"
    with pytest.raises(bup.BupError, match="calibrate must be one of"):
        complete(bup.Spec(method="gcn+variance"))
    with pytest.raises(bup.BupError, match="leave one of them out"):
        complete(bup.Spec(method="gcn+gats", settings=(("calibrate", "none"),)))


def test_any_method_can_be_calibrated(cora):
    plain, scaled = (bup.fit(cora, name, epochs=15) for name in ("sgcn", "sgcn+temperature"))
    assert np.array_equal(plain.predicted, scaled.predicted)
    assert validation_nll(scaled, cora) < validation_nll(plain, cora)
    assert np.array_equal(plain.own_scores["vacuity"], scaled.own_scores["vacuity"])
