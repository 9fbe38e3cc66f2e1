"""All tables by one command: what it trains, what it leaves out, and what a killed one loses."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import bup
from bup import experiments as e
from bup.cli.progress import SweepBar
from bup.experiments.plans import EXCLUSIONS
from bup.experiments.shipped import ShippedResults
from bup.training import fitting
from tests.support import needs_unix

SMALL = "synthetic:nodes=400,classes=3,words=80"


def test_all_questions_but_what_is_left_out_by_name():
    some = e.PlanRequest(e.ALL, graphs=(SMALL,))
    plans, graphs = e.make_plans(some)
    assert [q.name for q, _ in plans] == list(e.QUESTIONS) and set(graphs) == {SMALL}
    every = dict(
        (q.name, planned)
        for q, planned in e.make_plans(e.PlanRequest(e.ALL, (SMALL,), everything=True))[0]
    )
    for question, planned in plans:
        left = [run for run in every[question.name] if run not in planned]
        assert all(any(x.leaves_out(question, run) for x in EXCLUSIONS) for run in left)
    shorter = {q.name: len(planned) for q, planned in plans}
    assert 0 < shorter["ood"] < len(every["ood"]) and shorter["q2"] == len(every["q2"])
    degem = [run for run in dict((q.name, p) for q, p in plans)["ood"] if run.variant == "degem"]
    assert {run.spec.seed for run in degem} == {0, 1}
    # A question by itself is whole.
    assert len(e.make_plans(e.PlanRequest("sweep", (SMALL,)))[0][0][1]) == len(every["sweep"])


def test_any_row_may_be_the_one_that_the_others_are_tested_against():
    ((question, _),), _ = e.make_plans(
        e.PlanRequest("q2", (SMALL,), against="doubt (uncalibrated)")
    )
    assert (question.name, question.reference) == ("q2", "doubt (uncalibrated)")
    assert e.QUESTIONS["q2"].reference == "bup (published)"
    with pytest.raises(bup.BupError, match=r"q2 has no row 'ggp' .*: choose one of bup \("):
        e.make_plans(e.PlanRequest("q2", (SMALL,), against="ggp"))
    # Without its row the others are tested against the first.
    ((question, _),), _ = e.make_plans(e.PlanRequest("q2", (SMALL,), labels=("gcn", "bup")))
    assert question.reference == "gcn"
    # Among all questions, those that have the row.
    plans, _ = e.make_plans(e.PlanRequest(e.ALL, (SMALL,), against="gcn+gats+bias"))
    assert [q.name for q, _ in plans if q.reference == "gcn+gats+bias"] == ["record"]


def test_what_is_left_out_is_said_with_its_reason():
    texts = e.describe_exclusions()
    assert len(texts) == len(EXCLUSIONS) and all(x.why in " ".join(texts) for x in EXCLUSIONS)


def test_a_run_is_expected_to_take_what_such_runs_took():
    asked = e.PlanRequest("q1", (SMALL,), (5,), ("gcn", "gcn+temperature", "mlp"), reruns=2)
    plans, graphs = e.make_plans(asked)
    ((_, planned),) = plans
    first = fitting.run_of(planned[0].spec, graphs[SMALL])
    known = ShippedResults(measured={"q1": {first.key: {"seconds": 7.0}}})
    seconds = e.estimate_seconds(plans, graphs, known)
    by_label = {}
    for run in planned:
        which = fitting.run_of(run.spec, graphs[SMALL])
        by_label.setdefault(run.variant, []).append(seconds[which])
    assert by_label["gcn"] == [7.0, 7.0]
    # By rule of thumb, brought into proportion by what was measured.
    assert 1 < by_label["mlp"][0] < 70 and by_label["mlp"][0] == by_label["mlp"][1]


def test_the_time_left_goes_by_what_runs_cost(capsys, monkeypatch):
    now = iter([0.0, 10.0])
    monkeypatch.setattr("bup.cli.progress.time.monotonic", lambda: next(now))
    cheap, dear = bup.Spec(SMALL, seed=0), bup.Spec(SMALL, seed=1)
    with SweepBar({cheap: 1.0, dear: 99.0}) as bar:
        bar.show([cheap])
    assert "1 of 2 runs, about 16 min left" in capsys.readouterr().err  # 990 seconds


@pytest.mark.timeout(240)
@needs_unix
def test_killed_twice_and_started_again_it_ends_with_the_same_bits(tmp_path):
    """kill -9, so that nothing is tidied up; the store holds whole results or none."""
    command = [sys.executable, "-m", "bup.cli", "reproduce", "q1", "--graphs", SMALL]
    command += ["--sizes", "5", "--methods", "gcn,mlp", "--reruns", "6", "--workers", "1"]
    env = {**os.environ, "BUP_CACHE": str(tmp_path)}

    def stored() -> int:
        return len(list(tmp_path.glob("runs/*/result.bup")))

    for wanted in (1, 6):
        process = subprocess.Popen(
            command, env=env, stdout=subprocess.DEVNULL, start_new_session=True
        )
        while stored() < wanted and process.poll() is None:
            time.sleep(0.02)
        assert process.poll() is None, "it was killed too late to prove anything"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert 0 < stored() < 12
    done = subprocess.run([*command, "--json"], env=env, capture_output=True, check=True)
    assert stored() == 12 and done.stdout.count(b'"seed"') == 12
    store, graph = bup.Store(tmp_path / "runs"), bup.load_graph(SMALL)
    asked = e.PlanRequest("q1", (SMALL,), (5,), ("gcn", "mlp"), reruns=6)
    for run in e.make_plans(asked)[0][0][1]:
        (here,) = fitting.fit_specs(graph, [run.spec])
        there = fitting.load(run.spec, graph, store)
        assert there is not None and np.array_equal(here.probs, there.probs)
