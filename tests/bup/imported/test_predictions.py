"""Predictions and models of one's own: read with care, then runs like any other."""

import copy
import dataclasses
import io
import json
from pathlib import Path
from urllib.parse import quote_plus

import numpy as np
import pandas as pd
import pytest
import streamlit
import torch
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest
from torch import nn
from torch_geometric.nn import GATConv, GCNConv

import bup
from bup.cli import app
from bup.datasets.uploads import store
from bup.imported import predictions
from bup.io.csv import csv_text
from bup.training import fitting
from bup.training.torch_model import run_of_predictions
from dashboard.ui import columns

NAME = "synthetic:nodes=200,classes=3,words=60,mean_degree=6"
SPLIT = {"per_class": 5, "validation": 40, "test": None}


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))


@pytest.fixture(scope="module")
def graph() -> bup.Graph:
    return bup.load_graph(NAME)


@pytest.fixture(scope="module")
def theirs(graph) -> bup.Result:
    return bup.fit(graph, "gcn", **SPLIT)


def as_csv(graph, probs, columns=None, order=None, **more) -> bytes:
    names = columns or graph.class_names
    rows = [",".join(["id", *names, *more])]
    for i in range(graph.num_nodes) if order is None else order:
        cells = [
            graph.node_id(i),
            *(f"{p:.8f}" for p in probs[i]),
            *(str(v[i]) for v in more.values()),
        ]
        rows.append(",".join(cells))
    return "\n".join(rows).encode()


def as_npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def brought(graph, name, content, **settings) -> bup.Result:
    spec = run_of_predictions(graph, predictions.read(graph, name, content), 5, **settings)
    (result,) = fitting.fit_specs(graph, [spec])
    return result


def test_what_our_model_says_judges_the_same_when_it_comes_back(graph, theirs):
    shuffled = np.random.RandomState(0).permutation(graph.num_nodes)
    for name, content in (
        ("probs.csv", as_csv(graph, theirs.probs, order=shuffled)),
        ("probs.csv", as_csv(graph, theirs.probs, columns=["0", "1", "2"])),
        ("probs.npz", as_npz(probs=theirs.probs)),
        ("probs.npz", as_npz(probs=theirs.probs[shuffled], ids=shuffled)),
    ):
        result = brought(graph, name, content)
        assert result.spec.method == "own" and result.spec.per_class == 5
        np.testing.assert_allclose(result.probs, theirs.probs, atol=1e-6)
        report, expected = bup.evaluate(result, graph), bup.evaluate(theirs, graph)
        assert report["test"] == pytest.approx(expected["test"], abs=1e-4)
        fitting.save(result, graph)
        assert fitting.load(result.spec, graph) is not None


def test_the_key_follows_from_the_content(graph, theirs):
    one, two = (predictions.read(graph, "p.csv", as_csv(graph, theirs.probs)) for _ in range(2))
    assert one.save() == two.save()
    turned = predictions.read(graph, "p.csv", as_csv(graph, theirs.probs[:, ::-1]))
    assert turned.save() != one.save()


def test_scores_split_and_calibration_come_along(graph, theirs):
    parts = np.full(graph.num_nodes, "", dtype=object)
    parts[:30], parts[30:90], parts[90:150] = "train", "val", "test"
    score = np.arange(graph.num_nodes) / 7
    content = as_csv(graph, theirs.probs, score_mine=score, split=parts)
    result = brought(graph, "p.csv", content, calibrate="temperature")
    assert result.split.train.tolist() == list(range(30))
    assert result.split.test.tolist() == list(range(90, 150))
    np.testing.assert_allclose(result.scores()["score_mine"], score, rtol=1e-5)
    assert result.constants["temperature"] > 0
    assert not np.allclose(result.probs, theirs.probs)


