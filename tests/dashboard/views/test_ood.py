"""The page of unseen classes: what is sought, found, missed, listed and trained."""

import numpy as np
import pytest

from bup import metrics
from bup.explanation import detection, sentences
from bup.explanation.reasons import Reasoner
from bup.methods import METHODS, complete
from bup.run.spec import Spec
from bup.training import fitting
from dashboard.views import group_reasons
from dashboard.views.tables import MOST_ROWS

OPENS = tuple(METHODS["bup"].app_defaults.items())


@pytest.fixture
def result(stocked_cache, monkeypatch, cora):
    monkeypatch.setenv("BUP_CACHE", str(stocked_cache))
    return fitting.load(complete(Spec(left_out=(6,), settings=OPENS)), cora)


def ranking(app):
    return next(d.value for d in app.dataframe if "rank by BUP (this run)" in d.value)


def test_any_score_ranks_as_many_as_one_likes_beside_another_method(open_app, result, cora):
    app = open_app("ood", left_out="Rule Learning", ood_rivals="GCN", ood_score="Confidence")
    assert not app.exception, app.exception
    search, doubt = detection.unseen(result, cora), result.uncertainties()["confidence"]
    rows = ranking(app)
    slow = sorted(search.nodes.tolist(), key=lambda n: (-doubt[n], n))
    assert rows.id.tolist() == [cora.node_id(n) for n in slow[:10]]
    assert rows["rank by BUP (this run)"].tolist() == list(range(1, 11))
    assert rows["never shown"].tolist() == [bool(cora.labels[n] == 6) for n in slow[:10]]
    assert "rank by GCN" in rows
    app.selectbox(key="ood_length").set_value(0).run()
    assert ranking(app).id.tolist() == [cora.node_id(n) for n in slow[:MOST_ROWS]]
    shown = {m.label: m.value for m in app.metric}
    assert shown["AUROC"] == f"{metrics.auroc(doubt[search.nodes], search.positive):.1%}"
    assert "Who finds what the others miss?" in [s.value for s in app.header]


def test_a_clicked_cell_lights_its_nodes_until_something_else_is_sought(open_app, result, cora):
    app = open_app("ood", left_out="Rule Learning")
    search = detection.unseen(result, cora)
    nodes = search.nodes[search.positive]
    answer = int(np.bincount(result.predicted[nodes]).argmax())
    app.session_state["highlight_ood"] = ("matrix", "unseen", 6 * 7 + answer)
    app.run()
    count = int((result.predicted[nodes] == answer).sum())
    titles = [s.value for s in app.header]
    assert any(t.startswith(f"{count:,} papers of the class Rule Learning, taken") for t in titles)
    (listed,) = (d.value for d in app.dataframe if list(d.value)[-1] == "message_std")
    assert listed.message_std.is_monotonic_increasing, "the surest by the chosen score first"
    app.segmented_control(key="sought").set_value("mistakes").run()
    assert not app.exception
    assert not any("of the class Rule Learning, taken" in s.value for s in app.header)
    wrong = detection.mistakes(result, cora)
    score = result.uncertainties()["message_std"]
    shown = {m.label: m.value for m in app.metric}
    assert shown["AUROC"] == f"{metrics.auroc(score[wrong.nodes], wrong.positive):.1%}"


def test_each_class_in_turn_shows_what_is_trained_and_offers_the_rest(open_app, result, cora):
    app = open_app("ood", ood_rivals="GCN")  # nothing is left out yet
    assert not app.exception, app.exception
    assert [p.label for p in app.pills if p.key == "never_shown"] == ["Never show the model"]
    table = next(d.value for d in app.dataframe if "never shown" in d.value)
    cells = table.set_index("never shown")["BUP (this run)"]
    search, doubt = detection.unseen(result, cora), result.uncertainties()["message_std"]
    found = f"{100 * metrics.auroc(doubt[search.nodes], search.positive):.1f}"
    assert cells["Rule Learning"] == found and cells["Theory"] == "–"
    assert cells["mean over classes"] == f"{found} (1 of 7)"
    assert app.button(key="turns_train").label == "Train the 12 missing runs"


def led_there(app):
    return next(d.value for d in app.dataframe if "share" in d.value)


def test_a_group_shows_what_led_it_there_by_the_class_that_it_is_taken_for(open_app, result, cora):
    app = open_app("ood", left_out="Rule Learning")
    search = detection.unseen(result, cora)
    nodes = search.nodes[search.positive]
    answer = int(np.bincount(result.predicted[nodes]).argmax())
    app.selectbox(key="led_unseen").set_value(answer).run()
    assert not app.exception, app.exception
    reasons = Reasoner(cora, result).explain_group(nodes[result.predicted[nodes] == answer])
    table = reasons.table()
    assert led_there(app).share.tolist() == pytest.approx(table.share.tolist()[:MOST_ROWS])
    plain = sentences.led_there(reasons)
    assert plain in [m.value.replace("**", "") for m in app.markdown]
    assert "The 5 papers that mislead others most: " in plain
    app.toggle(key="led_unseen_told").set_value(True).run()
    assert led_there(app).id.tolist() == table[table.told].id.tolist()
    assert led_there(app)["class told"].all()


def test_a_large_group_is_drawn_from_at_random_and_says_so(open_app, result, monkeypatch):
    monkeypatch.setattr(group_reasons, "MOST_MEMBERS", 20)
    app = open_app("ood", left_out="Rule Learning", sought="Mistakes")
    assert any("20 drawn at random" in c.value for c in app.caption)
    assert led_there(app)["in the group"].sum() <= 20


def test_predictions_without_a_model_say_why_nothing_led_there(open_app, result, monkeypatch):
    monkeypatch.setattr(group_reasons, "why_no_reasons", lambda result: "No model, no node.")
    app = open_app("ood", left_out="Rule Learning")
    assert "No model, no paper." in [c.value for c in app.caption]
    assert not any("share" in d.value for d in app.dataframe)


def test_a_selection_shows_what_led_it_there(open_app, result):
    app = open_app(left_out="Rule Learning")
    app.session_state["group"] = [3, 5, 8]
    app.run()
    assert not any("share" in d.value for d in app.dataframe), "only once it is opened"
    app.session_state["group_reasons"] = True
    app.run()
    assert not app.exception, app.exception
    assert led_there(app)["in the group"].sum() == 3
