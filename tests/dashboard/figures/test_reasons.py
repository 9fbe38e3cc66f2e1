import dataclasses

import numpy as np
import pytest

import bup
from bup.explanation.reasons import Reasoner
from dashboard.figures import reasons
from dashboard.ui.theme import Theme
from tests.support.figures import LIGHT, NASTY, texts

NAME = "synthetic:nodes=120,classes=3,words=40,mean_degree=5"


@pytest.fixture(scope="module")
def graph():
    return bup.load_graph(NAME)


@pytest.fixture(scope="module", params=["bup", "gpn"])
def reasoner(request, graph):
    return Reasoner(graph, bup.fit(graph, request.param, per_class=5, epochs=5, validation=20))


def lengths(figure):
    """The length of the bar in each row."""
    bars = [trace for trace in figure.data if trace.type == "bar"]
    rows = {row: x for bar in bars for row, x in zip(bar.y, bar.x, strict=True)}
    return [rows[row] for row in range(len(rows))]


@pytest.mark.parametrize("theme", [LIGHT, Theme(dark=True, large=True)])
def test_bars_sum_to_the_gap_and_carry_their_nodes(reasoner, theme):
    found = reasoner.explain(35)
    figure = reasons.reasons_figure(found, theme, most=4)
    values = lengths(figure)
    assert sum(values) == pytest.approx(found.gap, abs=reasons.LEAST_REMAINDER)
    labels = list(figure.layout.yaxis.ticktext)
    assert ("the remainder" in labels) == bool(found.remainder_name)
    clicked = {}
    for bar in figure.data:
        if bar.type == "bar" and bar.customdata is not None:
            clicked |= dict(zip(bar.customdata.tolist(), bar.x, strict=True))
    strongest = found.nodes[:4].tolist()
    assert clicked == {node: pytest.approx(found.contribution(node)) for node in strongest}
    assert values[:4] == sorted(values[:4], reverse=True)


def test_only_nodes_whose_class_was_told_have_a_diamond(reasoner):
    node = int(reasoner.graph.degree.argmax())
    found = reasoner.explain(node)
    figure = reasons.reasons_figure(found, LIGHT, most=len(found.nodes))
    (told,) = [trace for trace in figure.data if trace.type == "scatter"]
    ids = [figure.layout.yaxis.ticktext[row].split("<br>")[0] for row in told.y]
    train = set(reasoner.result.split.train.tolist()) - {node}
    expected = {reasoner.graph.node_id(n) for n in found.nodes if n in train}
    assert expected and set(ids) - {"the node itself"} == expected


def test_a_node_alone_has_one_bar(graph):
    lonely = dataclasses.replace(graph, edges=np.empty((2, 0), dtype=np.int64))
    reasoner = Reasoner(lonely, bup.fit(lonely, per_class=5, epochs=3, validation=20))
    figure = reasons.reasons_figure(reasoner.explain(7), LIGHT)
    (label,) = figure.layout.yaxis.ticktext
    assert label.startswith("the node itself<br>")


def test_below_each_name_are_the_words_that_contribute_most_in_its_direction(reasoner):
    found = reasoner.explain(35)
    figure = reasons.reasons_figure(found, LIGHT, most=6)
    labels, values = list(figure.layout.yaxis.ticktext), lengths(figure)
    nodes = {bar: node for node, bar in zip(found.nodes, found.contributions, strict=True)}
    for label, value in zip(labels[:6], values, strict=False):
        node = nodes[value]
        row = dict(found.strongest_words(node, 9))
        said = label.split("<sup>")[1].removesuffix("</sup>").split(", ")
        assert said[0] == next(word for word, v in row.items() if v * value > 0)
        assert all(row[word] * value > 0 for word in said if word in row) and len(said) <= 3
    bare = dataclasses.replace(found, graph=dataclasses.replace(found.graph, words=None))
    assert not any("<sup>" in text for text in texts(reasons.reasons_figure(bare, LIGHT)))


def test_bars_of_a_group_are_shares_of_all_support(reasoner):
    found = reasoner.explain_group(range(30))
    figure = reasons.group_figure(found, LIGHT, most=5)
    table = found.table()
    largest = table["share"].to_numpy()[np.argsort(-table["share"].abs(), kind="stable")[:5]]
    assert lengths(figure) == pytest.approx(sorted(largest, reverse=True))
    assert table["share"][table["share"] > 0].sum() == pytest.approx(1)


def test_markup_in_ids_and_titles_is_shown_not_read(graph):
    nasty = dataclasses.replace(
        graph,
        ids=tuple(f"{NASTY}{i}" for i in range(graph.num_nodes)),
        titles=(NASTY,) * graph.num_nodes,
    )
    reasoner = Reasoner(nasty, bup.fit(nasty, per_class=5, epochs=3, validation=20))
    for figure in (
        reasons.reasons_figure(reasoner.explain(0), LIGHT),
        reasons.group_figure(reasoner.explain_group([0, 1]), LIGHT),
    ):
        assert not any("<img" in text or "<b>" in text for text in texts(figure))
