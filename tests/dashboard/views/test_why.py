"""The tab Why?, and what follows from it: the map, What if?, the card and Compare."""

import dataclasses
import json
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bup
from bup.explanation import sentences
from bup.explanation.changes import ChangeSearch, without
from bup.explanation.reasons import Reasoner
from bup.imported import predictions
from bup.methods import METHODS, complete
from bup.run.spec import Spec
from bup.training import fitting
from bup.training.torch_model import run_of_predictions
from dashboard.cache import run_cache
from dashboard.session import run_link
from dashboard.ui.markdown import bold
from dashboard.ui.numbers import percent
from tests.dashboard.test_pages import sent_to_map

MISTAKE = "1114118"  # a paper on neural networks, taken for one on genetic algorithms
TOLD = "119712"  # the paper that it cites


def texts(app: AppTest) -> list[str]:
    return [element.value for element in app.markdown]


def loaded(cora, method: str = "bup") -> run_cache.LoadedRun:
    settings = tuple(METHODS[method].app_defaults.items())
    found = run_cache.find(complete(Spec("cora", method, settings=settings)), cora)
    assert found is not None
    return found


def save(graph: bup.Graph, method: str = "bup", **more: object) -> None:
    opened = METHODS[method].app_defaults
    fitting.save(bup.fit(graph, method, **opened | more), graph)


@pytest.mark.parametrize("method", ["bup", "gcn"])
def test_the_sentences_are_those_of_the_reasons_and_the_map_lights_them(open_app, cora, method):
    app = open_app(node=MISTAKE, tab="Why?", method=METHODS[method].short)
    assert not app.exception and not app.info
    run = loaded(cora, method)
    reasoner = Reasoner(cora, run.result)
    reasons, search = reasoner.explain(MISTAKE), ChangeSearch(reasoner)
    links, words = search.fewest_links(reasons), search.fewest_words(reasons)
    assert sentences.because(reasons, bold) in texts(app)
    changes = sentences.unless(reasons, search, links, bold)
    assert f"{changes} {sentences.without_words(reasons, words, bold)}".strip() in texts(app)
    answer, confidence = search.answer_on(reasons.node, without(cora, links.links))
    outcome = f"{bold(cora.class_names[answer])}, "
    assert f"it would say {outcome}{percent(confidence, 0)} sure" in changes
    lit = sent_to_map(app)["reasons"]
    strongest = {int(n): reasons.contribution(n) for n in reasons.nodes if n != reasons.node}
    assert lit["names"] == ["Genetic Algorithms", "Neural Networks"]
    for node, value in lit["nodes"]:
        assert value == pytest.approx(strongest[node])
    assert cora.find(TOLD) == lit["nodes"][0][0]
    assert ("**Why this doubt**" in texts(app)) and bool(app.get("bidi_component"))
    assert any("does not pass variances" in t for t in texts(app)) == (method == "gcn")
    app.segmented_control(key="tab").set_value("Links").run()
    assert sent_to_map(app)["reasons"] is None


def test_a_click_removes_the_link_and_the_answer_is_the_one_promised(open_app):
    app = open_app(node=MISTAKE, tab="Why?")
    (promised,) = re.findall(
        r"Without that link it would say (\*\*.*?\*\*), (\d+%)", str(texts(app))
    )
    button = app.button(key="remove_links")
    assert TOLD in button.label
    button.click().run()
    assert not app.exception and app.session_state.tab == "What if?"
    assert app.multiselect(key="unlink").value == [TOLD]
    (said,) = [text for text in texts(app) if text.startswith("The model would say")]
    assert said.startswith(f"The model would say {promised[0]} instead of Genetic Algorithms")
    (sure,) = re.findall(r"([\d.]+)% sure instead", said)
    assert round(float(sure)) == int(promised[1][:-1])
    assert "Message uncertainty" in said


def test_what_if_answers_for_methods_without_variances(open_app):
    app = open_app(node=MISTAKE, tab="What if?", method="GCN", unlink=json.dumps([TOLD]))
    assert not app.exception and not app.info
    (said,) = [text for text in texts(app) if text.startswith("The model would say")]
    assert "**Neural Networks** instead of" in said and "uncertainty" not in said


def test_a_link_further_away_can_be_removed_too(open_app, cora):
    near = next(int(n) for n in cora.neighbours(cora.find(MISTAKE)) if cora.degree[n] > 1)
    far = next(int(n) for n in cora.neighbours(near) if cora.node_id(n) != MISTAKE)
    name = f"{cora.node_id(near)} – {cora.node_id(far)}"
    app = open_app(node=MISTAKE, tab="What if?", unlink=json.dumps([name, "35 – 1128945x"]))
    assert not app.exception and app.multiselect(key="unlink").value == [name]
    search = loaded(cora).change_search
    probs = search.probabilities(cora.find(MISTAKE), without(cora, [tuple(sorted((near, far)))]))
    (said,) = [text for text in texts(app) if text.startswith("The model would")]
    assert percent(float(probs.max())) in said and sent_to_map(app)["cut"] == []


def test_the_class_compared_with_is_in_the_link_until_another_node_is_picked(open_app, cora):
    app = open_app(node=MISTAKE, tab="Why?", against="Theory")
    reasons = loaded(cora).reasons(cora.find(MISTAKE), cora.class_names.index("Theory"))
    assert reasons.rival_name == "Theory" and sentences.because(reasons, bold) in texts(app)
    assert app.query_params["against"] == "Theory"
    box = app.selectbox(key="against")
    assert box.options[0] == "Neural Networks (the true class)"
    assert "Genetic Algorithms" not in box.options
    box.set_value("").run()
    assert "against" not in app.query_params
    box.set_value("Theory").run()
    app.button(key="walk_N").click().run()
    assert app.session_state.against in ("", None) and not app.exception
    app = open_app(node=MISTAKE, tab="Why?", against="Astrology")
    assert not app.exception and "against" not in app.query_params


