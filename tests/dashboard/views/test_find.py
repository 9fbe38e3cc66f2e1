"""Finding nodes by name, id, title and word."""

import numpy as np
import pandas as pd
import pytest

from bup.graph import Graph
from bup.graph.words import nodes_with
from dashboard.views.explore.find import AFTER, BEFORE, matches

LINE = "clever soft sea creature that holds what it eats with eight arms full of suckers"


def graph_of(ids, titles=None, words=None, features=None) -> Graph:
    n = len(ids)
    return Graph(
        name="made up",
        features=np.eye(n, dtype=np.float32) if features is None else features,
        edges=np.zeros((2, 0), dtype=np.int64),
        labels=np.zeros(n, dtype=np.int64),
        class_names=("a",),
        ids=ids,
        titles=titles,
        words=words,
    )


def found(graph: Graph, text: str) -> dict[int, str]:
    columns = {"id": graph.ids} | ({"title": graph.titles} if graph.titles else {})
    table = pd.DataFrame(columns)
    by_title = graph.titles is not None and graph.names is graph.titles
    table.attrs["named_by"] = "title" if by_title else "id"
    return matches(graph, table, text)


THINGS = graph_of(
    ("swarm", "octopus", "arms", "Arms race"),
    ("farms of bees", LINE, "parts of a body", "two rivals"),
)


def test_names_come_first_then_whole_words_then_parts_of_words():
    assert list(found(THINGS, "ARMS")) == [2, 3, 1, 0]
    assert list(found(THINGS, "arm")) == [2, 3, 0, 1]
    assert found(THINGS, "nothing") == {}


def test_what_matched_is_said_with_the_words_around_it():
    where = found(THINGS, "arms")
    assert where[2] == where[3] == "name"
    assert where[1] == "…with eight arms full of suckers"
    assert "eight arms" in where[1] and len(where[1]) <= BEFORE + AFTER + 12


def test_a_graph_named_by_titles_is_searched_by_id_too():
    people = graph_of(("p1", "p2", "p31"), ("Ann", "Bob", "Cid"))
    assert found(people, "p31") == {2: "id"} and found(people, "bo") == {1: "name"}


def test_numbers_are_found_as_ids():
    papers = graph_of(("135", "35", "351"))
    assert found(papers, "35") == {1: "id", 2: "id", 0: "id"}
    assert list(found(papers, "35")) == [1, 2, 0]


@pytest.mark.parametrize("text", ["(", "[a", "\\", "a|b", "*"])
def test_what_looks_like_a_pattern_is_only_text(text):
    assert list(found(graph_of(("a", f"x{text}y", "b"), None), text)) == [1]


def test_words_among_the_features_are_found():
    graph = graph_of(("a", "b", "c"), words=("Sea", "arms", "sea"), features=np.eye(3)[::-1].copy())
    assert nodes_with(graph, "SEA").tolist() == [0, 2]
    assert found(graph, "sea") == {0: "words", 2: "words"}
    assert nodes_with(graph_of(("a",)), "sea").size == 0
