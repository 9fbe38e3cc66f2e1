"""Almanac: the loader."""

import pytest

import bup
from bup.datasets import almanac

LINES = {
    "big-animals.txt": "ox | strong horned puller of carts | cart\nelk | shy deer of the north |\n",
    "things.txt": "cart | wooden box on wheels | elk\n",
}


@pytest.fixture
def write(tmp_path):
    """Write the small example, with changes, and load it."""

    def write_and_load(**changes: str) -> bup.Graph:
        for file, text in (LINES | {f"{k}.txt": v for k, v in changes.items()}).items():
            (tmp_path / file).write_text(text, "utf-8")
        return almanac.load("small", tmp_path)

    return write_and_load


def test_lines_become_a_graph(write):
    graph = write()
    assert graph.ids == ("ox", "elk", "cart") and graph.class_names == ("big animals", "things")
    assert graph.labels.tolist() == [0, 0, 1] and graph.edges.T.tolist() == [[0, 2], [1, 2]]
    assert graph.titles == (
        *("strong horned puller of carts", "shy deer of the north"),
        "wooden box on wheels",
    )
    assert bup.graph.words.speaks_of(graph, 2) == ["box", "wheels", "wooden"]
    assert graph.noun.count(3) == "3 things"


@pytest.mark.parametrize(
    ("things", "message"),
    [
        ("cart | wooden box on wheels", "things.txt, line 1: .* is not a thing: write 'title"),
        ("cart | a box | elk | ox", "things.txt, line 1: .* is not a thing"),
        ("cart | | elk", "things.txt, line 1: .* is not a thing"),
        ("cart | a box | ox", "line 1: 'cart' links to 'ox': this link is already in big-"),
        ("cart | a box |\n\n", "things.txt, line 2: '' is not a thing"),
        ("cart | a box |\nelk | a deer |", "line 2: 'elk' is already in big-animals.txt, line 2"),
        ("cart | a box | cart", "line 1: 'cart' links to 'cart': a thing does not link to itself"),
        ("cart | a box | elk; yak", "line 1: 'cart' links to 'yak': no line has this title"),
        ("cart | a box | elk; elk", "things.txt, line 1: keep one of the two"),
    ],
)
def test_a_wrong_line_is_named(write, things, message):
    with pytest.raises(bup.BupError, match=message):
        write(things=things)
