"""Every page, run without a browser: no exception, the right numbers, links that reopen a view."""

import dataclasses
import gzip
import json
import os
import shlex
from urllib.parse import parse_qs

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from bup import experiments
from bup.experiments import PAPERS_BUP, ShippedResults
from bup.methods import METHODS, complete
from bup.results.result import errors_from_left_out
from bup.results.store import Store
from bup.run.spec import Spec
from bup.run.splits import make_split
from bup.training import fitting
from bup.training.fitting import run_of
from dashboard import pages
from dashboard.cache import run_cache
from dashboard.components import static_files
from dashboard.pages import PAGES, Page
from dashboard.session import run_link, training
from dashboard.session.navigation import page_link
from dashboard.session.view import View
from dashboard.ui.numbers import percent
from tests.support.folder_files import put
from tests.support.jobs import InstantQueue


@pytest.mark.parametrize("page", [page.address for page in PAGES if page.needs_run])
@pytest.mark.parametrize("method", ["bup", "gcn", "energy"])
def test_every_page_opens_for_every_kind_of_method(open_app, page, method):
    app = open_app(page, method=METHODS[method].short)
    assert not app.exception, app.exception
    assert app.selectbox(key="method").value == method
    assert app.title[0].value.endswith("?")
    assert app.get("plotly_chart") or app.get("bidi_component")


def sent_to_map(app: AppTest) -> dict:
    """What the map on Explore is told of colours and the picked node."""
    messages = [element.proto.json for element in app.get("bidi_component")]
    (sent,) = (json.loads(text) for text in messages if '"layer"' in text)
    look = static_files._files.find(sent["look"].rpartition("/")[2])
    return sent | json.loads(gzip.decompress(look.compressed))


def test_a_colour_scale_stays_while_settings_change_until_it_is_refitted(open_app):
    app = open_app(colour="Confidence", node="35")
    first = sent_to_map(app)
    assert first["colour"] == "confidence" and first["turn"] == "minus"
    app.selectbox(key="method").set_value("gcn").run()
    other = sent_to_map(app)
    assert not app.exception and other["layer"] != first["layer"]
    assert (other["limits"], other["graph"]) == (first["limits"], first["graph"])
    app.toggle(key="fit_colours").set_value(True).run()
    refitted = sent_to_map(app)
    assert refitted["limits"] != first["limits"] and refitted["layer"] == other["layer"]
    app.toggle(key="fit_colours").set_value(False).run()
    app.selectbox(key="method").set_value("bup").run()
    assert sent_to_map(app)["limits"] == refitted["limits"]


def test_filters_reach_the_map_and_a_click_sends_little(open_app):
    app = open_app(node="35")
    before = sent_to_map(app)
    app.session_state.node = "1033"
    app.run()
    after = sent_to_map(app)
    assert {key for key in after if after[key] != before[key]} == {"node"}
    assert len(json.dumps(after)) < 3000
    app.pills(key="show").set_value(["mistakes"]).run()
    assert sent_to_map(app)["layer"] != after["layer"]


def test_a_page_is_a_function_and_a_line_of_the_table(open_app, monkeypatch):
    def toy(view: View) -> None:
        st.title(f"What is the degree of {view.graph.node_id(view.node)}?")
        page_link("toy", "Once more", query={"node": "35"})

    line = Page("toy", toy, "Toy", ":material/toys:")
    monkeypatch.setattr(pages, "PAGES", (*PAGES, line))
    app = open_app("toy", node="35")
    assert not app.exception, app.exception
    assert app.title[0].value == "What is the degree of 35?"
    (onward,) = app.get("page_link")
    assert onward.proto.page == "toy" and onward.proto.query_string == "node=35"


def test_the_addresses_of_pages_are_those_that_links_use():
    """Whoever has a link keeps it: an address may be added, not changed."""
    assert {page.address for page in PAGES} >= {
        *("explore", "reliability", "ood", "structure", "compare", "graph", "own", "reproduce"),
        *("learn", "learn-1-confident", "learn-2-message", "learn-3-travel", "learn-4-loss"),
        *("learn-5-calibration", "learn-6-unseen", "learn-7-truth"),
        *("learn-tour", "learn-glossary", "learn-lecturers"),
    }
    assert PAGES[0].address == "explore"


