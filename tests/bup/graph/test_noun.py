"""Texts about nodes, in the words of a graph."""

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bup
from bup.graph.noun import NODE, PAPER, Noun
from bup.methods import METHODS
from dashboard.ui import wording


def test_a_text_about_nodes_is_said_of_what_they_are():
    article = Noun("article", "articles")
    text = "A node is linked to nodes. Nodes of a node's kind; nodewise stays."
    assert article.apply_to(text) == (
        "An article is linked to articles. Articles of an article's kind; nodewise stays."
    )
    assert PAPER.apply_to("Is a well-linked node a certain node?") == (
        "Is a well-linked paper a certain paper?"
    )
    assert NODE.apply_to(text) == text


@given(st.text(alphabet="node sANa.-", max_size=40))
def test_nothing_else_of_a_text_changes(text):
    said = PAPER.apply_to(text)
    assert len(re.findall(r"\bnodes?\b", said, re.I)) == 0
    assert said.replace("paper", "node").replace("Paper", "Node") == text


def test_numbers_agree_with_the_noun():
    assert [PAPER.count(n) for n in (0, 1, 2708)] == ["0 papers", "1 paper", "2,708 papers"]


@pytest.mark.parametrize("word", ["", "<b>", "a\nb", "*", "x" * 31, " a"])
def test_a_noun_is_a_word_and_no_markup(word):
    with pytest.raises(bup.BupError, match="a noun for nodes is a word"):
        Noun(word, "nodes")


def test_graphs_know_what_their_nodes_are(cora, path_graph):
    assert (cora.noun, path_graph.noun) == (PAPER, NODE)
    assert bup.load_graph("fewer:synthetic:nodes=60:0.5").noun == PAPER


@pytest.mark.parametrize("method", METHODS)
def test_every_setting_and_choice_has_a_plain_name_of_its_own(method):
    fields = dataclasses.fields(METHODS[method].settings)
    titles = [wording.setting_title(f.name) for f in fields]
    assert len(set(titles)) == len(titles)
    for f in fields:
        assert wording.setting_title(f.name) != f.name
        assert f"`{f.name}`" in wording.setting_help(f)
        named = wording.choice_titles(f)
        assert list(named) == list(f.metadata["choices"])
        assert all(isinstance(title, str) and title for title in named.values())
        assert len(set(named.values())) == len(named)
