"""Every method on Cora: seconds per fit and per epoch against our GCN, and against peers' code."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from mapie.classification import SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

import bup
from bup import calibrators
from bup.calibrators import CalibrationData, LabelledNodes, temperature
from bup.graph import Graph
from bup.methods import TRAINED
from bup.metrics.conformal import conformal_sets
from tests.bench.timing import interleaved, report
from tests.bench.training import EPOCHS, pyg_epochs

PEER_EPOCHS = 200


class Outputs(ClassifierMixin, BaseEstimator):
    """A trained classifier, as scikit-learn and MAPIE take it: its inputs are its outputs."""

    def fit(self, x: np.ndarray, y: np.ndarray) -> Outputs:
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, x: np.ndarray) -> np.ndarray:
        return x

    def predict_proba(self, x: np.ndarray) -> np.ndarray:
        return np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)

    def predict(self, x: np.ndarray) -> np.ndarray:
        return self.classes_[x.argmax(axis=1)]


def run() -> None:
    torch.set_num_threads(1)
    graph = bup.load_graph("cora")
    _fits(graph)
    _pyg(graph)
    _afterwards(graph)


def _fits(graph: Graph) -> None:
    """One fit each at the defaults, 20 nodes per class; the GCN before every other, as the unit."""
    bup.fit(graph, "gcn")
    print("Cora, defaults, one thread (ratios to the GCN trained just before)")
    print(f"  {'method':<12} {'s per fit':>10} {'ratio':>7} {'epochs':>7} {'ms per epoch':>13}")
    for name in TRAINED:
        unit, seconds = _seconds(graph, "gcn")[0], _seconds(graph, name)
        print(
            f"  {name:<12} {seconds[0]:10.2f} {seconds[0] / unit:7.1f} {seconds[1]:7d} "
            f"{1000 * seconds[0] / seconds[1]:13.1f}"
        )


def _seconds(graph: Graph, method: str) -> tuple[float, int]:
    start = time.perf_counter()
    result = bup.fit(graph, method)
    return time.perf_counter() - start, len(result.history["loss"])


def _pyg(graph: Graph) -> None:
    peer = pyg_epochs(graph, hidden=16)

    def theirs() -> None:
        for _ in range(PEER_EPOCHS // EPOCHS):
            peer()

    fit = partial(bup.fit, graph, "gcn", epochs=PEER_EPOCHS, patience=PEER_EPOCHS + 1)
    seconds = interleaved({"PyG GCNConv": theirs, "our gcn": fit}, repeats=3)
    report(f"Cora, {PEER_EPOCHS} epochs of a GCN, hidden 16", seconds, peer="PyG GCNConv")


def _afterwards(graph: Graph) -> None:
    """Calibration and conformal sets on the outputs of one GCN."""
    result = bup.fit(graph, "gcn")
    split, outputs = result.split, result.mean
    assert outputs is not None
    held = LabelledNodes.of(graph, split, split.validation)
    x, y = outputs[split.validation].astype(np.float64), held.labels.numpy()
    everyone = outputs.astype(np.float64)
    said = calibrators.Outputs(torch.from_numpy(outputs))
    trained = Outputs().fit(x, y)

    def scikit_learn() -> np.ndarray:
        peer = CalibratedClassifierCV(FrozenEstimator(trained), method="temperature")
        return peer.fit(x, y).predict_proba(everyone)

    def mapie() -> np.ndarray:
        peer = SplitConformalClassifier(trained, 0.9, "aps", random_state=0)
        return peer.conformalize(x, y).predict_set(everyone)[1]

    contenders: dict[str, dict[str, Callable[[], object]]] = {
        "temperature": {
            "scikit-learn": scikit_learn,
            "ours": lambda: temperature.fit(CalibrationData(said, held, graph, split, 0)),
        },
        "conformal sets (APS)": {
            "MAPIE": mapie,
            "ours": lambda: conformal_sets(result.probs, graph, split, rule="aps"),
        },
    }
    for what, pair in contenders.items():
        report(f"Cora, {what} of all nodes", interleaved(pair, repeats=5), peer=next(iter(pair)))
