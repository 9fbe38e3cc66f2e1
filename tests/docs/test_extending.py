"""One file and one line: what docs/extending.md promises, tried with toys."""

import json
import re

import numpy as np
import pytest
import streamlit as st
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

import bup
from bup.cli import app as command
from bup.methods import METHODS
from bup.propagation import RULES
from bup.propagation.correlations import CORRELATIONS, LinkCorrelation, degrees
from bup.scores import SCORES, Score
from bup.training import fitting
from dashboard.cache import shared_cache
from dashboard.pages import PAGES
from tests.support import ROOT
from tests.toys import centroids, halving


@pytest.fixture
def cache(stocked_cache, monkeypatch):
    monkeypatch.setenv("BUP_CACHE", str(stocked_cache))
    monkeypatch.chdir(ROOT)
    st.cache_resource.clear()
    monkeypatch.setattr(shared_cache, "SHARED_CACHE", shared_cache.SharedCache())


@pytest.fixture
def rule(monkeypatch):
    monkeypatch.setitem(RULES, halving.RULE.name, halving.RULE)
    return halving.RULE


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    return app


def texts(app: AppTest) -> str:
    return " ".join(str(element.value) for element in (*app.markdown, *app.latex, *app.info))


def test_a_rule_trains_by_command_and_explains_itself(cache, rule, cora):
    run = ["fit", "--set", "propagation=halving", "--set", "epochs=30", "--json"]
    done = CliRunner().invoke(command, run)
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["test"]["accuracy"] > 0.7
    spec = bup.Spec(settings=(("propagation", "halving"), ("epochs", 30)))
    result = fitting.load(spec, cora)
    assert result is not None
    busy = int(cora.degree.argmax())
    assert result.scores()["message_std"][busy] < 0.01

    chosen = {"bup.propagation": "halving", "bup.epochs": "30", "node": "35"}
    why = opened(tab="Why?", **chosen)
    assert "Every link halves it:" in texts(why) and "v'=v/2^{168}" in texts(why)
    what_if = opened(tab="What if?", **(chosen | {"node": "1033"}))
    assert "You have not changed a link yet" in texts(what_if)
    near = cora.node_id(int(cora.neighbours(cora.find("1033"))[0]))
    what_if.multiselect(key="unlink").set_value([near]).run()
    assert not what_if.exception, what_if.exception
    before, after = re.findall(r"\d\.\d{4}", texts(what_if))
    assert float(after) > 1.2 * float(before)  # a link less


def test_a_rule_can_be_played_with_in_the_lesson(cache, rule, go_to):
    app = go_to(opened(), "learn-3-travel")
    assert not app.exception, app.exception
    variances = {m.label: m.value for m in app.metric}
    assert variances["Halving"] == "0.500"  # A has one neighbour


def test_a_correlation_is_trained_with(monkeypatch, cora):
    def between(graph, i, j, lam):
        return 0.5 * degrees.between(graph, i, j, lam)

    toy = LinkCorrelation("timid", "Half of the paper's.", r"\frac12", between)
    monkeypatch.setitem(CORRELATIONS, "timid", toy)
    result = bup.fit(cora, correlation="timid", epochs=5)
    inspector = bup.inspection.Inspector(cora, result)
    usual = RULES["paper"].propagation(cora, RULES["paper"].settings_from())
    assert np.allclose(1 - inspector.propagation.factor, (1 - usual.factor) / 4)
    assert r"\frac12" in inspector.inspect(35).formula.latex


def test_a_score_is_offered_and_measured(cache, monkeypatch, cora):
    page = (ROOT / "docs" / "extending.md").read_text()
    names = {"Score": Score, "np": np}
    exec(re.search(r"```python\n(SCORE = .*?)```", page, re.DOTALL)[1], names)
    gap = names["SCORE"]
    lead = gap.of_probs(np.array([[0.2, 0.7, 0.1], [0.4, 0.3, 0.3]]))
    np.testing.assert_allclose(lead, [0.5, 0.1])
    monkeypatch.setitem(SCORES, "gap", gap)
    result = fitting.load(bup.Spec(left_out=(6,)), cora)
    report = bup.evaluate(result, cora)
    for found in (report["errors"], report["ood"]["scores"]):
        # It says much the same as confidence, and finds as much.
        assert found["gap"]["auroc"] == pytest.approx(found["confidence"]["auroc"], abs=0.05)
        assert found["gap"]["auroc"] > 0.7
    assert "Lead of the first class" in opened().selectbox(key="colour").options


@pytest.mark.parametrize("calibrate", ["none", "temperature"])
def test_a_method_with_variances_works_on_every_page(cache, monkeypatch, cora, go_to, calibrate):
    monkeypatch.setitem(METHODS, "centroids", centroids.METHOD)
    for left_out in ((), (6,)):
        result = bup.fit(cora, "centroids", left_out=left_out, calibrate=calibrate)
        assert bup.evaluate(result, cora)["test"]["accuracy"] > 0.5
        fitting.save(result, cora)
    query = {"method": centroids.METHOD.short, "centroids.calibrate": calibrate}
    for page in (page.address for page in PAGES if page.needs_run):
        for left_out in ({}, {"left_out": "Rule Learning"}):
            app = go_to(opened(**query, **left_out), page)
            assert not app.exception, (page, app.exception)
    why = opened(tab="Why?", **query)
    assert "does not pass variances along links" in texts(why) and "BUP" in texts(why)
    facts = " ".join(element.proto.body for element in opened(node="35", **query).get("html"))
    assert re.search(r"message uncertainty 0\.\d*[1-9]", facts)


@pytest.mark.parametrize("tab", ["Why?", "What if?", "Links"])
def test_a_calibrated_run_keeps_its_explanations(cache, cora, tab):
    fitting.save(bup.fit(cora, propagation="doubt", calibrate="temperature", epochs=20), cora)
    chosen = {"bup.calibrate": "temperature", "bup.epochs": "20", "node": "35"}
    assert not opened(tab=tab, **chosen).info
    app = opened(**chosen)
    said = " ".join(c.value for c in app.caption)
    assert "Calibrated by Temperature scaling" in said
    assert "**Message of each class** before calibration" in texts(app)
