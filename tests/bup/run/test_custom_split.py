"""A split of one's own: masks, lists of nodes, a Split or a file, for every method here."""

import json
import shlex
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pandas as pd
import pytest
import torch
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import bup
from bup.cli import app as command
from bup.graph import PARTS
from bup.methods import command_line
from bup.run import custom_split
from bup.training import fitting

NAME = "synthetic:nodes=120,classes=3,words=40,mean_degree=5"
QUICK = {"epochs": 5}


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))


@pytest.fixture(scope="module")
def graph() -> bup.Graph:
    return bup.load_graph(NAME)


@pytest.fixture(scope="module")
def nodes(graph) -> list[np.ndarray]:
    drawn = np.random.RandomState(1).permutation(graph.num_nodes)
    return [drawn[:40], drawn[40:60], drawn[60:110]]


def masks_of(graph, nodes) -> list[np.ndarray]:
    return [np.isin(np.arange(graph.num_nodes), part) for part in nodes]


def test_all_forms_of_a_split_are_the_same_run(graph, nodes):
    masks = masks_of(graph, nodes)
    forms = [
        bup.Split(*nodes),
        bup.Split(*masks),
        tuple(masks),
        [part.tolist() for part in nodes],
        dict(zip(PARTS, nodes, strict=True)),
        {"train_mask": masks[0], "val_mask": masks[1], "test_mask": masks[2]},
        tuple(map(torch.from_numpy, masks)),
    ]
    results = [bup.fit(graph, "gcn", split=form, **QUICK) for form in forms]
    assert len({result.spec for result in results}) == 1
    for result in results:
        assert np.array_equal(result.probs, results[0].probs)
        for name, part in zip(PARTS, nodes, strict=True):
            assert getattr(result.split, name).tolist() == sorted(part.tolist())
    other = bup.fit(graph, "gcn", split=(nodes[0][1:], *nodes[1:]), **QUICK)
    assert other.spec != results[0].spec


@given(st.lists(st.integers(-1, 2), min_size=12, max_size=12))
def test_a_split_is_read_as_it_was_given(places):
    features, edges = np.ones((12, 2)), np.array([[0], [1]])
    graph = bup.Graph.from_arrays(features, edges, np.arange(12) % 2)
    given = [[i for i, place in enumerate(places) if place == k] for k in range(3)]
    if all(given):
        assert custom_split.parts_of(graph, given).tolist() == places
    else:
        with pytest.raises(bup.BupError, match="empty"):
            custom_split.parts_of(graph, given)


def test_left_out_classes_are_neither_learned_nor_validated(graph, nodes):
    found = bup.fit(graph, "gcn", split=nodes, left_out=graph.class_names[2], **QUICK).split
    assert found.left_out == (2,) and not found.is_ood(graph.labels[found.train]).any()
    assert not found.is_ood(graph.labels[found.validation]).any()
    assert found.test.tolist() == sorted(nodes[2].tolist())
    drawn = bup.make_split(graph, 5, left_out=[1])
    again = bup.fit(graph, "gcn", split=drawn, **QUICK).split
    assert again.left_out == (1,) and set(again.train) == set(drawn.train)


def replaced(nodes, place, part):
    return [part if k == place else nodes[k] for k in range(3)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda n: n[:2], "three in a tuple"),
        (lambda n: {"train": n[0], "test": n[2]}, "got train, test"),
        (lambda n: replaced(n, 0, n[0].astype(float)), "train part .* got float64"),
        (lambda n: replaced(n, 1, 5), "validation part .* shape"),
        (lambda n: replaced(n, 1, []), "validation part of the split is empty"),
        (lambda n: replaced(n, 2, np.zeros(120, bool)), "test part of the split is empty"),
        (lambda n: replaced(n, 0, np.ones(119, bool)), "119 entries"),
        (lambda n: replaced(n, 0, [*n[0], 120]), "has node 120, .* nodes 0 to 119"),
        (lambda n: replaced(n, 0, [*n[0], -1]), "has node -1"),
        (lambda n: replaced(n, 0, [*n[0], n[0][0]]), "more than once"),
        (lambda n: replaced(n, 2, [*n[2], *n[0][:3]]), "train part and .* test .* 2 others"),
        (lambda n: replaced(n, 0, n[0][:1]), "has no training node in this split"),
        (lambda n: "graph", "no split came with"),
        (lambda n: "own:" + "a" * 20, "is not here"),
        (lambda n: "half", "a split is public"),
    ],
)
def test_a_split_that_cannot_be_used_is_explained(graph, nodes, change, said):
    with pytest.raises(bup.BupError, match=said):
        bup.fit(graph, "gcn", split=change(nodes), **QUICK)


def test_nodes_without_a_class_take_no_part():
    labels = np.array([0, 1, 0, 1, 0, 1, -1])
    graph = bup.Graph.from_arrays(np.eye(7), np.array([[0, 1], [1, 2]]), labels)
    with pytest.raises(bup.BupError, match="1 nodes of the test part have no class, such as '6'"):
        bup.fit(graph, "gcn", split=([0, 1], [2, 3], [4, 5, 6]))


def test_a_split_and_numbers_of_nodes_are_not_given_together(graph, nodes):
    for numbers in ({"per_class": 5}, {"validation": 10}, {"test": None}):
        with pytest.raises(bup.BupError, match="or the split"):
            bup.fit(graph, "gcn", split=nodes, **numbers)


def test_a_split_is_of_one_graph(graph, nodes):
    spec = bup.fit(graph, "gcn", split=nodes, **QUICK).spec
    other = bup.load_graph(f"{NAME},seed=5")
    with pytest.raises(bup.BupError, match="another graph"):
        bup.fit(other, "gcn", split=spec.split, **QUICK)


