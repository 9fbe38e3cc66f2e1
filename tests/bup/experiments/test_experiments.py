import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem, t, ttest_rel

import bup
from bup import experiments as e
from bup.datasets import synthetic
from bup.experiments.published import published_figures
from bup.methods import METHODS, complete
from bup.training import fitting

SMALL = "synthetic:nodes=400,classes=3,words=80"


@pytest.fixture
def store(tmp_path) -> bup.Store:
    return bup.Store(tmp_path)


@pytest.fixture(scope="module")
def graph() -> bup.Graph:
    return bup.load_graph(SMALL)


def quick(question: str, **changes) -> e.ResearchQuestion:
    short = (
        e.MethodVariant(e.PAPERS_BUP, "bup", (("epochs", 5),)),
        e.MethodVariant("gcn", "gcn", (("epochs", 5),)),
    )
    return dataclasses.replace(e.QUESTIONS[question], variants=short, sizes=(5,), **changes)


def trained(question: e.ResearchQuestion, graph, store, reruns=2) -> list[e.PlannedRun]:
    planned = e.plan_runs(question, {SMALL: graph}, reruns=reruns)
    for run in planned:
        fitting.save(fitting.fit_specs(graph, [run.spec])[0], graph, store)
    return planned


def test_rows_are_the_stored_runs_and_say_what_evaluate_says(graph, store):
    question = quick("q2")
    planned = trained(question, graph, store)
    more = e.plan_runs(question, {SMALL: graph}, reruns=3)
    rows = e.measured_rows(question, more, {SMALL: graph}, store)
    assert [(r.method, r.seed) for r in rows.itertuples()] == [
        (who, seed) for who in (e.PAPERS_BUP, "gcn") for seed in (0, 1)
    ]
    for row, run in zip(rows.itertuples(), planned, strict=True):
        assert run.spec.left_out == (2,)
        report = bup.evaluate(fitting.load(run.spec, graph, store), graph)["ood"]
        assert row.confidence_out == pytest.approx(report["confidence"]["out"])
        assert row.prob_std_in == pytest.approx(report["prob_std"]["in"])
        assert row.auroc_confidence == pytest.approx(100 * report["scores"]["confidence"]["auroc"])
    assert rows.auroc_message_std.isna().tolist() == [False, False, True, True]
    assert e.measured_rows(question, more, {SMALL: graph}, bup.Store("/no/such/folder")).empty


@pytest.mark.parametrize("name", e.QUESTIONS)
def test_every_question_ends_in_a_table(name, graph, store):
    question = quick(name)
    if name in ("q3", "rules", "choices", "sweep"):  # of messages that have a variance
        question = dataclasses.replace(question, variants=question.variants[:1])
    planned = trained(question, graph, store)
    rows = e.measured_rows(question, planned, {SMALL: graph}, store)
    assert len(rows) == len(planned) and {f.key for f in question.quantities} <= set(rows.columns)
    table = e.format_markdown(question, rows)
    lines = [line for line in table.splitlines() if line.startswith("|")]
    cells = len(rows.groupby("method")) if question.pooled else len(rows.groupby(e.CELL))
    assert len(lines) == 2 + cells and len({line.count("|") for line in lines}) == 1
    assert "nan" not in table
    assert "No run" in e.format_markdown(question, rows.iloc[:0])


def test_calibration_numbers_agree_with_evaluate_and_with_the_truth(graph, store):
    question = quick("calibration")
    run = trained(question, graph, store)[0]
    result = fitting.load(run.spec, graph, store)
    row = e.calibration_numbers(result, graph, run.protocol)
    report = bup.evaluate(result, graph)
    assert row["coverage"] == pytest.approx(100 * report["conformal"]["daps"]["coverage"])
    assert row["set_size"] == pytest.approx(report["conformal"]["daps"]["size"])
    truth = synthetic.true_posterior(SMALL, True, result.split.train)
    perfect = dataclasses.replace(result, probs=truth)
    best = e.calibration_numbers(perfect, graph, run.protocol)
    assert best["truth_distance"] == pytest.approx(0) and best["truth_kl"] == pytest.approx(0)
    assert row["truth_distance"] > 1 and row["truth_kl"] > 0


def test_the_distance_to_the_truth_by_hand():
    found = e.distance_to_truth(np.array([[0.5, 0.5], [1, 0]]), np.array([[0.75, 0.25], [1, 0]]))
    assert found["truth_distance"] == pytest.approx(12.5)
    by_hand = (0.75 * math.log(1.5) + 0.25 * math.log(0.5)) / 2
    assert found["truth_kl"] == pytest.approx(by_hand)


