"""Words as features, and the words that characterise a node."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from bup.errors import BupError
from bup.io.lazy import sparse

if TYPE_CHECKING:
    from bup.graph import Graph

MOST_WORDS = 5000
"""The most frequent words become features, so many of them."""

LONGEST_NAME = 40
"""Letters: what is longer is a sentence about a node rather than its name."""

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(
    rf"[{_UNSPACED}]+"  # Chinese, Japanese, Korean: no spaces between words
    r"|[\u2600-\u27bf\U0001f300-\U0001faff]"  # an emoji is a word
    rf"|[^\W\d_{_UNSPACED}][^\W_{_UNSPACED}]+"  # letters, then letters and digits
)
_UNSPACED_RUN = re.compile(rf"[{_UNSPACED}]+")


def tokens(text: str) -> list[str]:
    """The words of a text; scripts without spaces give overlapping pairs of characters."""
    words = []
    for token in _TOKEN.findall(text.lower()):
        if len(token) > 2 and _UNSPACED_RUN.fullmatch(token):
            words += [token[i : i + 2] for i in range(len(token) - 1)]
        else:
            words.append(token)
    return words


def tfidf(texts: Sequence[str], fewest: int = 2) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """TF-IDF features [n, words] of texts, and the words.

    English stop words are left out, and so are words of fewer than ``fewest`` texts unless there
    are no others.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer

    def analyse(text: str) -> list[str]:
        return [token for token in tokens(text) if token not in ENGLISH_STOP_WORDS]

    for least in (fewest, 1):
        vectoriser = TfidfVectorizer(
            analyzer=analyse, min_df=least, max_features=MOST_WORDS, dtype=np.float32
        )
        try:
            features = vectoriser.fit_transform(texts)
        except ValueError:  # no word occurs that often
            continue
        return sparse.csr_array(features), tuple(vectoriser.get_feature_names_out().tolist())
    raise BupError(
        f"there is no word in {len(texts):,} texts, such as {next(iter(texts), '')[:40]!r}: choose "
        "another column of text, or features that are numbers"
    )


def are_names(texts: Sequence[str]) -> bool:
    """Whether these are names rather than numbers or sentences: most are short, and differ by more
    than digits."""
    short = {re.sub(r"\d", "", text) for text in texts if len(text) <= LONGEST_NAME}
    return 2 * len(short) > len(texts)


def speaks_of(graph: Graph, node: int, most: int = 8) -> list[str]:
    """The words that characterise a node: strong in it and rare elsewhere."""
    return _named(graph, *_weights(graph, node), most)


def shared_words(graph: Graph, one: int, other: int, most: int = 5) -> list[str]:
    """The words that two nodes have in common, rare ones first."""
    (words, weights), (others, other_weights) = _weights(graph, one), _weights(graph, other)
    both, here, there = np.intersect1d(words, others, assume_unique=True, return_indices=True)
    return _named(graph, both, weights[here] * other_weights[there], most)


def nodes_with(graph: Graph, word: str) -> np.ndarray:
    """The nodes that have a word as a feature; none if the graph has no words."""
    where = [w for w, text in enumerate(graph.words or ()) if text.lower() == word.lower()]
    return np.unique(sparse.csr_array(graph.features[:, where]).nonzero()[0])


def _weights(graph: Graph, node: int) -> tuple[np.ndarray, np.ndarray]:
    """The features that a node has, and a weight for each: its value times its rarity."""
    if graph.words is None:
        raise BupError(f"the features of {graph.name} have no words: give texts as features")
    row = graph.features[[node]]
    if isinstance(row, np.ndarray):
        words = np.flatnonzero(row[0])
        values = row[0, words]
    else:
        words, values = row.indices, row.data
    return words, values * _rarity(graph)[words]


_rarities: WeakKeyDictionary[Graph, np.ndarray] = WeakKeyDictionary()


def _rarity(graph: Graph) -> np.ndarray:
    """log(n / nodes that have it) [f]: how rare a feature is."""
    if graph not in _rarities:
        having = sparse.csr_array(graph.features).count_nonzero(axis=0)
        _rarities[graph] = np.log(graph.num_nodes / np.maximum(having, 1))
    return _rarities[graph]


def _named(graph: Graph, words: np.ndarray, weights: np.ndarray, most: int) -> list[str]:
    assert graph.words is not None
    best = np.argsort(-weights, kind="stable")[:most]
    return [graph.words[w] for w in words[best].tolist()]