def test_a_node_that_trained_says_so(open_app, cora):
    node = cora.node_id(loaded(cora).result.split.train[0])
    app = open_app(node=node, tab="Why?")
    assert not app.exception
    assert any("was told the class of this paper itself" in c.value for c in app.caption)


def test_a_node_of_a_class_never_shown_and_a_calibrated_run_say_so(open_app, cora):
    hidden = int(np.flatnonzero(cora.labels == 6)[0])
    app = open_app(node=cora.node_id(hidden), tab="Why?", left_out="Rule Learning")
    assert not app.exception
    assert any("Rule Learning, was never shown" in c.value for c in app.caption)
    save(cora, "gcn", calibrate="temperature")
    app = open_app(node="35", tab="Why?", method="GCN", **{"gcn.calibrate": "temperature"})
    assert any("before calibration" in c.value for c in app.caption)


def test_predictions_without_their_model_say_what_is_missing(open_app, cora):
    probs = np.full((cora.num_nodes, 7), 0.1)
    probs[:, 0] = 0.4
    given = predictions.check(cora, probs)
    (result,) = fitting.fit_specs(cora, [run_of_predictions(cora, given)])
    fitting.save(result, cora)
    chosen = dict(run_link.parameters(result.spec, cora))
    for tab in ("Why?", "What if?"):
        app = open_app(node="35", tab=tab, **chosen)
        assert not app.exception
        assert "came without their model" in app.info[0].value
    assert sent_to_map(open_app(node="35", tab="Why?", **chosen))["reasons"] is None


@pytest.mark.parametrize("tab", ["Why?", "What if?"])
def test_a_method_whose_answer_rests_on_chance_says_why_no_link_can_go(open_app, cora, tab):
    save(cora, "mc_dropout", epochs=100)
    chosen = {"method": METHODS["mc_dropout"].short, "mc_dropout.epochs": "100"}
    app = open_app(node=MISTAKE, tab=tab, **chosen)
    assert not app.exception
    said = " ".join([*texts(app), *(element.value for element in app.info)])
    assert "rests on the average over random dropout too" in said
    assert not [button for button in app.button if button.key == "remove_links"]


def test_a_slow_search_waits_until_somebody_asks(open_app, cora):
    save(cora, "gpn", epochs=3)
    app = open_app(node=MISTAKE, tab="Why?", method="GPN", **{"gpn.epochs": "3"})
    assert not app.exception
    assert not any("Without" in text or "No set of" in text for text in texts(app))
    assert app.button(key="search_change")


def test_a_node_without_links_and_one_with_words(open_app):
    graph = bup.load_graph("almanac")
    lonely = int(np.flatnonzero(graph.degree == 0)[0])
    save(graph)
    app = open_app(graph="Almanac", node=graph.node_id(lonely), tab="Why?")
    assert not app.exception
    assert any("has no links to take away" in text for text in texts(app))
    assert any("of its own words (" in text for text in texts(app))
    app.segmented_control(key="tab").set_value("What if?").run()
    assert not app.exception


def test_the_card_and_compare_say_why(open_app, cora):
    app = open_app("compare", node=MISTAKE, rivals=["GCN"])
    assert not app.exception
    both = [loaded(cora, method).reasons(cora.find(MISTAKE)) for method in ("bup", "gcn")]
    (card,) = (e.proto.body for e in app.get("html") if 'class="picked"' in e.proto.body)
    assert sentences.because(both[0], lambda name: f"<b>{name}</b>") in card
    for reasons, label in zip(both, ("BUP (this run)", "GCN"), strict=True):
        share = np.abs(reasons.contribution(cora.find(TOLD))) / np.abs(reasons.contributions).sum()
        assert any(sentences.because(reasons, bold) in text for text in texts(app))
        (difference,) = [text for text in texts(app) if text.startswith("They differ most")]
        assert bold(TOLD) in difference
        assert f"{percent(float(share), 0)} for **Genetic Algorithms** under" in difference
        assert label.split()[0] in difference


def test_methods_with_different_answers_are_compared_about_both(open_app, cora):
    mine, theirs = loaded(cora), loaded(cora, "gcn")
    differ = mine.result.probs.argmax(1) != theirs.result.probs.argmax(1)
    node = int(np.flatnonzero(differ)[0])
    app = open_app("compare", node=cora.node_id(node), rivals=["GCN"])
    assert not app.exception
    names = [r.table.predicted.iloc[node] for r in (mine, theirs)]
    said = " ".join(texts(app))
    for one, other in (names, names[::-1]):
        assert f"It says **{one}** rather than **{other}**" in said


def test_where_the_remainder_outweighs_all_words_the_sentence_says_so(cora):
    reasons = loaded(cora).reasons(cora.find(MISTAKE))
    spec = dataclasses.replace(reasons.result.spec, method="gpn", settings=())
    result = dataclasses.replace(reasons.result, spec=spec)
    far = dataclasses.replace(reasons, result=result, gap=10.0)
    assert "mainly because of densities and biases" in sentences.because(far)
    assert "it is linked to" in sentences.because(dataclasses.replace(far, gap=reasons.gap))
