"""Almanac: its loader, the standard its text files keep, and that it behaves like a real task."""

import re

import numpy as np
import pytest

import bup
from bup.datasets import almanac
from bup.graph.words import speaks_of

LINES = {
    "big-animals.txt": "ox | strong horned puller of carts | cart\nelk | shy deer of the north |\n",
    "things.txt": "cart | wooden box on wheels | elk\n",
}
GIVE_AWAY = {
    *("animal", "animals", "food", "foods", "drink", "drinks", "sport", "sports", "game", "games"),
    *("music", "musical", "physics", "space", "medicine", "medical", "body", "bodies"),
    *("computing", "computer", "computers", "building", "buildings", "place", "places"),
}


@pytest.fixture
def write(tmp_path):
    """Write the small example, with another file of things, and load it."""

    def write_and_load(things: str = LINES["things.txt"]) -> bup.Graph:
        for name, text in (LINES | {"things.txt": things}).items():
            (tmp_path / name).write_text(text, "utf-8")
        return almanac.load("small", tmp_path)

    return write_and_load


def test_lines_become_a_graph(write):
    graph = write()
    assert graph.ids == ("ox", "elk", "cart") and graph.class_names == ("big animals", "things")
    assert graph.labels.tolist() == [0, 0, 1] and graph.edges.T.tolist() == [[0, 2], [1, 2]]
    assert graph.titles is not None and graph.titles[1] == "shy deer of the north"
    assert speaks_of(graph, 2) == ["box", "wheels", "wooden"]
    assert graph.noun.count(3) == "3 things"


@pytest.mark.parametrize(
    ("things", "message"),
    [
        ("cart | wooden box on wheels", "things.txt, line 1: .* is not a thing: write 'title"),
        ("cart | a box | elk | ox", "things.txt, line 1: .* is not a thing"),
        ("cart | | elk", "things.txt, line 1: .* is not a thing"),
        ("cart | a box |\n\n", "things.txt, line 2: '' is not a thing"),
        ("cart | a box |\nelk | a deer |", "line 2: 'elk' is already in big-animals.txt, line 2"),
        ("cart | a box | cart", "line 1: 'cart' links to 'cart': a thing does not link to itself"),
        ("cart | a box | elk; yak", "line 1: 'cart' links to 'yak': no line has this title"),
        ("cart | a box | elk; elk", "links to 'elk': this link is already in things.txt, line 1"),
        ("cart | a box | ox", "links to 'ox': this link is already in big-animals.txt, line 1"),
    ],
)
def test_a_wrong_line_is_named(write, things, message):
    with pytest.raises(bup.BupError, match=message):
        write(things)


@pytest.fixture(scope="module")
def graph():
    return bup.load_graph("almanac")  # which refuses unknown and repeated things and links


def test_there_are_eight_classes_of_like_size(graph):
    assert graph.num_classes == 8 and 1000 <= graph.num_nodes <= 1500
    sizes = np.bincount(graph.labels)
    assert sizes.min() >= 120 and sizes.max() <= 200


def test_links_are_those_of_a_real_network(graph):
    assert 4 <= np.median(graph.degree) <= 6 and 0.75 <= graph.homophily <= 0.9
    times = np.bincount(graph.degree)
    assert times[30:].sum() >= 16, "hubs"
    assert times[1] >= 40 and times[0] == 10, "leaves, and things that stand alone"


def test_every_line_is_plain_words_that_do_not_name_the_class(graph):
    for title, line in zip(graph.ids, graph.titles, strict=True):
        words = line.split()
        assert re.fullmatch("[a-z]+( [a-z]+)*", line) and 8 <= len(words) <= 15, title
        assert not GIVE_AWAY.intersection(words), title
        own = set(title.partition(" (")[0].split()) - {"a", "and", "of", "the"}
        assert not own.intersection(words), title
    assert (graph.features.count_nonzero(axis=1) >= 6).all()


def test_links_tell_more_than_words_and_not_everything(graph):
    accuracy = {
        method: np.mean(
            [
                bup.evaluate(result)["test"]["accuracy"]
                for result in bup.fit_many(graph, method, per_class=20)
            ]
        )
        for method in ("gcn", "mlp")
    }
    assert 0.8 <= accuracy["gcn"] <= 0.92 and accuracy["mlp"] < accuracy["gcn"] - 0.15
