"""The picked node on every page: what it says, and what picks it."""

import json

import numpy as np
import pandas as pd
import pytest

from bup import metrics
from bup.graph.noun import PAPER
from bup.results.result import node_table
from dashboard.figures.card import MethodAnswer, answers_table, card_html
from dashboard.ui.numbers import percent
from dashboard.views import tables
from tests.support.figures import LIGHT, NASTY


def row(**changed: object) -> pd.Series:
    usual = {"predicted": "A", "true": "A", "confidence": 0.8, "correct": True, "ood": False}
    usual |= {"degree": 2, "part": "test", "distance": 2.0, "message_std": 0.4}
    return pd.Series(usual | changed)


def said(changed: pd.Series, name: str = "7") -> str:
    return card_html(
        f"Paper {name}", changed, "message_std", "Message uncertainty", 0.25, PAPER, LIGHT
    )


def test_the_card_says_answer_truth_doubt_and_place():
    text = said(row())
    for words in (
        "Paper 7",
        "80% sure",
        "That is right.",
        "Message uncertainty 0.4",
        "25% of the papers",
    ):
        assert words in text
    assert "2 links · test paper · 2 links from the nearest training paper" in text
    assert "That is wrong: it is <b>B</b>." in said(row(true="B", correct=False))
    assert "<b>B</b>, a class never shown" in said(row(true="B", correct=pd.NA, ood=True))
    assert "not known" in said(row(true="", correct=pd.NA))
    assert "1 link ·" in said(row(degree=1)) and "not used in this run" in said(row(part="unused"))
    assert "no path to a training paper" in said(row(distance=np.nan))


def test_names_from_the_data_stay_text():
    assert NASTY not in said(row(predicted=NASTY, true=NASTY, correct=False), NASTY)
    verdict = MethodAnswer(NASTY, NASTY, None, 0.5, (0.1, 0.9), NASTY, 1.0, 0.5)
    assert NASTY not in answers_table([verdict], LIGHT)


def test_nothing_short_of_certain_is_called_so():
    sure = MethodAnswer("a", "A", True, 0.9999, (0.9996, 1.0), "score", 1.0, 0.5)
    assert "<td>&gt;99.9%</td>" in answers_table([sure], LIGHT)
    unsure = sure._replace(span=(0.0001, 0.25))
    assert "<td>&lt;0.1% to 25.0%</td>" in answers_table([unsure], LIGHT)
    words = [percent(p, 0) for p in (0.5, 0.994, 0.9999, 1.0)]
    assert words == [
        "50%",
        "99%",
        "over 99%",
        "100%",
    ]


@pytest.mark.parametrize(
    "page", ["reliability", "ood", "structure", "compare", "graph", "reproduce"]
)
def test_every_page_has_the_card_of_the_picked_node(open_app, page):
    app = open_app(page, node="1033", left_out="Rule Learning")
    assert not app.exception, app.exception
    (card,) = (e.proto.body for e in app.get("html") if 'class="picked"' in e.proto.body)
    assert "Paper 1033" in card
    assert {"", "compare"} - {page} <= {e.proto.page for e in app.get("page_link")}


def test_tables_of_results_have_no_card_until_a_node_is_picked(open_app):
    app = open_app("reproduce")
    assert not app.exception
    assert not any('class="picked"' in e.proto.body for e in app.get("html"))


def test_the_calibration_errors_are_those_of_the_bins_drawn(open_app, run, cora):
    app = open_app("reliability")
    shown = {m.label: m.value for m in app.metric}
    app.segmented_control(key="scheme").set_value("mass").run()
    by_mass = {m.label: m.value for m in app.metric}
    assert not app.exception and by_mass["Accuracy"] == shown["Accuracy"]
    from bup.methods import METHODS, complete
    from bup.run.spec import Spec
    from bup.training import fitting

    spec = complete(Spec(settings=tuple(METHODS["bup"].app_defaults.items())))
    probs, targets, _ = fitting.load(spec, cora).judged(cora)
    for found, scheme in ((shown, "width"), (by_mass, "mass")):
        bins = metrics.reliability_bins(probs, targets, 10, scheme)
        assert found["ECE"] == f"{bins.expected_error:.1%}"
        assert found["ACE"] == f"{bins.average_error:.1%}"


def test_a_bin_that_was_clicked_goes_with_the_bins_that_it_was_one_of(open_app):
    app = open_app("reliability")
    app.session_state["highlight_reliability"] = ("reliability", (10, "width"), 9)
    app.run()
    (title,) = (s.value for s in app.header if "with a confidence of 90% to 100%" in s.value)
    assert title.split()[1] == "papers"
    app.slider(key="bins").set_value(5).run()
    assert not app.exception
    assert not any("with a confidence of" in s.value for s in app.header)


def test_the_node_of_a_clicked_point_is_ringed_where_it_is(open_app, cora):
    app = open_app("structure", node="1033")
    marks = [
        json.loads(e.proto.json)["marks"]
        for e in app.get("bidi_component")
        if '"against_degree"' in e.proto.json
    ]
    assert marks[0][0]["x"] == cora.looped_degree[cora.find("1033")]


def test_a_long_list_has_pages_that_together_are_all_of_it(open_app, monkeypatch):
    app = open_app("reliability")
    app.session_state["highlight_reliability"] = ("reliability", (10, "width"), 9)
    app.run()
    (whole,) = (d.value for d in app.dataframe if "predicted" in d.value)
    monkeypatch.setattr(tables, "MOST_ROWS", 40)
    app.run()
    pages, seen = -(-len(whole) // 40), []
    assert pages > 2
    for number in range(1, pages + 1):
        app.number_input(key="highlight_reliability_list_page").set_value(number).run()
        (part,) = (d.value for d in app.dataframe if "predicted" in d.value)
        seen += part["id"].tolist()
        words = f"{40 * number - 39:,} to {min(40 * number, len(whole)):,} of {len(whole):,}"
        assert any(c.value.startswith(words) for c in app.caption)
    assert seen == whole["id"].tolist()
    app.session_state["highlight_reliability"] = (
        "reliability",
        (10, "width"),
        1,
    )  # shorter: its first page
    app.run()
    assert not app.exception


def test_the_table_of_nodes_is_the_cards_source(run, cora):
    table = node_table(run, cora)
    text = card_html(
        "Paper 35", table.iloc[0], "message_std", "Message uncertainty", 0.5, PAPER, LIGHT
    )
    assert str(table.predicted.iloc[0]) in text
