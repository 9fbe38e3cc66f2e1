"""What the browser is sent of a calculation, and what it may send back."""

import json

import streamlit as st
from streamlit.testing.v1 import AppTest

from bup.propagation.arithmetic import Operation, ProductTerm
from dashboard.components.arithmetic import Outcome, Side, Stage, arithmetic, choice
from dashboard.learn.follow_steps import STAGES


def drawn() -> None:
    from tests.dashboard.components.test_arithmetic import draw

    draw()


def draw() -> None:
    operation = Operation(
        "sum", "y", ("a", "b"), (ProductTerm("one", (2.0, 3.0), node=7),), "j", 1.0, "c"
    )
    side = Side(
        "Left", [operation], {"sum": "Add."}, {}, [Outcome("A", 1.0, 2.0, 0.5)], {"node": 7}
    )
    arithmetic([Stage("Sum", "mean", ("sum",))], [side], "canvas", lambda: None)


def test_numbers_and_their_sum_are_sent():
    app = AppTest.from_function(drawn).run()
    assert not app.exception
    (side,) = json.loads(app.get("bidi_component")[0].proto.json)["sides"]
    (operation,) = side["operations"]
    assert operation["lines"][0]["value"] == 6 and operation["result"] == 7
    assert operation["columns"] == ["a", "b"] and operation["start_symbol"] == "c"


def test_only_numbers_are_taken_from_the_browser(monkeypatch):
    hostile = {"node": "1; drop", "unit": 3, "side": 1, "column": None, "more": 5}
    monkeypatch.setattr(st, "session_state", {"canvas": {"choose": hostile}})
    assert choice("canvas") == {"unit": 3, "side": 1}
    monkeypatch.setattr(st, "session_state", {"canvas": {"choose": "nonsense"}})
    assert choice("canvas") == {}


def test_a_line_leads_to_a_stage_that_there_is():
    operations = {name for stage in STAGES for name in stage.operations}
    for stage in STAGES:
        assert bool(stage.opens) == bool(stage.chooses)
        assert not stage.opens or stage.opens in operations
