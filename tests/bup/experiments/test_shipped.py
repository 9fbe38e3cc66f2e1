"""Results that travel: a row per run, found by what the run is."""

import dataclasses
import gzip
import json
import sys

import pandas as pd
import pytest

import bup
from bup import experiments as e
from bup.cli import main
from bup.training import fitting
from tests.tools import results as page

SMALL = "synthetic:nodes=400,classes=3,words=80"


@pytest.fixture(scope="module")
def graph() -> bup.Graph:
    return bup.load_graph(SMALL)


@pytest.fixture
def question() -> e.ResearchQuestion:
    who = (
        e.MethodVariant("gcn", "gcn", (("epochs", 3),)),
        e.MethodVariant("bup", "bup", (("epochs", 3),)),
    )
    return dataclasses.replace(e.QUESTIONS["q1"], variants=who, sizes=(5,), reruns=2)


@pytest.fixture
def trained(question, graph, tmp_path):
    store = bup.Store(tmp_path)
    planned = e.plan_runs(question, {SMALL: graph})
    for run in planned[:3]:
        fitting.save(fitting.fit_specs(graph, [run.spec])[0], graph, store)
    return planned, store


def test_what_was_measured_comes_back_and_nothing_else(question, graph, trained):
    planned, store = trained
    found = e.collect([(question, planned)], {SMALL: graph}, store, e.ShippedResults())
    again = e.unpack(e.pack(found))
    rows = again.rows(question, planned, {SMALL: graph})
    expected = e.measured_rows(question, planned, {SMALL: graph}, store)
    assert len(rows) == 3 and again.origin.count("torch") == 1
    columns = ["method", "seed", "accuracy", "ece", "nll"]
    pd.testing.assert_frame_equal(rows[columns], expected[columns], rtol=1e-4)
    assert e.pack(again) == e.pack(found), "the same rows are the same bytes"
    # Another graph, or other settings, is another run.
    other = dataclasses.replace(graph, labels=(graph.labels + 1) % 3)
    assert again.rows(question, planned, {SMALL: other}).empty
    longer = [
        dataclasses.replace(p, spec=dataclasses.replace(p.spec, validation=30)) for p in planned
    ]
    assert again.rows(question, longer, {SMALL: graph}).empty


def test_rows_stay_when_a_store_is_emptied_and_follow_it_otherwise(question, graph, trained):
    planned, store = trained
    first = e.collect([(question, planned)], {SMALL: graph}, store, e.ShippedResults())
    empty = e.collect([(question, planned)], {SMALL: graph}, bup.Store("/no/such"), first)
    assert empty.measured == first.measured
    fewer = e.collect([(question, planned[:1])], {SMALL: graph}, store, first)
    assert len(fewer.measured["q1"]) == 1, "what no question asks for any more is dropped"


def test_a_damaged_file_is_refused_in_words():
    for content in (b"", b"no gzip", gzip.compress(b"{}"), gzip.compress(b'{"version": 99}')):
        with pytest.raises(bup.BupError, match="install it again"):
            e.unpack(content)


def test_the_shipped_file_is_small_sound_and_of_this_code():
    """Each of its runs is one that a question would train today."""
    content = page.SHIPPED.read_bytes()
    found = e.unpack(content)
    assert len(content) < 400_000 and found.made and set(found.measured) <= set(e.QUESTIONS)
    graph = bup.load_graph("cora")
    planned = e.plan_runs(e.QUESTIONS["calibration"], {"cora": graph})
    assert not found.rows(e.QUESTIONS["calibration"], planned, {"cora": graph}).empty


def test_tables_come_out_of_the_shipped_rows_without_training(monkeypatch, capsys):
    monkeypatch.setattr(fitting, "fit_specs", None)
    words = ["bup", "reproduce", "calibration", "--graphs", "cora", "--measured", "--json"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code in (0, None) and json.loads(capsys.readouterr().out)
