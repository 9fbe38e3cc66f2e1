import numpy as np
import pandas as pd
import pytest

import bup
from bup import experiments as e
from bup.methods import complete
from bup.results import node_table

SMALL = "synthetic:nodes=400,classes=3,words=80"


@pytest.fixture
def store(tmp_path) -> bup.Store:
    return bup.Store(tmp_path)


def small_grid(store, say=None, seeds=range(2), **changes) -> pd.DataFrame:
    contender = e.Contender("quick", "bup", (("epochs", 5),))
    arguments = {"sizes": [5], "contenders": [contender], "seeds": seeds, **changes}
    return e.grid([SMALL], store=store, say=say, left_out=e.last_class, **arguments)


@pytest.fixture(autouse=True)
def small_splits(monkeypatch):
    """The protocol's 2000 test nodes do not fit a small graph."""
    spec = e.Spec
    monkeypatch.setattr(e, "Spec", lambda **fields: spec(**fields, validation=40, test=100))


def test_a_grid_has_one_row_per_run_and_trains_each_once(store):
    said: list[str] = []
    rows = small_grid(store, said.append)
    assert rows.seed.tolist() == [0, 1] and len(said) == 1 and "2 seeds" in said[0]
    again = small_grid(store, said.append, seeds=range(3))
    assert len(said) == 2 and "1 seeds" in said[1]
    timeless = [c for c in rows.columns if c != "seconds"]
    pd.testing.assert_frame_equal(again[timeless].head(2), rows[timeless])


def test_rows_hold_what_evaluate_says(store):
    row = small_grid(store, seeds=[4]).iloc[0]
    graph = bup.load_graph(SMALL)
    result = bup.fit(graph, per_class=5, seed=4, left_out=[2], validation=40, test=100, epochs=5)
    report = bup.evaluate(result, graph)
    assert row.accuracy == pytest.approx(100 * report["test"]["accuracy"])
    assert row.nll == pytest.approx(report["test"]["nll"])
    assert row.confidence_out == pytest.approx(report["ood"]["confidence"]["out"])


def test_tables_say_where_the_papers_row_is_not_reached():
    rows = pd.DataFrame(
        {
            "graph": ["cora"] * 2,
            "per_class": [5] * 2,
            "contender": ["bup"] * 2,
            "accuracy": [70.0, 72.0],
            "ace": [9.0, 9.0],
            "ece": [8.0, 9.0],
            "nll": [1.0, 1.0],
        }
    )
    table = e.q1_table(rows)
    assert "71.00 ± 1.41 (69.41)" in table and "not in ECE" in table
    assert "| yes |" in e.q1_table(rows.assign(ece=7.0))


def test_every_contender_is_a_possible_run():
    everyone = [*e.CONTENDERS.values(), *e.ablation_contenders(), *e.sweep_contenders()]
    for contender in everyone:
        complete(bup.Spec(method=contender.method, settings=contender.settings))
    assert len({c.label for c in everyone}) == len(everyone)


def test_the_sweep_looks_at_no_test_node(store):
    graph = bup.load_graph(SMALL)
    result = bup.fit(graph, per_class=5, validation=40, test=100, epochs=5)
    figures = e.validation_figures(result, graph)
    result.probs[result.split.test] = np.nan
    result.mean[result.split.test] = np.nan
    assert e.validation_figures(result, graph) == figures


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