def rows_with(**ece: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"graph": "cora", "per_class": 5, "protocol": "", "seed": seed}
            | {"method": e.PAPERS_BUP if who == "bup" else who}
            | {"accuracy": 70.0, "ace": 9.0, "ece": value, "nll": 1.0}
            for who, values in ece.items()
            for seed, value in enumerate(values)
        ]
    )


def test_a_cell_shows_ours_the_papers_and_the_difference():
    table = e.format_markdown(e.QUESTIONS["q1"], rows_with(bup=[7.0, 9.0]))
    assert "| 8.00 ± 1.41 (7.82, +0.18) |" in table and "70.00 ± 0.00 (69.41, +0.59)" in table
    assert "over 2 reruns" in table and "Holm" not in table
    assert "| 7.00 (7.82, -0.82) |" in e.format_markdown(e.QUESTIONS["q1"], rows_with(bup=[7.0]))


def test_marks_follow_a_paired_test_over_the_same_splits():
    ours = [5.0, 9.0, 6.0, 12.0, 7.0, 8.0]
    better = [v - 0.1 * (k + 1) for k, v in enumerate(ours)]  # far inside the spread, every time
    lines = e.summary(e.QUESTIONS["q1"], rows_with(bup=ours, gcn=better, mlp=ours[::-1]))
    ece = lines[lines.quantity == "ece"].set_index("method")
    expected = ttest_rel(better, ours).pvalue
    assert ece.p["gcn"] == pytest.approx(2 * expected) and ece.verdict["gcn"] == 1
    assert ece.verdict["mlp"] == 0 and math.isnan(ece.p[e.PAPERS_BUP])
    low, high = t.interval(0.95, 5, np.mean(ours), sem(ours))
    assert ece.low[e.PAPERS_BUP] == pytest.approx(low)
    assert ece.high[e.PAPERS_BUP] == pytest.approx(high)
    assert "▲" in e.format_markdown(e.QUESTIONS["q1"], rows_with(bup=ours, gcn=better))
    assert "▼" in e.format_markdown(e.QUESTIONS["q1"], rows_with(bup=better, gcn=ours))
    # Rows are matched by their seed, not by their place.
    shuffled = rows_with(bup=ours, gcn=better).sample(frac=1, random_state=1)
    found = e.summary(e.QUESTIONS["q1"], shuffled).set_index(["method", "quantity"])
    assert found.p["gcn", "ece"] == pytest.approx(expected)
    assert found.p["gcn", "accuracy"] == 1.0  # no difference at all


def test_every_comparison_is_told_in_a_sentence():
    ours, tied = [5.0, 9.0, 6.0, 12.0], [5.5, 8.0, 7.0, 12.5]
    worse = [v + 3 + 0.1 * k for k, v in enumerate(ours)]
    text = e.format_tests(e.QUESTIONS["q1"], rows_with(bup=ours, gcn=tied, mlp=worse, ggp=ours))
    assert "ECE of mlp is 3.15 above that of bup" in text and "): worse." in text
    (open_line,) = [line for line in text.splitlines() if "ECE of gcn" in line]
    assert "is 0.25 above" in open_line and "reruns would settle it, 4 are there" in open_line
    (same,) = [line for line in text.splitlines() if "ECE of ggp" in line]
    assert "0.00" in same and "unlikely to settle" in same
    single = e.format_tests(e.QUESTIONS["q1"], rows_with(bup=[5.0], gcn=[6.0]))
    assert "one rerun says nothing of chance" in single and "nan" not in single


def test_every_contender_is_a_possible_run():
    for question in e.QUESTIONS.values():
        for who in question.variants:
            complete(bup.Spec(method=who.method, settings=who.settings))
        labels = [who.label for who in question.variants]
        assert len(set(labels)) == len(labels)
        assert e.choose_variants(question, labels) == list(question.variants)


def test_a_method_that_refuses_a_graph_is_left_out_unless_asked_for(graph, monkeypatch):
    small = dataclasses.replace(METHODS["mlp"], max_nodes=100)
    monkeypatch.setitem(METHODS, "mlp", small)
    question = e.QUESTIONS["ood"]
    assert "mlp" not in {run.variant for run in e.plan_runs(question, {SMALL: graph}, reruns=1)}
    asked = e.plan_runs(question, {SMALL: graph}, variants=[e.find_variant("mlp")], reruns=1)
    assert {run.variant for run in asked} == {"mlp"}


