"""Texts as features, and what a node speaks of."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from streamlit.testing.v1 import AppTest

import bup
from bup.datasets.synthetic.vocabulary import TOPICS, words_of
from bup.graph.words import shared_words, speaks_of, tfidf, tokens

TEXTS = ["Graphs link nodes", "nodes of Graphs", "the quick fox links nodes", "a quick fox"]


def test_plain_english_is_what_scikit_learn_makes_of_it():
    features, words = tfidf(TEXTS)
    theirs = TfidfVectorizer(stop_words="english", min_df=2)
    expected = theirs.fit_transform(TEXTS)
    assert words == tuple(theirs.get_feature_names_out())
    np.testing.assert_allclose(features.toarray(), expected.toarray(), rtol=1e-6)


def test_writing_without_spaces_comes_in_pairs_and_an_emoji_is_a_word():
    assert tokens("图神经网络 GNN-2 🦊x_y 2024 v2") == [
        "图神",
        "神经",
        "经网",
        "网络",
        "gnn",
        "🦊",
        "v2",
    ]
    assert tokens("北京 ネコ") == ["北京", "ネコ"]


@given(st.text())
def test_no_text_breaks_the_words(text):
    assert all(token and token == token.strip() for token in tokens(text))


def test_a_node_speaks_of_what_is_strong_in_it_and_rare_elsewhere(path_graph):
    features = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 3], [1, 0, 1], [0, 0, 0]], np.float32)
    graph = dataclasses.replace(path_graph, features=features, words=("all", "two", "last"))
    assert speaks_of(graph, 0) == ["two", "all"] and speaks_of(graph, 2, most=1) == ["last"]
    assert shared_words(graph, 0, 1) == ["two", "all"] and shared_words(graph, 0, 2) == ["all"]
    assert speaks_of(graph, 4) == [] == shared_words(graph, 0, 4)
    with pytest.raises(bup.BupError, match="no words"):
        speaks_of(path_graph, 0)


def test_the_synthetic_graph_has_words_to_read():
    graph = bup.load_graph("synthetic")
    assert graph.words is not None and len(set(graph.words)) == graph.num_features
    # A class uses the words of its own topic more than any other class does.
    topic = np.array([[w.split("-")[0] in words for w in graph.words] for words in TOPICS[:7]])
    uses = np.array([graph.features[graph.labels == c].mean(axis=0) for c in range(7)]) @ topic.T
    assert (uses.argmax(axis=0) == np.arange(7)).all()
    assert bup.load_graph("synthetic").digest == graph.digest


def test_any_number_of_words_and_topics_gets_different_words():
    topics = np.random.RandomState(0).randint(0, 50, 30_000)
    assert len(set(words_of(topics))) == 30_000
    assert len(set(words_of(np.zeros(3_000, int)))) == 3_000


def spoken_page(node: int) -> None:
    from types import SimpleNamespace

    import bup
    from dashboard.views.explore.inspector import node_words

    graph = bup.load_graph("synthetic:nodes=60,words=200,mean_degree=8")
    node_words(SimpleNamespace(graph=graph, node=node))


def test_the_inspector_shows_the_words():
    graph = bup.load_graph("synthetic:nodes=60,words=200,mean_degree=8")
    node = int(graph.degree.argmax())
    page = AppTest.from_function(spoken_page, kwargs={"node": node}, default_timeout=60).run()
    assert not page.exception
    said, shared = (element.value for element in page.markdown)
    assert said.startswith("Most informative words") and speaks_of(graph, node)[0] in said.replace(
        "\\", ""
    )
    assert shared.count("\n") == 6 and "more neighbours" in shared