def test_a_methods_own_scores_are_offered_without_naming_it(open_app):
    app = open_app("ood", method=METHODS["energy"].short, left_out="Rule Learning")
    labels = app.selectbox(key="ood_score").options
    assert {"Energy", "Energy without links", "Confidence"} <= set(labels)
    assert not {"Message uncertainty"} & set(labels)


@pytest.mark.parametrize(
    ("page", "key"), [("explore", "colour"), ("structure", "structure_score"), ("ood", "ood_score")]
)
def test_a_link_to_a_score_that_menus_no_longer_have_opens_its_twin(open_app, page, key):
    app = open_app(page, left_out="Rule Learning", **{key: "Message entropy"})
    assert not app.exception
    menu = app.selectbox(key=key)
    assert menu.value == "message_std" and "Message entropy" not in menu.options


def test_a_graph_that_is_too_large_for_a_method_is_explained_before_training(open_app, monkeypatch):
    small = dataclasses.replace(METHODS["gcn"], max_nodes=100, limit_reason="it is a test")
    monkeypatch.setitem(METHODS, "gcn", small)
    app = open_app(method="GCN", seed="5")
    assert "takes graphs of at most 100 nodes" in app.error[0].value
    assert not [b for b in app.button if b.label == "Train"]


def test_a_run_that_nobody_trained_is_told_with_its_changed_settings(open_app):
    app = open_app(method="GCN", seed="5", **{"gcn.dropout": "0.3"})
    assert app.title[0].value == "This model has not been trained yet"
    (about,) = [m.value for m in app.markdown if "per class, seed 5" in m.value]
    assert "Dropout rate: 0.3" in about.replace("\\", "") and "Learning rate" not in about


def test_reproduce_shows_stored_cells_beside_the_papers(open_app, monkeypatch):
    monkeypatch.setattr(experiments, "load_shipped", ShippedResults)
    app = open_app("reproduce")
    assert not app.exception, app.exception
    table = app.dataframe[0].value.set_index(["per class", "method"])
    assert table.reruns[20, PAPERS_BUP] == 1 and table.reruns[5, PAPERS_BUP] == 0
    assert "(78.64, " in table.accuracy[20, PAPERS_BUP] and table.ECE[5, "gcn"] == "– (23.14)"
    app.session_state.reproduce_cell = (20, "", PAPERS_BUP)
    app.run()
    assert not app.exception, app.exception
    (rerun,) = app.dataframe[1].value.itertuples()
    assert f"{rerun.accuracy:.2f} (78.64" in table.accuracy[20, PAPERS_BUP]
    assert rerun.model.startswith("./?graph=Cora&method=") and "seed=0" in rerun.model

    app.session_state.reproduce_cell = (5, "last class", "gcn")
    app.selectbox(key="table").set_value("q2").run()
    assert not app.exception and "has been measured or trained" in app.info[0].value
    table = app.dataframe[0].value.set_index(["per class", "method"])
    assert table.reruns[20, PAPERS_BUP] == table.reruns[20, "gcn"] == 1

    for name in ("q3", "calibration", "ood", "ablation", "record"):
        app.selectbox(key="table").set_value(name).run()
        assert not app.exception, (name, app.exception)
        assert not app.info, "the cell belongs to another table"
        table = app.dataframe[0].value
        assert (
            table.reruns.max() == (name != "record") and app.selectbox(key=f"{name}_quantity").value
        )


