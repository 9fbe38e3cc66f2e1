"""Results in files of one's own, and by choice in the store: the same as trained."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import bup
from bup.io import files
from bup.results.store import pack_result
from bup.training import fitting

NAME = "synthetic:nodes=120,classes=3,words=40,mean_degree=5"
ASK = {"per_class": 5, "left_out": [2], "epochs": 8}


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def graph() -> bup.Graph:
    return bup.load_graph(NAME)


@pytest.fixture(scope="module")
def result(graph) -> bup.Result:
    return bup.fit(graph, **ASK)


def assert_same(one: bup.Result, other: bup.Result) -> None:
    """Everything but how long it took, which differs between two trainings."""
    assert one.spec == other.spec and one.history == other.history
    assert (one.kept_epoch, dict(one.constants)) == (other.kept_epoch, dict(other.constants))
    ours, theirs = (r.pack().arrays for r in (one, other))
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        assert array.dtype == theirs[name].dtype and np.array_equal(array, theirs[name]), name


@pytest.mark.parametrize("method", ["bup", "gcn", "ensemble", "energy"])
def test_a_result_comes_back_from_its_file(graph, tmp_path, method):
    made = bup.fit(graph, method, **ASK)
    made.save(tmp_path / "run.bup")
    for again in (
        bup.Result.load(tmp_path / "run.bup"),
        bup.Result.load(str(tmp_path / "run.bup"), graph),
        bup.Result.load(tmp_path / "run.bup", NAME),
    ):
        assert_same(again, made)
        assert again.seconds == made.seconds and again.get_graph().digest == graph.digest
        assert bup.evaluate(again, graph) == bup.evaluate(made, graph)


def test_a_graph_that_only_one_has_is_given(graph, tmp_path):
    mine = dataclasses.replace(graph, name="mine")
    made = bup.fit(mine, "gcn", **ASK)
    made.save(tmp_path / "run.bup")
    assert_same(bup.Result.load(tmp_path / "run.bup", mine), made)
    with pytest.raises(bup.BupError, match=r"'mine', which cannot be loaded .* Result\.load"):
        bup.Result.load(tmp_path / "run.bup")
    with pytest.raises(bup.BupError, match="of another graph"):
        bup.Result.load(tmp_path / "run.bup", f"{NAME},seed=4")


def damaged(whole: bytes, result: bup.Result, graph: bup.Graph, how: str) -> bytes:
    packed = result.pack()
    arrays, values = dict(packed.arrays), dict(packed.values)
    run = fitting.run_of(result.spec, graph)
    match how:
        case "truncated":
            return whole[:-9]
        case "flipped":
            return whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:]
        case "empty":
            return b""
        case "foreign":
            return files.pack(arrays, {"what": "else"})
        case "shape":
            arrays["probs"] = arrays["probs"][:-1]
        case "sum":
            arrays["probs"] = arrays["probs"] * 2
        case "missing":
            del arrays["train"]
        case "settings":
            spec = dataclasses.replace(result.spec, settings=(("lam", 3.0),))
            run = dataclasses.replace(run, spec=spec)
        case "method":
            run = dataclasses.replace(run, spec=dataclasses.replace(result.spec, method="luck"))
    return pack_result(run, arrays, values)


@pytest.mark.parametrize(
    "how",
    ["truncated", "flipped", "empty", "foreign", "shape", "sum", "missing", "settings", "method"],
)
def test_a_damaged_file_is_refused_and_stays(graph, result, tmp_path, how):
    path = tmp_path / "run.bup"
    result.save(path)
    content = damaged(path.read_bytes(), result, graph, how)
    path.write_bytes(content)
    with pytest.raises(bup.BupError):
        bup.Result.load(path, graph)
    assert path.read_bytes() == content


def test_places_that_cannot_be_read_or_written_are_named(result, tmp_path):
    with pytest.raises(bup.BupError, match=r"gone\.bup cannot be read"):
        bup.Result.load(tmp_path / "gone.bup")
    with pytest.raises(bup.BupError, match="cannot be written"):
        result.save(tmp_path)


def test_by_default_nothing_is_read_or_written(graph, tmp_path):
    bup.fit(graph, **ASK)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("kind", [bool, str, Path, bup.Store])
def test_the_store_by_choice_gives_the_same_result(graph, result, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(fitting, "_last", None)  # nothing of this training is remembered
    where = True if kind is bool else kind(tmp_path / "mine")
    root = Path(bup.Store().root) if kind is bool else tmp_path / "mine"
    epochs: list[object] = []
    trained = bup.fit(graph, **ASK, store=where, on_epoch=epochs.append)
    assert epochs and len(list(root.glob("*/result.bup"))) == 1
    epochs.clear()
    stored = bup.fit(graph, **ASK, store=where, on_epoch=epochs.append)
    assert not epochs and stored.seconds == trained.seconds
    assert_same(trained, result)
    assert_same(stored, result)


def test_only_missing_seeds_are_trained(graph, tmp_path):
    plain = bup.fit_many(graph, "gcn", seeds=range(4), **ASK)
    bup.fit_many(graph, "gcn", seeds=[1, 3], store=tmp_path, **ASK)
    seen: list[bup.Progress] = []
    several = bup.fit_many(
        graph, "gcn", seeds=range(4), store=tmp_path, on_epoch=seen.append, **ASK
    )
    assert seen and len(several) == 4
    for one, other in zip(several, plain, strict=True):
        assert_same(one, other)
    seen.clear()
    bup.fit_many(graph, "gcn", seeds=range(4), store=tmp_path, on_epoch=seen.append, **ASK)
    assert not seen


def test_a_model_of_ones_own_is_put_into_the_store(graph):
    def even(graph, split):
        return np.full((graph.num_nodes, len(split.classes)), 1 / len(split.classes))

    made = bup.fit(graph, model=even, per_class=5, store=True)
    assert_same(fitting.load(made.spec, graph), made)


def test_a_store_is_a_store(graph):
    for given in (3, ""):
        with pytest.raises(bup.BupError, match="store is True"):
            bup.fit(graph, **ASK, store=given)