def test_a_stored_run_keeps_its_split(graph, nodes, tmp_path):
    result = bup.fit(graph, "gcn", split=nodes, **QUICK)
    fitting.save(result, graph)
    again = fitting.load(result.spec, graph)
    assert again is not None and again.split.train.tolist() == result.split.train.tolist()
    assert bup.Spec.from_dict(json.loads(result.spec.to_json())) == result.spec


# What PyTorch Geometric brings.


def with_masks(graph, nodes):
    data = graph.to_pyg()
    for name, mask in zip(("train_mask", "val_mask", "test_mask"), masks_of(graph, nodes)):  # noqa: B905
        data[name] = torch.from_numpy(mask)
    return data


def test_masks_of_pyg_are_the_graphs_split(graph, nodes):
    brought = bup.Graph.from_pyg(with_masks(graph, nodes))
    assert any("40 train, 20 validation, 50 test" in note for note in brought.notes)
    by_itself = bup.fit(brought, "gcn", **QUICK)
    assert by_itself.split.train.tolist() == sorted(nodes[0].tolist())
    assert by_itself.spec == bup.fit(brought, "gcn", split="graph", **QUICK).spec
    assert by_itself.spec == bup.fit(brought, "gcn", split=nodes, **QUICK).spec
    drawn = bup.fit(brought, "gcn", per_class=5, **QUICK)
    assert drawn.spec.split == "" and len(drawn.split.train) == 15
    back = brought.to_pyg()
    assert np.array_equal(back.val_mask.numpy(), masks_of(graph, nodes)[1])


def test_what_is_not_taken_of_masks_is_said(graph, nodes):
    several = with_masks(graph, nodes)
    for name in ("train_mask", "val_mask", "test_mask"):
        several[name] = torch.stack([several[name], ~several[name]], dim=1)
    brought = bup.Graph.from_pyg(several)
    assert any("2 splits: the first" in note for note in brought.notes)
    assert (brought.parts == 0).sum() == 40
    lacking = with_masks(graph, nodes)
    del lacking.val_mask
    brought = bup.Graph.from_pyg(lacking)
    assert brought.parts is None and any("no val_mask" in note for note in brought.notes)
    overlapping = with_masks(graph, nodes)
    overlapping.test_mask |= overlapping.train_mask
    with pytest.raises(bup.BupError, match="test_mask and another mask overlap"):
        bup.Graph.from_pyg(overlapping)


def test_the_split_of_a_graph_is_kept_with_it(graph, nodes):
    from bup.datasets import uploads

    brought = bup.Graph.from_pyg(with_masks(graph, nodes))
    kept = bup.load_graph(uploads.save(brought))
    assert np.array_equal(kept.parts, brought.parts) and kept.digest == brought.digest


# On the command line.


def said(*arguments: str) -> dict:
    done = CliRunner().invoke(command, [*arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_the_command_line_takes_a_file(graph, nodes, tmp_path):
    table = pd.DataFrame({"id": range(120), "split": ""})
    for name, part in zip(PARTS, nodes, strict=True):
        table.loc[part, "split"] = name
    table.to_csv(tmp_path / "split.csv", index=False)
    np.savez(tmp_path / "split.npz", train=nodes[0], val=nodes[1], test=nodes[2])
    wanted = bup.fit(graph, "gcn", split=nodes, **QUICK).spec.as_dict()
    ask = ("fit", "--graph", NAME, "--method", "gcn", "--set", "epochs=5")
    for file in ("split.csv", "split.npz"):
        assert said(*ask, "--split", str(tmp_path / file))["spec"] == wanted
    printed = shlex.split(command_line(bup.Spec.from_dict(wanted)))[1:]
    assert said(*printed)["stored"]


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ("id,part\n1,train\n", "'id' and 'split'"),
        ("id,split\n1,train\n1,test\n", "'1' twice"),
        ("id,split\n999,train\n", "no node '999'"),
        ("id,split\n1,exam\n", "no part of a split"),
    ],
)
def test_a_file_that_is_no_split_is_explained(graph, rows, wrong):
    with pytest.raises(bup.BupError, match=wrong):
        custom_split.read(graph, "split.csv", rows.encode())
    with pytest.raises(bup.BupError, match="cannot be read"):
        custom_split.read(graph, "split.npz", b"nothing")


def test_the_command_line_knows_classes_by_name_and_number(graph):
    ask = ("fit", "--graph", NAME, "--method", "gcn", "--per-class", "5", "--set", "epochs=5")
    for text in ("1", graph.class_names[1]):
        assert said(*ask, "--left-out", text)["spec"]["left_out"] == [1]


def test_small_graphs_need_no_numbers(graph):
    result = bup.fit(graph, "gcn", per_class=5, **QUICK)
    assert (result.spec.validation, result.spec.test) == (24, None)
    ask = ("fit", "--graph", NAME, "--method", "gcn", "--per-class", "5", "--set", "epochs=5")
    assert said(*ask)["spec"] == result.spec.as_dict()


def test_no_split_is_none(graph):
    assert bup.fit(graph, "gcn", per_class=5, split=None, **QUICK).spec.split == ""


def test_a_run_with_a_split_has_an_address(graph, nodes):
    result = bup.fit(graph, "gcn", split=nodes, **QUICK)
    assert parse_qs(urlsplit(bup.address(result)).query)["split"] == [result.spec.split]


def test_the_usual_run_is_what_it_was(cora):
    spec = fitting.make_spec(cora, "bup", None, 0, (), "usual", "usual", "")
    assert spec == bup.Spec("cora", per_class=20, validation=200, test=2000)