def test_scores_keep_their_names(graph, theirs):
    table = pd.read_csv(io.BytesIO(as_csv(graph, theirs.probs)))
    drawn = np.random.RandomState(0).random_sample((2, graph.num_nodes))
    table["score mutual information"], table["score_<b>2[x](y)"] = drawn
    result = brought(graph, "p.csv", table.to_csv(index=False).encode())
    names = ["score mutual information", "score_ b 2 x (y)"]
    assert set(result.own_scores) == set(names)
    assert set(names) <= set(bup.evaluate(result, graph)["errors"])
    offered = columns.score_columns(result.table())
    assert [offered[n].label for n in names] == ["Mutual information", "B 2 x (y)"]
    assert columns.score_title(names[0]) == "Mutual information"
    old = predictions.Predictions(
        graph.digest, (0, 1, 2), theirs.probs, scores={"own_score_1": drawn[0]}
    )
    settings = (("predictions", old.save()),)
    (stored,) = fitting.fit_specs(graph, [dataclasses.replace(result.spec, settings=settings)])
    assert columns.score_columns(stored.table())["own_score_1"].label == "Your score 1"
    twice = table.assign(**{"score mutual*information": 0.5})
    with pytest.raises(bup.BupError, match="two scores are called 'score mutual information'"):
        predictions.read(graph, "p.csv", twice.to_csv(index=False).encode())


def test_a_misnamed_class_is_named(graph, theirs):
    misnamed = as_csv(graph, theirs.probs, columns=["Topic A", "Topic B", "Tropic C"])
    with pytest.raises(bup.BupError, match="no column for 'Topic C', and 'Tropic C' is no class"):
        predictions.read(graph, "p.csv", misnamed)
    noted = as_csv(graph, theirs.probs, title=["a"] * graph.num_nodes)
    assert predictions.read(graph, "p.csv", noted).classes == (0, 1, 2)


def test_a_class_without_a_column_was_never_shown(graph, theirs):
    two = theirs.probs[:, :2] / theirs.probs[:, :2].sum(axis=1, keepdims=True)
    result = brought(graph, "p.csv", as_csv(graph, two, graph.class_names[:2]))
    assert result.spec.left_out == (2,) and "ood" in bup.evaluate(result, graph)
    with pytest.raises(bup.BupError, match="never shown, choose Topic C"):
        bup.fit(graph, "own", **SPLIT, predictions=dict(result.spec.settings)["predictions"])


def test_messages_get_intervals_and_likelihoods(graph):
    run = bup.fit(graph, "bup", **SPLIT, calibrate="none")
    content = as_npz(mean=run.mean, var=run.var)
    result = brought(graph, "m.npz", content)
    assert result.spec.method == "own_messages"
    np.testing.assert_allclose(result.probs, run.probs, atol=1e-5)
    assert "message_std" in result.scores() and "structure" in bup.evaluate(result, graph)
    method = bup.METHODS["own_messages"]
    low, high = method.explains.probabilities(result, result.mean[:3], result.var[:3], 0.9)[1:]
    assert (low < high).all()


