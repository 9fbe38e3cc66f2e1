"""Crafted files of what people bring: the checksum is right, what they hold is not."""

import numpy as np
import pytest

import bup
from bup.datasets import uploads
from bup.imported import predictions
from bup.io import files
from bup.training import fitting
from bup.training.torch_model import run_of_predictions

GRAPH = bup.load_graph("synthetic:nodes=120,classes=3,words=30")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))


def craft(path, change) -> None:
    arrays, values = files.read(path)
    change(arrays, values)
    path.write_bytes(files.pack(arrays, values))


GRAPHS = {
    "endless columns": lambda a, v: v.update(columns=10**400),
    "columns in words": lambda a, v: v.update(columns="many"),
    "a column beyond": lambda a, v: a.update(indices=a["indices"] + 10_000),
    "a column before": lambda a, v: a.update(indices=a["indices"] - 10_000),
    "rows that overlap": lambda a, v: a.update(indptr=a["indptr"][::-1]),
    "no data": lambda a, v: a.pop("data"),
    "no labels": lambda a, v: a.pop("labels"),
    "a link beyond": lambda a, v: a.update(edges=a["edges"] + 10_000),
    "names that are numbers": lambda a, v: v.update(class_names=[1, 2, 10**400]),
    "a class without a name": lambda a, v: v.update(class_names=["a", "b"]),
    "ids that are lists": lambda a, v: v.update(ids=[[1]] * 120),
    "a title for one": lambda a, v: v.update(titles=["one"]),
    "a noun that is none": lambda a, v: v.update(noun=7),
    "a noun of numbers": lambda a, v: v.update(noun=[10**400, 1]),
    "no version": lambda a, v: v.pop("version"),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_crafted_graph_is_set_aside(name, caplog):
    key = uploads.save(GRAPH)
    assert bup.load_graph(key).digest == GRAPH.digest
    path = uploads.STORE.path(uploads.token_of(key))
    craft(path, GRAPHS[name])
    with pytest.raises(bup.BupError, match="is not here"):
        bup.load_graph(key)
    assert not path.exists() and "set aside" in caplog.text
    assert uploads.token_of(key) not in caplog.text, "whoever knows the name may open it"


TABLES = {
    "no graph": lambda a, v: v.pop("digest"),
    "no classes": lambda a, v: v.pop("classes"),
    "classes that are none": lambda a, v: v.update(classes=7),
    "an endless class": lambda a, v: v.update(classes=[0, 1, 10**400]),
    "classes in words": lambda a, v: v.update(classes=["a", "b", "c"]),
    "classes in disorder": lambda a, v: v.update(classes=[2, 1, 0]),
    "too few columns": lambda a, v: v.update(classes=[0, 1]),
    "nothing": lambda a, v: a.clear(),
    "too few rows": lambda a, v: a.update(probs=a["probs"][:5]),
    "one number": lambda a, v: a.update(probs=np.float32(1)),
    "NaN": lambda a, v: a.update(probs=a["probs"] * np.float32("nan")),
    "more than one": lambda a, v: a.update(probs=2 * a["probs"]),
    "whole numbers": lambda a, v: a.update(probs=a["probs"].round().astype(int)),
    "a short score": lambda a, v: a.update({"scores.own_score_1": np.ones(3, "f4")}),
    "a score that is one number": lambda a, v: a.update({"scores.own_score_1": np.float32(1)}),
    "a split of few": lambda a, v: a.update(parts=np.zeros(3, np.int8)),
    "a split of one part": lambda a, v: a.update(parts=np.zeros(120, np.int8)),
}


@pytest.mark.parametrize("name", TABLES)
def test_crafted_predictions_are_set_aside(name, caplog):
    probs = np.random.RandomState(0).dirichlet(np.ones(3), 120)
    spec = run_of_predictions(GRAPH, predictions.check(GRAPH, probs), 5)
    assert fitting.fit_specs(GRAPH, [spec])[0].probs.shape == (120, 3)
    path = predictions.STORE.path(dict(spec.settings)["predictions"])
    craft(path, TABLES[name])
    with pytest.raises(bup.BupError, match="are not here"):
        fitting.fit_specs(GRAPH, [spec])
    assert not path.exists() and "set aside" in caplog.text
