"""Files and links of commit 9bea6a9 still open; make_fixtures.py says how they were made."""

import gzip
import json
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

import bup
from bup import cli
from bup.imported import predictions
from bup.results.store import Store
from bup.training import fitting
from dashboard.classroom.register import LecturerKey, Register
from dashboard.session import run_link
from tests.support import ROOT
from tests.support.exports import numbers, read_document

FIXTURES = Path(__file__).parent / "fixtures"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text())


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch) -> Path:
    """A cache folder as that commit left it."""
    for folder in ("runs", "own"):
        # Not the times of the files: what was uploaded is deleted after some days.
        shutil.copytree(FIXTURES / folder, tmp_path / folder, copy_function=shutil.copy)
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def graph() -> bup.Graph:
    return bup.load_graph(EXPECTED["graph"])


@pytest.fixture
def spec() -> bup.Spec:
    return bup.Spec.from_dict(EXPECTED["run"])


def check_content(result: bup.Result, graph: bup.Graph) -> None:
    assert result.spec.as_dict() == EXPECTED["run"]
    np.testing.assert_allclose(result.probs[:3], EXPECTED["probs"], atol=1e-6)
    assert bup.evaluate(result, graph)["test"] == pytest.approx(EXPECTED["test"], abs=1e-5)


def test_a_stored_result_is_found(graph, spec):
    run = fitting.run_of(spec, graph)
    assert run.key == EXPECTED["key"] and Store().path(run).is_file()
    result = fitting.load(spec, graph)
    assert result is not None, "the store does not accept a result of the earlier version"
    check_content(result, graph)


def test_a_saved_result_opens(graph):
    check_content(bup.Result.load(FIXTURES / "saved.bup"), graph)


def test_an_uploaded_graph_opens(graph):
    uploaded = bup.load_graph(EXPECTED["own_graph"])
    assert uploaded.digest == EXPECTED["own_digest"] and uploaded.notes == ("uploaded",)
    assert np.array_equal(uploaded.edges, graph.edges) and uploaded.ids == graph.ids


def test_uploaded_predictions_are_listed_and_become_a_run(graph, spec):
    (stored,) = predictions.list_stored(graph.digest)
    assert (stored.key, stored.title) == (EXPECTED["predictions"], "My model")
    run = bup.Spec.from_dict(EXPECTED["predictions_run"])
    (result,) = fitting.fit_specs(graph, [run])
    np.testing.assert_allclose(result.probs[:3], EXPECTED["probs"], atol=1e-6)


def test_a_class_goes_on(tmp_path):
    there = EXPECTED["class"]
    path = tmp_path / "classes.sqlite"
    shutil.copy(FIXTURES / "classes.sqlite", path)
    register = Register(path, clock=lambda: there["clock"] + 60)
    lead = LecturerKey(there["code"], there["key"])
    classroom = register.find(there["code"])
    assert classroom.students == 2 and classroom.place == "/explore?node=3"
    assert register.leads(lead) and register.is_in(there["code"], there["student"])
    (tally,) = register.tallies(lead)
    assert tally.counts == (0, 1, 1) and tally.revealed
    assert tally.question.options == ("this", "that", "none") and tally.question.right == 1
    assert register.choice(there["code"], there["student"], tally.question) == 1
    assert len(register.guesses(lead)) == 2
    register.end(lead)
    assert register.find(there["code"]) is None


def test_an_exported_page_leads_to_its_run(graph, spec):
    """Its scripts come with it, so that a browser needs nothing of ours to show it."""
    content = read_document(gzip.decompress((FIXTURES / "page.html.gz").read_bytes()).decode())
    (run,) = content["runs"]
    probs = numbers(run["probs"]).reshape(graph.num_nodes, -1)
    np.testing.assert_allclose(probs[:3], EXPECTED["probs"], atol=2e-5)
    words = shlex.split(run["command"])
    result = CliRunner().invoke(cli.app, [*words[1:], "--json"], catch_exceptions=False)
    report = json.loads(result.output)
    assert report["test"]["accuracy"] == pytest.approx(EXPECTED["test"]["accuracy"])


@pytest.mark.parametrize("case", EXPECTED["run_links"], ids=lambda case: case["spec"]["method"])
def test_a_link_means_the_same_run(graph, case):
    spec = run_link.find_spec(case["link"])
    assert spec.as_dict() == case["spec"]
    assert run_link.query(spec, graph) == case["link"].partition("?")[2]


@pytest.mark.parametrize("case", EXPECTED["views"], ids=lambda case: case["address"])
def test_a_link_opens_the_same_view(monkeypatch, go_to, case):
    monkeypatch.chdir(ROOT)
    st.cache_resource.clear()
    app = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=120)
    app.query_params.update(case["query"])
    go_to(app, case["address"])
    assert not app.exception, app.exception
    state = app.session_state
    held = {key: json.loads(json.dumps(state[key], default=str)) for key in case["values"]}
    assert held == case["values"]