def test_reproduce_tells_measured_and_trained_here_apart(open_app, monkeypatch, cora):
    """A new machine has nothing trained: what came with the package fills the table."""
    question = experiments.QUESTIONS["q1"]
    rows = {
        run_of(run.spec, cora).key: {"accuracy": 70.0 + run.spec.seed, "ece": 6.0 + run.spec.seed}
        for run in experiments.plan_runs(question, {"cora": cora})
        if run.variant in (PAPERS_BUP, "gcn") and run.per_class == 20 and run.spec.seed < 3
    }
    shipped = ShippedResults("1 May 2026", {"torch": "2"}, {"q1": rows})
    monkeypatch.setattr(experiments, "load_shipped", lambda: shipped)
    app = open_app("reproduce")
    assert not app.exception, app.exception
    table = app.dataframe[0].value.set_index(["per class", "method", "whose"])
    assert table.reruns[20, "gcn", "as measured"] == 3
    assert table.accuracy[20, PAPERS_BUP, "as measured"].startswith("71.00 ± 1.00 (78.64")
    assert (
        table.reruns[20, PAPERS_BUP, "trained here"] == 1 and (5, "ggp", "not yet") in table.index
    )
    assert any("1 May 2026" in caption.value for caption in app.caption)

    app.session_state.reproduce_cell = (20, "", "gcn")
    app.run()
    assert not app.exception, app.exception
    said = [m.value.replace("\\", "") for m in app.markdown]
    assert any("ECE of gcn is 0.00 above that of bup" in text for text in said)
    assert list(app.dataframe[1].value.whose)[-3:] == ["as measured"] * 3
    (offer,) = [b for b in app.button if b.label.endswith("of it here")]
    assert offer.label == "Train 3 reruns of it here"


def test_a_link_from_a_rerun_chooses_that_run(open_app, cora):

    settings = (("hidden", 32), ("keep", "best"))
    spec = complete(Spec(method="gcn", left_out=(2, 6), per_class=10, seed=3, settings=settings))
    app = open_app(**parse_qs(run_link.query(spec, cora)))
    assert app.selectbox(key="method").value == "gcn"
    assert app.multiselect(key="left_out").value == [2, 6]
    assert app.number_input(key="seed").value == 3 and app.number_input(key="per_class").value == 10
    assert app.number_input(key="gcn.hidden").value == 32
    assert app.selectbox(key="gcn.keep").value == "best"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", "inf"),
        ("seed", "9" * 400),
        ("seed", "-1"),
        ("seed", "1.5"),
        ("per_class", "inf"),
        ("per_class", "nan"),
        ("bup.isolation", "-inf"),
        ("bup.epochs", "1e400"),
    ],
)
def test_a_number_in_a_link_that_is_none_is_said_and_left_out(open_app, name, value):
    usual = {"seed": 0, "per_class": 20, "bup.isolation": 1.5, "bup.epochs": 400}
    app = open_app(**{name: value})
    assert not app.exception, app.exception
    assert any("in the link must be" in warning.value for warning in app.warning)
    assert app.number_input(key=name).value == usual[name]
    assert app.get("bidi_component"), "the page is there all the same"


def test_a_rule_brings_its_own_settings_and_no_others(open_app):
    app = open_app()
    shown = {widget.key for widget in (*app.number_input, *app.selectbox)}
    assert {"bup.isolation", "bup.known"} <= shown and not {"bup.lam", "bup.correlation"} & shown
    app.button_group(key="bup.propagation").set_value("paper").run()
    shown = {widget.key for widget in (*app.number_input, *app.selectbox)}
    assert {"bup.lam", "bup.correlation"} <= shown and not {"bup.isolation", "bup.known"} & shown
    assert app.number_input(key="bup.lam").step == 1


def test_no_link_opens_a_folder_that_nobody_offered(open_app, tmp_path):
    here = f"folder:{tmp_path}"
    for name in (here, f"fewer:{here}:0.5", f"noisy:{here}:0", f"fewer:noisy:{here}:0:1"):
        app = open_app(graph=name)
        assert not app.exception and "there is no graph" in app.error[0].value


def test_a_graph_above_the_limit_is_refused_before_it_is_drawn(open_app, monkeypatch):
    monkeypatch.setattr("bup.load_graph", lambda name: pytest.fail("it was drawn"))
    app = open_app(graph="synthetic:nodes=2000000,mean_degree=19")
    assert not app.exception and "this server draws graphs of at most" in app.error[0].value