UNSOUND = np.full((200, 3), 1 / 3)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("p.csv", lambda t: t.replace("id,", "node,"), "no column 'id'"),
        (
            "p.csv",
            lambda t: t.replace("\n3,", "\nnobody,"),
            "row 4: the graph has no node 'nobody'",
        ),
        ("p.csv", lambda t: t.replace("\n3,", "\n2,"), "row 4: '2' is already on row 3"),
        ("p.csv", lambda t: t[: t.rindex("\n")], "no row for 1 of 200 nodes: '199'"),
        ("p.csv", lambda t: t.replace("0.33333333", "oops", 1), "row 1.*'oops' is no finite"),
        ("p.csv", lambda t: t.replace("0.33333333", "0.9", 1), "row of '0' does not sum to 1"),
        ("p.csv", lambda t: t.replace("0.33333333,0.33333333", "-0.5,1.17", 1), "negative"),
        ("p.csv", lambda t: t.replace("0.33333333", "nan", 1), "'nan' is no finite"),
        ("p.csv", lambda t: t.replace("Topic", "Thema"), "columns for 0 classes"),
        ("p.pkl", lambda t: t, "csv or npz"),
    ],
)
def test_bad_rows_are_named(graph, name, change, message):
    text = as_csv(graph, UNSOUND).decode()
    with pytest.raises(bup.BupError, match=message):
        predictions.read(graph, name, change(text).encode())


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"probs": UNSOUND[:5]}, "5 rows where the graph has 200"),
        ({"probs": UNSOUND[:, :2]}, r"\(200, 3\), got \(200, 2\)"),
        ({"probs": np.array([[None]], dtype=object)}, "dtype 'object'"),
        ({"probs": UNSOUND.astype(int)}, "dtype 'int64'"),
        ({"probs": np.float64(1)}, r"'probs' has .* shape '\(\)': give 2-dimensional"),
        ({"mean": np.float64(1), "var": UNSOUND}, "'mean' has"),
        ({"probs": UNSOUND, "score": np.full(200, "much")}, "'score' has dtype '<U4'"),
        ({"probs": UNSOUND, "score": np.float64(1)}, "'score' has .* 1-dimensional"),
        ({"probs": UNSOUND, "score": np.arange(5)}, "'score' has 5 rows"),
        ({"probs": UNSOUND, "score": np.full(200, 1e300)}, "finite number for each"),
        ({"probs": UNSOUND, "ids": np.arange(200).reshape(2, 100)}, "'ids' has"),
        ({"probs": UNSOUND[:5], "ids": np.arange(200)}, "'probs' has 5 rows"),
        ({"probs": UNSOUND, "split": np.array(["test"])}, "'split' has 1 rows"),
        ({"probs": UNSOUND, "split": np.arange(200)}, "'split' has dtype"),
        ({"probs": UNSOUND, **{f"score{k}": np.ones(200) for k in range(4)}}, "at most 3"),
        ({"other": UNSOUND}, "give 'probs'"),
        ({"mean": UNSOUND, "var": UNSOUND * 0}, "variance of 0"),
        ({"mean": UNSOUND, "var": UNSOUND * 1e-300}, "variance of 0"),
        ({"mean": UNSOUND * 1e300, "var": UNSOUND}, "not finite"),
        ({"probs": UNSOUND, "score": np.full(200, np.inf)}, "finite number for each"),
        ({"probs": UNSOUND, "split": np.full(200, "exam")}, "'exam' is no part"),
        ({"probs": UNSOUND, "split": np.full(200, "test")}, "no train node"),
        ({"probs": UNSOUND, "classes": np.array(["Topic A", "x", "y"])}, "columns for 1 classes"),
    ],
)
def test_unsound_arrays_are_refused(graph, arrays, message):
    with pytest.raises(bup.BupError, match=message):
        predictions.read(graph, "p.npz", as_npz(**arrays))


def test_numpy_text_of_either_kind_names_nodes_and_parts(graph):
    parts = np.array(["train", "validation", "test", ""] * 50)
    ids = np.array([graph.node_id(i) for i in range(200)])
    plain = predictions.read(graph, "p.npz", as_npz(probs=UNSOUND, ids=ids, split=parts))
    raw = as_npz(probs=UNSOUND, ids=ids.astype("S"), split=parts.astype("S"))
    assert predictions.read(graph, "p.npz", raw).key == plain.key


def test_ids_come_back_as_our_own_tables_write_them(path_graph):
    odd = dataclasses.replace(path_graph, ids=("=a", "'=a", "-b", "c", "d"))
    probs = np.tile([0.25, 0.75], (5, 1)) + np.arange(5)[:, None] * np.array([0.01, -0.01])
    frame = pd.DataFrame(probs, columns=odd.class_names)
    frame.insert(0, "id", odd.ids)
    plain = predictions.read(odd, "p.csv", frame.to_csv(index=False).encode())
    assert plain.key == predictions.check(odd, probs).key
    same = dataclasses.replace(odd, ids=("=a", "a", "-b", "c", "d"))
    ours = csv_text(frame.assign(id=same.ids)).encode()
    assert b"'=a" in ours
    assert predictions.read(same, "p.csv", ours).key == predictions.check(same, probs).key


def test_predictions_stay_with_their_graph(graph, theirs):
    key = predictions.check(graph, theirs.probs).save()
    other = bup.load_graph(NAME + ",seed=1")
    with pytest.raises(bup.BupError, match="another graph"):
        bup.fit(other, "own", **SPLIT, predictions=key)
    with pytest.raises(bup.BupError, match="not here"):
        bup.fit(graph, "own", **SPLIT, predictions="a" * 20)
    with pytest.raises(bup.BupError, match="which predictions"):
        bup.fit(graph, "own", **SPLIT)


