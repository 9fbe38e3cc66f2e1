"""Result files that somebody crafted: the checksum is right, what they hold is not."""

import json

import numpy as np
import pytest

import bup
from bup.io import files
from bup.results.store import VERSION
from bup.training import fitting

SPEC = bup.Spec(
    graph="synthetic:nodes=120,classes=3,words=30",
    per_class=3,
    validation=20,
    test=None,
    settings=(("epochs", 3), ("propagation", "doubt")),
)


@pytest.fixture(scope="module")
def graph() -> bup.Graph:
    return bup.load_graph(SPEC.graph)


@pytest.fixture(scope="module")
def result(graph) -> bup.Result:
    return fitting.fit_specs(graph, [SPEC])[0]


def nan(array):
    array = array.copy()
    array.flat[0] = np.nan
    return array


CHANGES = {
    "no": lambda arrays, name: arrays.pop(name),
    "short": lambda arrays, name: arrays.update({name: arrays[name][:-1]}),
    "turned": lambda arrays, name: arrays.update({name: arrays[name].T[None]}),
    "doubled": lambda arrays, name: arrays.update({name: arrays[name].astype("f8")}),
}

CRAFTED = {
    "all NaN": lambda a, v: a.update(probs=np.full_like(a["probs"], np.nan)),
    "one NaN": lambda a, v: a.update(probs=nan(a["probs"])),
    "NaN variance": lambda a, v: a.update(var=nan(a["var"])),
    "negative variance": lambda a, v: a.update(var=-a["var"]),
    "infinite mean": lambda a, v: a.update(mean=a["mean"] + np.inf),
    "no probabilities": lambda a, v: a.pop("probs"),
    "no variance": lambda a, v: a.pop("var"),
    "no training nodes": lambda a, v: a.pop("train"),
    "too few rows": lambda a, v: a.update(probs=a["probs"][:5]),
    "too many columns": lambda a, v: a.update(probs=np.repeat(a["probs"], 2, axis=1) / 2),
    "more than one": lambda a, v: a.update(probs=2 * a["probs"]),
    "whole numbers": lambda a, v: a.update(probs=a["probs"].astype(np.int64)),
    "a node beyond": lambda a, v: a.update(test=a["test"] + 10_000),
    "a node before": lambda a, v: a.update(train=a["train"] - 10_000),
    "in two parts": lambda a, v: a.update(train=a["test"][:3]),
    "nodes in a table": lambda a, v: a.update(test=a["test"][:4].reshape(2, 2)),
    "nobody tests": lambda a, v: a.update(test=a["test"][:0]),
    "a class beyond": lambda a, v: v.update(classes=[0, 1, 9]),
    "classes in words": lambda a, v: v.update(classes=["a", "b", "c"]),
    "no classes": lambda a, v: v.pop("classes"),
    "no history": lambda a, v: v.update(history={}),
    "history in words": lambda a, v: v.update(history={"loss": "long"}),
    "kept beyond": lambda a, v: v.update(kept_epoch=99),
    "seconds in words": lambda a, v: v.update(seconds="few"),
    "constants in a list": lambda a, v: v.update(constants=[1]),
    "no validation curve": lambda a, v: v["history"].pop("validation_nll"),
    "endless history": lambda a, v: v["history"]["loss"].__setitem__(0, 10**400),
    "endless seconds": lambda a, v: v.update(seconds=10**400),
    "endless before": lambda a, v: v.update(seconds=-(10**400)),
    "an endless constant": lambda a, v: v["constants"].update(variance_factor=10**400),
    "an endless class": lambda a, v: v.update(classes=[0, 1, 10**400]),
    "an endless epoch": lambda a, v: v.update(kept_epoch=10**400),
    "a negative factor": lambda a, v: v["constants"].update(variance_factor=-1.0),
    "a width of none": lambda a, v: v["constants"].update(variance_width=0.0),
    "one constant of several": lambda a, v: v["constants"].pop("usual_doubt_words"),
    "a negative constant": lambda a, v: v["constants"].update(usual_doubt=-1.0),
    **{
        f"{change} {name}": lambda a, v, name=name, change=change: CHANGES[change](
            a, f"weights.{name}"
        )
        for name in ("mean_1", "mean_2", "var_1", "var_bias", "var_2")
        for change in ("no", "short", "turned", "doubled")
    },
    "a weight more": lambda a, v: a.update({"weights.more": a["weights.mean_1"]}),
    "NaN weights": lambda a, v: a.update({k: nan(x) for k, x in a.items() if "weights" in k}),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_file_is_set_aside_and_trained_again(name, graph, result, tmp_path, caplog):
    store = bup.Store(tmp_path)
    fitting.save(result, graph, store)
    assert fitting.load(SPEC, graph, store) is not None
    path = store.path(fitting.run_of(SPEC, graph))
    arrays, envelope = files.read(path)
    CRAFTED[name](arrays, envelope["values"])
    path.write_bytes(files.pack(arrays, envelope))
    assert fitting.load(SPEC, graph, store) is None
    assert "is set aside" in caplog.text and not path.exists()


@pytest.mark.parametrize("values", ["[" * 100_000, "[]", "7", json.dumps({"version": VERSION})])
def test_values_that_are_no_result_at_all(values, graph, result, tmp_path, monkeypatch):
    store = bup.Store(tmp_path)
    fitting.save(result, graph, store)
    path = store.path(fitting.run_of(SPEC, graph))
    with monkeypatch.context() as patch:
        patch.setattr(files.json, "dumps", lambda *_, **__: values)
        crafted = files.pack({}, {})
    path.write_bytes(crafted)
    assert fitting.load(SPEC, graph, store) is None
