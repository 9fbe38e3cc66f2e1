"""A graph drawn from a model."""

from __future__ import annotations

import numpy as np

from bup.datasets.synthetic.model import BlockModel, make_model, stream_of
from bup.datasets.synthetic.parameters import NAME, graph_name, parse_name
from bup.datasets.synthetic.vocabulary import words_of
from bup.graph import Graph, simple_edges
from bup.graph.noun import PAPER
from bup.io.lazy import sparse

NOTE = "Drawn from a known model: the true probability of every class of every node can be computed"


def load(name: str) -> Graph:
    """The graph of this name; the same name gives the same graph on every machine."""
    parameters = parse_name(name)
    return sample(make_model(parameters), parameters.seed, graph_name(parameters))


def sample(model: BlockModel, seed: int, name: str = NAME) -> Graph:
    """A graph drawn from the model, in time proportional to its links and words.

    Classes, links and words have random streams of their own: graphs that differ only in
    ``feature_strength`` have the same classes and links.
    """
    uniform = stream_of(seed, "classes").random_sample(len(model.propensity))
    labels = np.searchsorted(np.cumsum(model.prior)[:-1], uniform, side="right")
    return Graph(
        name=name,
        features=_draw_words(model, labels, stream_of(seed, "words")),
        edges=_draw_links(model, labels, stream_of(seed, "links")),
        labels=labels,
        class_names=tuple(_class_name(k) for k in range(len(model.prior))),
        notes=(NOTE,),
        # A word is called after the class that uses it most.
        words=words_of(model.word_rate.argmax(axis=0)),
        noun=PAPER,
    )


def _class_name(k: int) -> str:
    return f"Topic {'A' * (k // 26)}{chr(ord('A') + k % 26)}"  # ..., Topic Z, Topic AA, Topic AB


def _draw_links(model: BlockModel, labels: np.ndarray, stream: np.random.RandomState) -> np.ndarray:
    """Edges [2, m], each with exactly its probability 1 - exp(-θ_i θ_j rate[c_i, c_j]).

    The ordered class pair (r, s) gets Poisson(rate[r, s] Θ_r Θ_s / 2) arrows, Θ_r being the total
    propensity of class r, and each arrow picks its two ends by propensity. By the splitting of
    Poisson counts every ordered pair (i, j) then has an independent Poisson(θ_i θ_j rate / 2)
    number of arrows. Together (i, j) and (j, i) have Poisson(θ_i θ_j rate), which is positive with
    the probability wanted. Arrows (i, i) are independent of all others, so dropping them, unlike
    drawing again, leaves every other pair as it was.
    """
    num_classes = len(model.prior)
    by_class = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[by_class], np.arange(num_classes + 1))
    weights = model.propensity[by_class]
    total = np.bincount(labels, weights=model.propensity, minlength=num_classes)
    arrows = stream.poisson(model.link_rate * np.outer(total, total) / 2)
    class_of_source, class_of_target = np.indices(arrows.shape).reshape(2, -1)
    ends = [
        by_class[_pick(weights, bounds, np.repeat(class_of_end, arrows.ravel()), stream)]
        for class_of_end in (class_of_source, class_of_target)
    ]
    return simple_edges(*ends)


def _draw_words(
    model: BlockModel, labels: np.ndarray, stream: np.random.RandomState
) -> sparse.csr_array:
    """Features [n, f] of zeros and ones, by the same splitting of Poisson counts as the links."""
    num_classes, num_words = model.word_rate.shape
    lengths = stream.poisson(model.word_rate.sum(axis=1)[labels])
    bounds = np.arange(num_classes + 1) * num_words
    words = _pick(model.word_rate.ravel(), bounds, np.repeat(labels, lengths), stream) % num_words
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    features = sparse.csr_array(
        (np.ones(len(words), dtype=np.float32), words.astype(np.int32), starts),
        shape=(len(labels), num_words),
    )
    features.sum_duplicates()
    features.data[:] = 1
    return features


def _pick(
    weights: np.ndarray, bounds: np.ndarray, group: np.ndarray, stream: np.random.RandomState
) -> np.ndarray:
    """For each entry of ``group`` an index from bounds[g] to bounds[g + 1] - 1 by weight."""
    reach = np.concatenate([[0.0], np.cumsum(weights)])
    low = reach[bounds]
    mark = stream.random_sample(len(group))
    mark *= np.diff(low)[group]
    mark += low[group]
    picked = np.searchsorted(reach, mark, side="right") - 1
    # Rounding may carry a mark onto the next group's first index.
    return np.minimum(picked, bounds[group + 1] - 1, out=picked)