def test_the_command_reports_and_keeps(graph, theirs, tmp_path):
    path = tmp_path / "gat.csv"
    path.write_bytes(as_csv(graph, theirs.probs))
    done = CliRunner().invoke(app, ["import", str(path), "--graph", NAME, "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.output)
    spec = bup.Spec.from_dict(report["spec"])
    assert fitting.load(spec, graph) is not None and 0 < report["test"]["accuracy"] <= 1
    read = CliRunner().invoke(app, ["import", str(path), "--graph", NAME])
    key = dict(spec.settings)["predictions"]
    assert f"http://localhost:8501/?graph={quote_plus(NAME)}&method=Own" in read.output
    assert f"own.predictions={key}" in read.output
    missing = CliRunner().invoke(app, ["import", str(tmp_path / "none.csv"), "--graph", NAME])
    assert isinstance(missing.exception, bup.BupError) and "cannot be read" in str(
        missing.exception
    )


class Gat(nn.Module):
    def __init__(self, inputs: int, classes: int) -> None:
        super().__init__()
        self.first, self.second = GATConv(inputs, 8, heads=2), GATConv(16, classes)

    def forward(self, x, edge_index):
        hidden = nn.functional.dropout(self.first(x, edge_index).relu(), 0.5, self.training)
        return self.second(hidden, edge_index)


class Weighted(Gat):
    def forward(self, x, edge_index, edge_weight):
        return super().forward(x, edge_index)


class Gaussian(nn.Module):
    def __init__(self, inputs: int, classes: int) -> None:
        super().__init__()
        self.mean, self.var = (GCNConv(inputs, classes) for _ in range(2))
        self.norm = nn.BatchNorm1d(inputs)

    def forward(self, x, edge_index):
        x = self.norm(x)
        return self.mean(x, edge_index), nn.functional.softplus(self.var(x, edge_index)) + 0.01


def test_our_loop_trains_a_module_of_pyg(graph):
    state = torch.random.get_rng_state()
    torch.manual_seed(0)
    model = Gat(graph.num_features, 3)
    epochs = []
    before = torch.random.get_rng_state()
    result = bup.fit(graph, model=model, **SPLIT, seed=1, epochs=60, on_epoch=epochs.append)
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.random.set_rng_state(state)
    assert len(epochs) == len(result.history["loss"]) <= 60
    assert bup.evaluate(result, graph)["test"]["accuracy"] > 0.6
    assert result.spec.method == "own" and result.spec.seed == 1
    expected = bup.make_split(graph, 5, 40, None, seed=1)
    assert result.split.test.tolist() == expected.test.tolist()
    np.testing.assert_allclose(answers(result, graph), result.probs, atol=1e-5)


def answers(result, graph) -> np.ndarray:
    data = graph.to_pyg()
    with torch.no_grad():
        return result.model(data.x, data.edge_index).softmax(-1).numpy()


class Normed(nn.Module):
    """With running statistics that are drawn into the answer at other epochs than the kept one."""

    def __init__(self, inputs: int, classes: int) -> None:
        super().__init__()
        self.first, self.second = GCNConv(inputs, 16), GCNConv(16, classes)
        self.norm = nn.BatchNorm1d(16, momentum=0.7)
        self.register_buffer("steps", torch.zeros(1))

    def forward(self, x, edge_index):
        if self.training:
            self.steps = self.steps + 1  # not in place
        hidden = self.norm(self.first(x, edge_index)).relu()
        return self.second(nn.functional.dropout(hidden, 0.6, self.training), edge_index)


@pytest.fixture
def normed(graph) -> bup.Result:
    torch.manual_seed(0)
    model = Normed(graph.num_features, 3)
    return bup.fit(graph, model=model, **SPLIT, epochs=40, learning_rate=0.1)


def test_a_model_is_judged_in_the_state_of_its_kept_epoch(graph, normed):
    assert normed.kept_epoch < len(normed.history["loss"])
    nodes = normed.split.validation
    nll = bup.metrics.negative_log_likelihood(normed.probs[nodes], graph.labels[nodes])
    assert nll == pytest.approx(normed.history["validation_nll"][normed.kept_epoch - 1], abs=1e-4)
    np.testing.assert_allclose(answers(normed, graph), normed.probs, atol=1e-5)
    assert normed.model.steps.item() == normed.model.norm.num_batches_tracked == normed.kept_epoch


def test_the_module_that_is_given_stays_as_it_is(graph):
    torch.manual_seed(0)
    model = Normed(graph.num_features, 3)
    before = copy.deepcopy(model.state_dict())
    one, two = (bup.fit(graph, model=model, **SPLIT, epochs=5) for _ in range(2))
    assert np.array_equal(one.probs, two.probs) and model.training
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert not np.allclose(one.probs, bup.fit(graph, model=one.model, **SPLIT, epochs=5).probs)


def test_what_is_frozen_stays_frozen(graph):
    model = Gat(graph.num_features, 3)
    model.first.requires_grad_(False)
    trained = bup.fit(graph, model=model, **SPLIT, epochs=3).model
    assert torch.equal(trained.first.att_src, model.first.att_src)
    assert not torch.equal(trained.second.att_src, model.second.att_src)


class OfData(nn.Module):
    """Waits for its first input, and writes into the data as many tutorials do."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.first, self.second = GCNConv(-1, 16), nn.LazyLinear(classes)
        self.end = lambda answer: answer

    def forward(self, data):
        assert data.y is None
        data.x = self.first(data.x, data.edge_index).relu()
        return self.end(self.second(data.x))


def test_lazy_modules_that_take_pygs_data(graph):
    model = OfData(3)
    one, two = (bup.fit(graph, model=model, **SPLIT, epochs=30) for _ in range(2))
    assert np.array_equal(one.probs, two.probs)
    assert bup.evaluate(one, graph)["test"]["accuracy"] > 0.6
    assert bup.fit(graph, model=model, **SPLIT, seed=1, epochs=2).spec.seed == 1


def test_words_alone_are_given_to_who_asks_for_them(graph):
    model = nn.Sequential(nn.Linear(graph.num_features, 8), nn.ReLU(), nn.Linear(8, 3))
    assert bup.fit(graph, model=model, **SPLIT, epochs=3).probs.shape == (200, 3)


def test_a_softmax_at_the_end_is_noticed_and_its_logarithm_is_right(graph):
    probs = {}
    for name in ("identity", "log_softmax", "softmax"):
        model = OfData(3)
        model.end = lambda answer, name=name: (
            answer if name == "identity" else getattr(answer, name)(dim=-1)
        )
        if name == "softmax":
            with pytest.raises(bup.BupError, match="leave it out of the model"):
                bup.fit(graph, model=model, **SPLIT, epochs=5)
        else:
            probs[name] = bup.fit(graph, model=model, **SPLIT, epochs=5).probs
    np.testing.assert_allclose(probs["identity"], probs["log_softmax"], atol=1e-4)


def test_the_same_seed_trains_the_same_module(graph):
    probs = []
    for _ in range(2):
        torch.manual_seed(3)
        model = Gat(graph.num_features, 2)
        probs.append(bup.fit(graph, model=model, **SPLIT, epochs=5, left_out=[1]).probs)
    assert np.array_equal(*probs) and probs[0].shape == (200, 2)


def test_mean_and_variance_get_intervals(graph):
    torch.manual_seed(0)
    result = bup.fit(graph, model=Gaussian(graph.num_features, 3), **SPLIT, epochs=80)
    assert result.spec.method == "own_messages" and result.var is not None
    assert bup.evaluate(result, graph)["test"]["accuracy"] > 0.6
    wider = bup.fit(graph, model=lambda g, s: (result.mean, result.var), **SPLIT, prediction="erf")
    assert not np.allclose(wider.probs, result.probs)


def test_a_function_trains_itself(graph):
    seen = []

    def fit(given, split):
        seen.append((given, split))
        share = np.full((given.num_nodes, len(split.classes)), 0.1)
        share[np.arange(given.num_nodes), split.targets(given.labels).clip(0)] += 0.7
        return torch.from_numpy(share)

    result = bup.fit(graph, model=fit, **SPLIT)
    assert seen[0][0] is graph and seen[0][1].train.tolist() == result.split.train.tolist()
    assert bup.evaluate(result, graph)["test"]["accuracy"] == 1


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda g, s: np.ones((3, 3)), "a row per node"),
        (lambda g, s: np.ones((200, 3)), "does not sum to 1"),
        (Gat(60, 5), r"\[200, 3\]"),
        (nn.Dropout(), "no parameters"),
        ("gcn", "or a function, got str"),
        (Gat, "not its class.*got the class Gat"),
        (Weighted(60, 3), r"with \(x\), and its forward asks for"),
    ],
)
def test_models_that_do_not_fit_are_explained(graph, model, message):
    with pytest.raises(bup.BupError, match=message):
        bup.fit(graph, model=model, **SPLIT)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "epochs must .* 1"),
        ({"patience": 0}, "patience must .* 1"),
        ({"epochs": "many"}, "epochs must be a whole number, got 'many'"),
        ({"learning_rate": -0.1}, "learning_rate must"),
    ],
)
def test_how_long_a_model_trains_is_checked(graph, settings, message):
    model = torch.nn.Linear(graph.num_features, 3)
    with pytest.raises(bup.BupError, match=message):
        bup.fit(graph, model=model, **SPLIT, **settings)
    assert bup.fit(graph, model=model, **SPLIT, epochs=np.int64(1), learning_rate=np.float32(0.1))


def test_nothing_is_left_behind_but_the_space(graph, theirs, tmp_path):
    predictions.check(graph, theirs.probs).save()
    kept = [path for path in Path(tmp_path).rglob("*") if path.is_file()]
    assert sorted(path.parent.name for path in kept if path.name != ".lock") == ["predictions"]


def test_deleting_takes_the_runs_along(graph, theirs):
    one = brought(graph, "p.csv", as_csv(graph, theirs.probs))
    two = brought(graph, "p.csv", as_csv(graph, theirs.probs[:, ::-1]))
    for result in (one, two):
        fitting.save(result, graph)
    predictions.delete(dict(one.spec.settings)["predictions"])
    assert fitting.load(one.spec, graph) is None and fitting.load(two.spec, graph) is not None
    with pytest.raises(bup.BupError, match="not here"):
        fitting.fit_specs(graph, [one.spec])


def predictions_page(name: str, files: list[tuple[str, bytes]]) -> None:
    from types import SimpleNamespace

    import streamlit as st

    from dashboard.network import visitor
    from dashboard.session import navigation
    from dashboard.views.upload import page

    dropped = [SimpleNamespace(name=name, getvalue=lambda data=data: data) for name, data in files]
    st.file_uploader = lambda *args, **options: dropped[0] if dropped else None
    visitor.graphs()[:] = [name]
    navigation.set_pages({})
    st.session_state.setdefault("bring", "predictions")
    page.page()


@pytest.mark.parametrize("change", [lambda t: t, lambda t: t.replace(b"id,", b"who,")])
def test_the_page_judges_them_or_says_what_is_wrong(graph, theirs, change, monkeypatch):
    monkeypatch.setattr(streamlit, "file_uploader", streamlit.file_uploader)  # put back afterwards
    files = [("gat.csv", change(as_csv(graph, theirs.probs)))]
    page = AppTest.from_function(
        predictions_page, kwargs={"name": NAME, "files": files}, default_timeout=60
    ).run()
    assert not page.exception
    if change(b"id,") != b"id,":
        assert "no column 'id'" in page.error[0].value.replace("\\", "") and not page.metric
        return
    facts = {metric.label: metric.value for metric in page.metric}
    assert not page.error and facts["Classes"] == "3 of 3" and facts["Split"] == "of this app"
    folder = predictions.STORE.path(store.new_token()).parent
    assert not list(folder.glob("*.bup")), "nobody has opened them yet"
    page.button("own_run_open").click().run()
    assert len(list(folder.glob("*.bup"))) == 1