def test_the_command_of_a_run_survives_a_shell():
    from bup.methods import command_line

    spec = Spec("folder:my papers", "gcn+temperature", left_out=(1, 2), settings=(("hidden", 32),))
    assert shlex.split(command_line(complete(spec)))[2:] == [
        *("--graph", "folder:my papers", "--method", "gcn+temperature"),
        *("--per-class", "20", "--seed", "0", "--validation", "200", "--test", "2000"),
        *("--left-out", "1", "--left-out", "2"),
        *("--set", "hidden=32"),
    ]


def test_another_graph_forgets_the_node_without_a_word(open_app):
    app = open_app(node="35")
    assert app.session_state.node == "35"
    app.selectbox(key="graph").set_value("synthetic").run()
    assert not app.exception and not app.warning
    assert not app.session_state.node and not app.session_state.trail


def test_a_link_opens_what_no_widget_holds_and_drops_what_makes_no_sense(open_app):
    query = {"node": "35", "tab": "Links", "hops": "2", "stage": "step 1", "range": "0.4~"}
    app = open_app(**query, lasso="not;a;lasso", before="{")
    assert not app.exception, app.exception
    sent = sent_to_map(app)
    assert sent["range"] == [0.4, None] and sent["lasso"] is None
    assert app.session_state.hops == 2 and app.session_state.stage == "step 1"


def test_stories_are_of_this_run(open_app, cora):
    app = open_app()
    labels = [button.label for button in app.button if str(button.key).startswith("story_")]
    assert len(labels) == 4 and "168 links" in labels[1] and "things you know" in labels[3]
    next(b for b in app.button if b.key == "story_0").click().run()
    assert not app.exception and app.session_state.tab == "Why?"
    assert app.session_state.node in labels[0]
    assert app.session_state.node in cora.ids


@pytest.mark.parametrize("hides", [False, True])
def test_the_story_of_a_class_never_shown_is_of_a_paper_that_showing_it_saves(
    open_app, cora, hides
):
    app = open_app(**({"left_out": "Rule Learning"} if hides else {}))
    (button,) = [b for b in app.button if "A class never shown" in b.label]
    spec = Spec("cora", settings=tuple(METHODS["bup"].app_defaults.items()))
    shown, hidden = (
        run_cache.find(complete(dataclasses.replace(spec, left_out=classes)), cora)
        for classes in ((), (6,))
    )
    node = int(errors_from_left_out(hidden.result, shown.result, cora)[0])
    said = button.label.replace("\\", "")
    for known, name in ((hidden, "takes"), (shown, "right")):
        row = known.table.iloc[node]
        assert row.id in said and name in said and percent(row.confidence) in said
    assert shown.table.correct.iloc[node] and hidden.table.predicted.iloc[node] in said
    button.click().run()
    assert not app.exception
    assert app.session_state.node == cora.node_id(node) and app.session_state.left_out == [6]


@pytest.mark.parametrize(
    "colour, words",
    [
        ("Confidence", "The brighter a dot, the less sure it is."),
        ("Degree", "The darker a dot, the more links it has."),
        ("True class", "The colour of a dot shows its true class."),
        ("Right or wrong", "The colour of a dot shows whether the answer is right."),
    ],
)
def test_what_a_newcomer_reads_of_the_dots_follows_their_colour(open_app, colour, words):
    app = open_app(colour=colour)
    assert any(words in element.value for element in app.markdown)
    assert sum("a dot," in e.value or "of a dot" in e.value for e in app.markdown) == 1


def test_an_arrow_leads_from_before_to_after_and_not_between_two_papers(open_app):
    app = open_app(node="35", pin="1128945", tab="Compare")
    (table,) = [e.proto.body for e in app.get("html") if "twice" in e.proto.body]
    assert "|" in table and "→" not in table


