import dataclasses

import numpy as np
import pytest

import bup
from bup.graph import Graph, simple_edges
from bup.results.result import errors_from_left_out, guessing_warning, node_table


def test_judged_are_the_test_nodes_that_could_be_answered_rightly(citeseer):
    result = bup.fit(citeseer, epochs=3, left_out=[2])
    probs, targets, nodes = result.judged(citeseer)
    slowly = [node for node in result.split.test if citeseer.labels[node] != 2]
    assert nodes.tolist() == slowly and 0 < len(slowly) < len(result.split.test)
    assert [result.split.classes[k] for k in targets] == citeseer.labels[slowly].tolist()
    assert (probs == result.probs[slowly]).all()


def test_the_node_table_tells_the_truth_about_every_node(citeseer):
    result = bup.fit(citeseer, epochs=3, left_out=[5])
    table = node_table(result, citeseer)
    assert len(table) == citeseer.num_nodes
    assert table.part.value_counts().to_dict() == {
        "test": 2000,
        "unused": 3327 - 2000 - 200 - 100,
        "validation": 200,
        "train": 100,
    }
    lost = ~citeseer.labelled
    assert (table.true[lost] == "").all() and table.correct[lost].isna().all()
    assert table.correct[table.ood].isna().all()
    assert (table.true[table.ood] == "Human-Computer Interaction").all()
    judged = table[table.correct.notna()]
    assert ((judged.true == judged.predicted) == judged.correct).all()
    assert table.distance[result.split.train].eq(0).all()
    assert table.distance.isna().sum() == table.mean_distance.isna().sum() > 0
    assert table.message_std.gt(0).all()
    plain = node_table(bup.fit(citeseer, "gcn", epochs=3), citeseer)
    assert "message_std" not in plain


def test_a_graph_whose_degrees_are_all_the_same_is_still_measured():
    n = 60
    ring = Graph(
        "ring",
        np.eye(n, dtype=np.float32),
        simple_edges(np.arange(n), (np.arange(n) + 1) % n),
        np.arange(n) % 2,
        ("even", "odd"),
    )
    result = bup.fit(ring, per_class=5, validation=10, test=None, epochs=3, propagation="doubt")
    structure = bup.evaluate(result, ring)["structure"]["message_std"]
    assert structure["degree"] is None and -1 <= structure["distance"]["spearman"] <= 1


def test_left_out_nodes_that_nobody_tests_are_not_measured():
    graph = bup.load_graph("synthetic:nodes=120,classes=3,words=20")
    labels = np.where(graph.labels == 2, 0, graph.labels)
    labels[5] = 2
    graph = dataclasses.replace(graph, labels=labels)
    result = bup.fit(graph, left_out=[2], per_class=3, validation=10, test=5, epochs=2)
    assert 5 not in result.split.test
    assert "ood" not in bup.evaluate(result, graph)


def test_a_result_is_judged_on_its_own_graph_only(citeseer):
    drawn = "synthetic:nodes=120,classes=3,words=20"
    graph, other = bup.load_graph(drawn), bup.load_graph(f"{drawn},seed=1")
    result = bup.fit(graph, "gcn", per_class=3, validation=10, test=None, epochs=2)
    report = bup.evaluate(result, graph)
    assert bup.evaluate(result, drawn) == bup.evaluate(result) == report
    for given, what in (
        (other, "as many nodes and classes, but other content"),
        (bup.load_graph("synthetic:nodes=80,classes=3,words=20"), "80 nodes and 3 classes"),
        (citeseer, r"citeseer with 3,327 nodes and 6 classes"),
    ):
        for judge in (bup.evaluate, bup.Result.judged):
            with pytest.raises(bup.BupError, match=f"this result is of synthetic.*{what}"):
                judge(result, given)
    with pytest.raises(bup.BupError, match="judges a result, got a Graph"):
        bup.evaluate(graph, result)
    bare = dataclasses.replace(result, graph=None)  # its size at least is known
    with pytest.raises(bup.BupError, match="80 nodes"):
        bup.evaluate(bare, bup.load_graph("synthetic:nodes=80,classes=3,words=20"))


def test_seeds_may_be_an_array_and_a_single_one_is_explained():
    graph = bup.load_graph("synthetic:nodes=120,classes=3,words=20")
    sizes = {"per_class": np.int64(3), "validation": np.int8(10), "test": None, "epochs": 2}
    one, two = bup.fit_many(graph, "gcn", seeds=np.arange(2), left_out=np.array([1]), **sizes)
    assert (one.spec.seed, two.spec.seed, one.spec.left_out) == (0, 1, (1,))
    alone = bup.fit(graph, "gcn", seed=1, left_out=[1], **sizes)
    assert np.array_equal(alone.probs, two.probs) and alone.spec == two.spec
    with pytest.raises(bup.BupError, match=r"such as range\(3\), got 2"):
        bup.fit_many(graph, "gcn", seeds=2, **sizes)


def test_a_method_beside_a_model_is_refused():
    with pytest.raises(bup.BupError, match=r"'gcn'.* not both"):
        bup.fit("synthetic", "gcn", model=lambda graph, split: None)


def test_what_goes_wrong_only_without_its_class_is_right_with_it(citeseer):
    hidden, shown = (bup.fit(citeseer, epochs=20, left_out=classes) for classes in ([5], []))
    found = errors_from_left_out(hidden, shown, citeseer)
    slowly = [
        (-min(hidden.probs[node].max(), shown.probs[node].max()), node)
        for node in range(citeseer.num_nodes)
        if node in hidden.split.test
        and node in shown.split.test
        and citeseer.labels[node] == 5
        and shown.predicted[node] == 5
    ]
    assert found.tolist() == [node for _, node in sorted(slowly)] and len(found) > 3
    assert (hidden.predicted[found] != 5).all()
    assert not len(errors_from_left_out(shown, shown, citeseer)), "nothing was hidden"


def test_a_run_that_is_no_better_than_one_answer_for_all_says_so():
    graph = bup.load_graph("synthetic:nodes=300,classes=3,words=80")
    result = bup.fit(graph, epochs=30, validation=60, test=100)
    assert guessing_warning(result, graph) == ""
    collapsed = dataclasses.replace(result, probs=np.tile([0.4, 0.3, 0.3], (300, 1)))
    share = float((graph.labels[result.split.test] == 0).mean())
    warning = guessing_warning(collapsed, graph)
    assert f"right on {share:.1%} of the 100 test papers" in warning
    assert "smaller weight decay" in warning
    own = dataclasses.replace(collapsed, spec=dataclasses.replace(result.spec, settings=()))
    assert "weight decay" not in guessing_warning(own, graph)
