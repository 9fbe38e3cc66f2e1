"""Splits and protocols by name: what others published under, as part of a run's identity."""

import dataclasses

import numpy as np
import pytest

import bup
from bup import experiments as e
from bup.run.spec import Run, Spec
from bup.run.splits import split_of
from bup.training import fitting

SMALL = "synthetic:nodes=400,classes=5,words=80"


@pytest.fixture(scope="module")
def graph() -> bup.Graph:
    return bup.load_graph(SMALL)


def test_the_public_split_is_planetoids(citeseer, pubmed):
    for graph, classes in ((citeseer, 6), (pubmed, 3)):
        split = split_of(graph, Spec(graph.name, split="public"))
        assert (np.bincount(graph.labels[split.train]) == 20).all()
        sizes = (len(split.train), len(split.validation), len(split.test))
        assert sizes == (20 * classes, 500, 1000)
        # It is one split: the seed only draws weights.
        again = split_of(graph, Spec(graph.name, split="public", seed=3))
        assert (again.train == split.train).all()


def test_left_out_classes_only_test_under_a_named_split(citeseer):
    split = split_of(citeseer, Spec("citeseer", split="public", left_out=(5,)))
    strange = np.flatnonzero(citeseer.labels == 5)
    assert set(strange) <= set(split.test)
    known = np.concatenate([split.train, split.validation])
    assert not np.isin(citeseer.labels[known], [5, -1]).any() and len(split.train) == 100


def test_fractions_are_of_all_labelled_nodes_and_drawn_by_the_seed(citeseer):
    split = split_of(citeseer, Spec("citeseer", split="20/10/70"))
    labelled = int(citeseer.labelled.sum())
    sizes = [len(split.train), len(split.validation), len(split.test)]
    assert sum(sizes) == labelled and np.allclose(
        sizes, labelled * np.array([0.2, 0.1, 0.7]), atol=1
    )
    assert len(set(np.concatenate([split.train, split.validation, split.test]))) == labelled
    other = split_of(citeseer, Spec("citeseer", split="20/10/70", seed=1))
    assert set(other.train) != set(split.train)


@pytest.mark.parametrize("name", ["20/10/60", "20/80", "0/30/70", "private", "a/b/c", "100/0/0"])
def test_a_split_that_is_none_is_refused(name):
    with pytest.raises(bup.BupError, match="add up to 100"):
        Spec(split=name)


def test_graphs_that_cannot_be_split_so_say_why(cora, graph):
    with pytest.raises(bup.BupError, match=r"another order of nodes.*pyg:Planetoid/Cora"):
        split_of(cora, Spec("cora", split="public"))
    with pytest.raises(bup.BupError, match="has no public split"):
        split_of(graph, Spec(SMALL, split="public"))
    with pytest.raises(bup.BupError, match="no training node"):
        split_of(graph, Spec(SMALL, split="1/1/98"))


def test_equal_runs_have_one_key_and_old_runs_keep_theirs(graph):
    plain, named = Spec(SMALL), Spec(SMALL, split="20/10/70")
    assert named == Spec(SMALL, per_class=5, validation=3, test=7, split="20/10/70") != plain
    assert "split" not in plain.to_json() and Spec.from_dict(named.as_dict()) == named
    # The key of a run that was stored before splits had names.
    key = Run(Spec(), "0" * 64).key
    assert key == "cora-bup-20-seed0-0c9cfb32ed8f1208-000000000000"
    assert "20-10-70" in fitting.run_of(named, graph).key


def test_a_run_on_a_named_split_trains_and_its_command_trains_the_same(graph, capsys):
    result = bup.fit_many(graph, "gcn", seeds=[0], split="20/10/70", epochs=3)[0]
    assert len(result.split.train) == 80 and result.spec.labels_in_words == "split 20/10/70"
    command = fitting.methods.command_line(result.spec)
    assert "--split 20/10/70" in command and "--per-class" not in command


def test_protocols_by_name(cora, pubmed, graph):
    assert e.find_protocol("gnnsafe", cora).left_out == (0, 1, 2, 3)
    assert e.find_protocol("gnnsafe", cora).unjudged == (3,)
    assert e.find_protocol("gpn", cora).left_out == (4, 5, 6)
    assert e.find_protocol("gnnsafe", graph).left_out == (0, 1, 2)
    with pytest.raises(bup.BupError, match="too few for the protocol gnnsafe"):
        e.find_protocol("gnnsafe", pubmed)
    with pytest.raises(bup.BupError, match="there is no protocol 'mine': choose one of all, last"):
        e.find_protocol("mine", cora)


def test_unjudged_classes_count_neither_way_in_a_report(graph):
    protocol = e.find_protocol("gnnsafe", graph)
    result = bup.fit(graph, "gcn", 5, left_out=protocol.left_out, validation=40, test=200, epochs=3)
    whole, part = bup.evaluate(result, graph), bup.evaluate(result, graph, unjudged=(2,))
    seen = graph.labels[result.split.test]
    assert part["ood"]["nodes"] == np.isin(seen, [0, 1]).sum() < whole["ood"]["nodes"]
    assert part["test"] == whole["test"]


def test_a_split_has_no_sizes_in_a_table(graph):
    question = dataclasses.replace(e.QUESTIONS["q1"], variants=(e.find_variant("gcn"),))
    planned = e.plan_runs(
        question, {SMALL: graph}, reruns=1, protocols=lambda g: [e.Protocol().on("20/10/70")]
    )
    assert [run.identifiers["per_class"] for run in planned] == [0]
    assert planned[0].spec.split == "20/10/70" and planned[0].protocol.name == "split 20/10/70"


def test_a_calibrated_model_shows_the_floor(graph):
    """Where labels come out of the model's own probabilities, its ECE is what the floor says."""
    result = bup.fit(graph, "gcn", split="20/10/70", epochs=20)
    random = np.random.default_rng(0)
    probs = random.dirichlet(np.ones(graph.num_classes), graph.num_nodes)
    perfect = dataclasses.replace(result, probs=probs.astype(np.float32))
    rows = []
    for _ in range(8):
        truth = np.array([random.choice(graph.num_classes, p=p) for p in probs])
        own = dataclasses.replace(graph, labels=truth)
        as_if = dataclasses.replace(perfect, graph=own)
        rows.append(e.QUESTIONS["record"].measure(as_if, own, e.Protocol()))
    for error, floor in (("ece", "floor"), ("ece_degree", "floor_degree")):
        seen = np.mean([row[error] for row in rows])
        assert seen == pytest.approx(np.mean([row[floor] for row in rows]), rel=0.25)
    wrong = e.QUESTIONS["record"].measure(perfect, graph, e.Protocol())
    assert wrong["ece"] > 2 * wrong["floor"]