def test_the_published_protocols_leave_out_what_they_say(cora, citeseer, pubmed):
    by_graph = {
        g.name: {p.name: (p.left_out, p.unjudged) for p in e.published_protocols(g)}
        for g in (cora, citeseer, pubmed)
    }
    assert by_graph["cora"] == {
        "last class": ((6,), ()),
        "last 3 classes (GPN)": ((4, 5, 6), ()),
        "classes 0 to 2 (GNNSafe)": ((0, 1, 2, 3), (3,)),
    }
    assert list(by_graph["citeseer"].values()) == [((5,), ()), ((4, 5), ())]
    assert list(by_graph["pubmed"].values()) == [((2,), ())]


def test_an_unjudged_class_counts_neither_way(cora):
    protocol = e.published_protocols(cora)[-1]
    result = bup.fit(cora, "gcn", left_out=protocol.left_out, epochs=2)
    figures = e.ood_numbers(result, cora, protocol)
    result.probs[cora.labels == 3] = 1 / 3
    assert e.ood_numbers(result, cora, protocol) == figures
    assert e.ood_numbers(result, cora, e.Protocol("", protocol.left_out)) != figures


def test_the_papers_tables_are_complete():
    for graph in ("cora", "citeseer"):
        for size in (5, 10, 15, 20):
            for method in ("gcn", "vgcn", "bbgdc", "bbde", "ggp", e.PAPERS_BUP):
                assert set(published_figures("q1", graph, size, "", method)) == {
                    "accuracy",
                    "ace",
                    "ece",
                }
    assert published_figures("q1", "citeseer", 15, "", "bbgdc")["accuracy"] == 64.49
    assert published_figures("q2", "cora", 20, "last class", e.PAPERS_BUP)["confidence_out"] == 0.60
    assert published_figures("q1", "pubmed", 5, "", e.PAPERS_BUP) == {}
    assert published_figures("q1", "cora", 20, "", "bup") == {}  # calibrated, as the paper's is not


def test_the_sweep_looks_at_no_test_node(graph):
    result = bup.fit(graph, per_class=5, validation=40, test=100, epochs=5)
    figures = e.validation_numbers(result, graph, e.Protocol())
    result.probs[result.split.test] = np.nan
    result.mean[result.split.test] = np.nan
    assert e.validation_numbers(result, graph, e.Protocol()) == figures


def test_methods_without_variance_have_empty_cells_in_the_sweep(graph):
    result = bup.fit(graph, "gcn", per_class=5, validation=40, test=100, epochs=5)
    row = e.validation_numbers(result, graph, e.Protocol())
    assert np.isnan(row["nll_variance"]) and row["nll_spread"] > 0 and row["nll_none"] > 0
    row = e.rule_numbers(result, graph, e.Protocol())
    assert "errors_message_std" not in row and 0 < row["errors_confidence"] < 100


@pytest.mark.parametrize("question", e.QUESTIONS)
def test_a_name_is_the_same_model_in_tables_and_elsewhere(question):
    """A row that is called as ``bup fit --method`` would call it is that very run."""
    for who in e.QUESTIONS[question].variants:
        of_table = complete(bup.Spec(method=who.method, settings=who.settings))
        try:
            by_name = complete(bup.Spec(method=who.label))
        except bup.BupError:
            assert " " in who.label, "what is no name of a method does not look like one"
        else:
            assert by_name == of_table, who.label


def test_rows_by_name_are_the_runs_of_that_name():
    for label in ("bup", "doubt", "doubt+spread", "gcn", "gcn+gats", "evidence+temperature"):
        assert e.find_variant(label) == e.MethodVariant(label, label)
    gcn = dict(complete(bup.Spec(method="gcn+gats")).settings)
    assert (gcn["hidden"], gcn["keep"], gcn["patience"]) == (64, "best", 40)  # as measured
    for label, method in (("bup (published)", "bup"), ("doubt (uncalibrated)", "doubt")):
        settings = dict(complete(bup.Spec(method=method)).settings)
        who = e.find_variant(label)
        found = dict(complete(bup.Spec(method=who.method, settings=who.settings)).settings)
        assert found == settings | {"prediction": "erf", "calibrate": "none"}
    with pytest.raises(bup.BupError, match="no method 'luck'"):
        e.find_variant("luck")
