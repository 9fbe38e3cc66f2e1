import numpy as np
import pandas as pd
import pytest

from bup import metrics
from bup.errors import BupError
from bup.results.result import evaluate
from dashboard.figures import compare
from tests.support.figures import LIGHT, two_bins


def test_the_metrics_table_holds_what_evaluate_says_and_marks_the_best(run, rival, cora):
    reports = {"a": evaluate(run, cora), "b": evaluate(rival, cora)}
    spans = {"a": {"accuracy": metrics.Interval(0.1, 0.9)}}
    table = compare.metrics_table(reports, spans)
    for name, report in reports.items():
        mine = table[table.run == name].set_index(["group", "metric"])
        for key in ("accuracy", "ece", "nll"):
            row = mine.loc["Known classes", metrics.METRICS[key].label]
            other = reports["b" if name == "a" else "a"]["test"][key]
            ahead = report["test"][key] > other
            assert row.value == report["test"][key]
            assert row.best == (ahead == metrics.METRICS[key].higher_is_better)
        found = mine.loc["Finding left-out classes", "AUROC: Spread of the probabilities"].value
        assert found == report["ood"]["scores"]["prob_std"]["auroc"]
    first = table.iloc[0]
    assert (first.key, first.run, first.low, first.high) == ("accuracy", "a", 0.1, 0.9)
    assert table[table.run == "b"].low.isna().all()


def test_a_score_that_only_one_run_has_wins_nothing(run, rival, cora):
    table = compare.metrics_table({"a": evaluate(run, cora), "b": evaluate(rival, cora)})
    alone = table[table.metric == "AUROC: Message uncertainty"]
    assert alone.run.tolist() == ["a", "a"] and not alone.best.any()
    shown = compare.wide_table(table).set_index(["group", "metric"])
    assert list(shown.columns) == ["a", "b"]
    assert shown.loc[("Finding mistakes", "AUROC: Message uncertainty"), "b"] == ""


def test_the_table_for_reading_writes_percent_intervals_and_a_star():
    reports = {
        "a": {"test": {"accuracy": 0.8, "nll": 0.5, "nodes": 9}, "errors": {}},
        "b": {"test": {"accuracy": 0.7, "nll": 0.5, "nodes": 9}, "errors": {}},
    }
    spans = {"a": {"accuracy": metrics.Interval(0.75, 0.85)}}
    shown = compare.wide_table(compare.metrics_table(reports, spans))
    assert shown["a"].tolist() == ["80.0% [75.0, 85.0] ★", "0.500 ★"]
    assert shown["b"].tolist() == ["70.0%", "0.500 ★"]
    assert not compare.metrics_table({"a": reports["a"]}).best.any()


def test_overlaid_runs_differ_in_more_than_colour():
    bins = two_bins()
    runs = [(f"run {i}", bins) for i in range(8)]
    figure = compare.overlay_reliability(runs, LIGHT)
    lines = figure.data[1:]
    assert [line.name for line in lines] == [name for name, _ in runs]
    looks = {(line.marker.symbol, line.line.dash) for line in lines[:6]}
    assert len(looks) == 6
    for line in lines:
        np.testing.assert_allclose(line.y, [0.75, 0.5])
    numbers = [n for line in lines for n in line.customdata.tolist()]
    full = np.flatnonzero(bins.count)
    assert numbers == [i * len(bins.count) + b for i in range(8) for b in full.tolist()]


def test_the_disagreement_of_two_sure_runs_comes_first():
    a = pd.DataFrame(
        {
            "id": list("wxyz"),
            "true": ["p", "p", "q", ""],
            "part": "test",
            "ood": False,
            "predicted": ["p", "p", "p", "q"],
            "confidence": [0.9, 0.99, 0.8, 0.7],
        }
    )
    b = a.assign(predicted=["p", "q", "q", "p"], confidence=[0.9, 0.5, 0.9, 0.6])
    found = compare.disagreement_table(a, b)
    assert found.node.tolist() == [2, 3, 1]
    assert found.id.tolist() == ["y", "z", "x"]
    assert found.predicted_a.tolist() == ["p", "q", "p"]
    assert found.confidence_b.tolist() == [0.9, 0.6, 0.5]
    assert len(compare.disagreement_table(a, a)) == 0
    with pytest.raises(BupError, match="different graphs"):
        compare.disagreement_table(a, b.iloc[:3])
