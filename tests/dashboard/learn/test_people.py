"""The lesson about things that people file differently."""

from types import SimpleNamespace

import numpy as np
import pytest

import bup
from dashboard.figures.learn.people import Filed, people_figure
from dashboard.learn import people
from dashboard.ui.theme import Theme


@pytest.fixture(scope="module")
def almanac() -> bup.Graph:
    return bup.load_graph("almanac")


def case_of(graph: bup.Graph, told: list[int]) -> SimpleNamespace:
    probs = np.full((graph.num_nodes, 8), 0.1)
    probs[:, 2] = 0.3
    split = SimpleNamespace(train=np.array(told, dtype=int))
    return SimpleNamespace(graph=graph, result=SimpleNamespace(split=split, probs=probs))


def test_the_authors_split_things_of_the_almanac_into_its_classes(almanac):
    for name, split in people.AUTHORS.items():
        assert almanac.find(name) >= 0 and set(split) <= set(almanac.class_names), name
        assert sum(split.values()) == pytest.approx(1) and min(split.values()) > 0, name
        own = almanac.class_names[almanac.labels[almanac.find(name)]]
        assert split[own] == max(split.values()), f"{name}: the almanac files it elsewhere"


def test_a_thing_whose_class_was_told_is_left_out(almanac):
    told = almanac.find("chess")
    every = people.things(case_of(almanac, []))
    rest = people.things(case_of(almanac, [told]))
    assert {t.name for t in every} - {t.name for t in rest} == {"chess"}


def test_a_class_replaces_the_authors_and_ties_agree_with_either(almanac):
    place = almanac.class_names.index
    case, split = case_of(almanac, []), [0] * 8
    split[place("computing")], split[place("sports and games")] = 3, 3
    chess = next(t for t in people.things(case, {"chess": tuple(split)}) if t.name == "chess")
    assert chess.disagreement == 0.5 and chess.doubt == pytest.approx(0.7) and chess.agrees
    alone = next(t for t in people.things(case) if t.name == "chess")
    assert alone.disagreement == pytest.approx(0.1) and not alone.agrees


def test_the_chart_has_a_bar_for_people_and_a_mark_for_the_model():
    things = [
        Filed("<b>a", "one", 0.5, 0.1, agrees=True),
        Filed("b", "two", 0.2, 0.3, agrees=False),
    ]
    alone = people_figure(things, "us", False, Theme())
    assert [trace.name for trace in alone.data] == ["us"]
    assert alone.data[0].x == (0.5, 0.2) and alone.layout.yaxis.ticktext[0] == "&lt;b&gt;a"
    both = people_figure(things, "us", True, Theme()).data[1:]
    assert [(trace.x, trace.y, trace.marker.symbol) for trace in both] == [
        ((0.1,), (0,), "diamond"),
        ((0.3,), (1,), "x"),
    ]


def test_a_thing_is_filed_and_the_next_one_comes(visit):
    app = visit("people")
    first = app.selectbox("people_thing").value
    app.pills(f"file_{first}").set_value(2).run()
    assert not app.exception and not app.error
    next(b for b in app.button if b.label == "Next thing").click().run()
    second = app.selectbox("people_thing").value
    assert second != first and bup.load_graph("almanac").about(
        bup.load_graph("almanac").find(second)
    ) in [caption.value for caption in app.caption]