@pytest.mark.parametrize("text", ["inf", "-1"])
def test_a_number_that_somebody_goes_back_to_leaves_the_page_as_it_is(open_app, text):
    app = open_app(seed="0")
    app.query_params["seed"] = text
    app.run()
    assert not app.exception and app.number_input(key="seed").value == 0


def test_a_split_by_name_is_part_of_the_link(open_app, cora):
    spec = Spec("cora", "gcn", split="20/10/70", seed=3)
    assert "split=20%2F10%2F70" in run_link.query(complete(spec), cora)
    app = open_app(method="GCN", seed="3", split="20/10/70")
    assert app.title[0].value == "This model has not been trained yet"
    assert any("split 20/10/70, seed 3" in m.value.replace("\\", "") for m in app.markdown)


def test_a_class_name_is_no_markup_where_its_model_is_not_trained(open_app, tmp_path, monkeypatch):
    people = "".join(f"n{i},{('![](http://x.test)', 'b', 'c')[i % 3]},{i}\n" for i in range(30))
    put(tmp_path, nodes="id,label,x\n" + people, edges="source,target\nn0,n1\n")
    monkeypatch.setenv("BUP_FOLDERS", str(tmp_path))
    monkeypatch.setattr(training, "training_queue", lambda: InstantQueue())
    app = open_app(graph=f"folder:{tmp_path}", left_out="![](http://x.test)", per_class="2")
    (told,) = [m.value for m in app.markdown if "without" in m.value]
    assert not app.exception and r"\!\[\]\(http\:" in told


def test_compare_says_over_reruns_what_a_single_split_cannot(open_app, monkeypatch):
    from dashboard.views import reruns

    def rows(plan, stamps):
        """Four seeds of each; the second method has a lower ECE on every split."""
        found = [run for run in plan.runs if run.spec.seed < 4]
        labels = list(dict.fromkeys(run.variant for run in found))
        return pd.DataFrame(
            run.identifiers
            | {"accuracy": 80.0, "nll": 0.6, "brier": 0.3, "aurc": 7.0}
            | {"ece": 6 + run.spec.seed - labels.index(run.variant) * (3 + run.spec.seed / 10)}
            for run in found
        )

    app = open_app("compare")
    assert any("any difference may be chance" in c.value for c in app.caption)
    assert [b.label for b in app.button if "seeds" in b.label] == ["Train 5 seeds of each"]
    monkeypatch.setattr(reruns, "stored_rows", rows)
    app.run()
    assert not app.exception, app.exception
    (said,) = [m.value.replace("\\", "") for m in app.markdown if "on the same splits" in m.value]
    assert "is 3.15 below that of BUP (this run)" in said and "better." in said
    assert any("4 seeds that all of them have" in c.value for c in app.caption)


def test_reproduce_is_worked_out_once_until_a_run_is_stored(open_app, monkeypatch, cora):
    summed, summary = [], experiments.summary
    monkeypatch.setattr(experiments, "summary", lambda *a: summed.append(1) or summary(*a))
    app = open_app("reproduce")
    app.run()
    assert not app.exception and len(summed) == 2, "as measured, and trained here"

    def here() -> int:
        table = app.dataframe[0].value.set_index(["per class", "method", "whose"])
        return table.reruns[20, "gcn", "trained here"]

    before = here()
    spec = next(
        run.spec
        for run in experiments.plan_runs(experiments.QUESTIONS["q1"], {"cora": cora})
        if run.variant == "gcn" and run.per_class == 20 and run.spec.seed == 1
    )
    (result,) = fitting.fit_specs(cora, [spec])
    try:
        fitting.save(result, cora)
        app.run()
        assert not app.exception and len(summed) == 3 and here() == before + 1
    finally:
        Store().path(run_of(spec, cora)).unlink()


def test_walking_keeps_to_what_the_filter_shows(open_app, cora):
    app = open_app(node="35", show="Only mistakes")
    for key in ("walk_N", "walk_N", "walk_P", "walk_X"):
        app.button(key=key).click().run()
        assert not app.exception
        assert any("In truth it is" in m.value for m in app.markdown), app.session_state.node
    places = [cora.find(n) for n in app.session_state.trail]
    assert places[1] > places[0] and places[2] > places[1]


