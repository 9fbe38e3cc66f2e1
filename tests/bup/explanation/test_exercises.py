"""The exercise sheet against other ways to its numbers, and the notebook as a student runs it."""

import json
import math
import re

import numpy as np
import pytest
from click.testing import CliRunner

import bup
from bup import cli, metrics
from bup.explanation import exercises
from bup.explanation.inspection import Inspector
from dashboard.learn.course import LESSONS
from dashboard.learn.lecturers import NOTEBOOK, PLANS, notes_text

NAME = "synthetic:nodes=300,classes=4,words=120"


@pytest.fixture(scope="module")
def graph():
    return bup.load_graph(NAME)


@pytest.fixture(scope="module")
def runs(graph):
    given = {"epochs": 15, "validation": 60, "test": 120}
    return (
        bup.fit(graph, **given),
        bup.fit(graph, left_out=[3], **given),
        bup.fit(graph, method="gcn", **given),
    )


def numbers(row: tuple[str, ...]) -> list[float]:
    return [float(cell.replace("%", "").replace(",", "")) for cell in row]


@pytest.mark.parametrize("seed", range(5))
def test_the_duel_by_drawing(graph, runs, seed):
    made = exercises.duel(graph, runs[0], np.random.RandomState(seed))
    (m1, v1), (m2, v2) = (numbers(row[1:]) for row in made.rows[1:])
    draws = np.random.RandomState(0).standard_normal((2, 200_000))
    wins = (m1 + math.sqrt(v1) * draws[0] > m2 + math.sqrt(v2) * draws[1]).mean()
    assert made.value == pytest.approx(wins, abs=0.006)
    assert f"{made.value:.1%}" in made.solution


@pytest.mark.parametrize("seed", range(5))
def test_what_links_leave_is_what_the_rule_leaves(graph, runs, seed):
    made = exercises.degrees(graph, np.random.RandomState(seed))
    node = graph.find(made.rows[1][0].removesuffix(" itself"))
    usual = bup.fit(graph, epochs=1, validation=60, test=120, propagation="paper", lam=1.0)
    rule = Inspector(graph, usual).propagation
    assert rule is not None and rule.factor is not None
    assert made.value == pytest.approx(float(rule.factor[node]), abs=1e-5)


def test_the_calibration_error_is_the_metric(graph, runs):
    made = exercises.calibration(graph, runs[0])
    probs, targets, _ = runs[0].judged(graph)
    wanted = metrics.expected_calibration_error(probs, targets, exercises.BINS)
    assert made.value == pytest.approx(wanted, abs=0.002)
    rows = [numbers(row) for row in made.rows[1:]]
    assert sum(row[0] for row in rows) == len(targets)


@pytest.mark.parametrize("seed", range(5))
def test_the_ranking_is_the_auroc(graph, runs, seed):
    made = exercises.ranking(graph, runs[1], np.random.RandomState(seed))
    doubt = np.array([float(row[1]) for row in made.rows[1:]])
    unseen = np.array([row[2] == "unseen" for row in made.rows[1:]])
    assert made.value == pytest.approx(metrics.auroc(doubt, unseen))


def test_a_temperature_keeps_the_answer(graph, runs):
    made = exercises.temperature(graph, runs[2], np.random.RandomState(0))
    scores = [float(row[1]) for row in made.rows[1:]]
    halves = [math.exp(score / 2) for score in scores]
    assert made.value == pytest.approx(max(halves) / sum(halves))
    assert made.rows[1:][int(np.argmax(scores))][0] in made.solution


def test_the_sheet_is_printable_and_escaped():
    tricky = exercises.Exercise("<b>", "a & b?", (("<i>",), ("<script>",)), "x < y", 0.0)
    page = exercises.sheet([tricky], "<about>")
    assert "<script>" not in page and "&lt;about&gt;" in page and "http" not in page
    assert page.index("a &amp; b?") < page.index("Solutions") < page.index("x &lt; y")


def test_the_command_writes_a_sheet(tmp_path, monkeypatch):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "sheet.html"
    done = CliRunner().invoke(cli.app, ["exercises", "-o", str(out), "--graph", NAME])
    assert done.exit_code == 0, done.output
    page = out.read_text()
    assert len(re.findall("<h2>", page)) == 10 and "nan" not in page
    refused = CliRunner().invoke(cli.app, ["exercises", "-o", f"{out}/x", "--graph", NAME])
    assert isinstance(refused.exception, bup.BupError)


def test_the_notebook_runs(capsys):
    book = json.loads(NOTEBOOK.read_text())
    assert book["nbformat"] == 4
    names: dict[str, object] = {}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "it is shipped without results"
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    said = capsys.readouterr().out
    assert "400 nodes" in said and "ECE" in said and "AUROC" in said


def test_plans_keep_to_their_time():
    for name, plan in PLANS.items():
        assert sum(minutes for _, minutes in plan) == int(name.split()[0])
        assert {number for number, _ in plan} <= {lesson.number for lesson in LESSONS}


def test_every_lesson_has_notes_for_lecturers():
    for lesson in LESSONS:
        steps = notes_text(lesson, ("do", "say"))
        questions = notes_text(lesson, ("ask", "usual", "reply"))
        assert steps.startswith("**Do.**") and "\n\n**Say.**" in steps
        assert questions.count("*Usual:*") == questions.count("*Reply:*") >= 1