def test_the_way_back_is_open_on_every_page(open_app, go_to):
    app = open_app(node="35")
    app.button(key="walk_N").click().run()
    app = go_to(app, "structure")
    assert app.session_state.node != "35"
    app.button(key="walk_B").click().run()
    assert not app.exception and app.session_state.node == "35"
    assert app.button(key="walk_B").disabled


def test_the_way_back_leads_on_from_where_the_browser_has_gone_back_to(open_app):
    app = open_app(node="35")
    for key in ("N", "N", "N"):
        app.button(key=f"walk_{key}").click().run()
    second = app.session_state.trail[1]
    app.session_state.node = second  # what the browser's own back does
    app.run()
    app.button(key="walk_B").click().run()
    assert app.session_state.node == "35" and app.button(key="walk_B").disabled
    for key in ("N", "P", "B"):  # there and back on foot is a way, too
        app.button(key=f"walk_{key}").click().run()
    assert not app.exception and app.session_state.node == second


@pytest.mark.parametrize("page", ["reliability", "ood", "structure", "compare", "graph"])
def test_no_node_has_a_card_or_a_ring_before_somebody_picks_one(open_app, cora, page):
    def cards(app):
        return [h for h in app.get("html") if 'class="picked"' in h.proto.body]

    def rings(app):
        sent = [element.proto.json for element in app.get("bidi_component")]
        return [mark for text in sent if '"marks"' in text for mark in json.loads(text)["marks"]]

    link = {"left_out": "Rule Learning"}
    before = open_app(page, **link)
    assert not before.exception and not cards(before) and not rings(before)
    measured = next(i for i in make_split(cora, left_out=(6,)).test if cora.labels[i] != 6)
    after = open_app(page, node=cora.node_id(measured), **link)
    assert not after.exception and len(cards(after)) == 1 and rings(after)


def test_an_id_that_is_typed_whole_is_found_first(open_app):
    app = open_app()
    app.text_input(key="search").set_value("35").run()
    found = next(d.value for d in app.dataframe if list(d.value)[:2] == ["id", "predicted"])
    assert found.id.iloc[0] == "35" and found.id.iloc[1].startswith("35") and len(found) > 100
    assert not found.id.iloc[-1].startswith("35")


def test_a_selection_can_be_taken_away(open_app, cora, monkeypatch):
    offered = {}
    monkeypatch.setattr(
        st, "download_button", lambda label, data, name, *_, **__: offered.update({name: data})
    )
    app = open_app()
    app.session_state.group = [3, 35]
    app.run()
    assert not app.exception
    (make,) = (data for name, data in offered.items() if name.endswith("-selection.csv"))
    ids = [line.split(",")[0] for line in make().splitlines()]
    assert ids == ["id", cora.node_id(3), cora.node_id(35)]


def test_links_may_be_typed_between_spaces_and_are_shown_on_the_map(open_app, cora):
    near = cora.node_id(cora.neighbours(cora.find("1114118"))[0])
    app = open_app(node="1114118", tab="What if?", unlink=f'["{near}"]', link_to="35 1105887,887")
    assert not app.exception and not app.warning
    sent = sent_to_map(app)
    assert sent["cut"] == [cora.find(near)]
    assert sent["joined"] == [cora.find(n) for n in ("35", "1105887", "887")]
    app.text_input(key="link_to").set_value("1114118").run()
    assert "1114118 cannot be linked to itself" in app.warning[0].value


def test_the_colour_of_two_maps_is_part_of_the_link(open_app):
    app = open_app("compare", pair_colour="Degree")
    assert not app.exception and app.selectbox(key="pair_colour").value == "degree"


def test_the_script_of_a_session_leaves_the_environment_alone(open_app, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert not open_app().exception and "PYTHONPATH" not in os.environ
