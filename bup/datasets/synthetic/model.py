"""Drawn graphs: their parameters and names, the model that these determine, and drawing from it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from bup.datasets.synthetic.vocabulary import words_of
from bup.errors import BupError, quote
from bup.graph import Graph, simple_edges
from bup.graph.noun import PAPER
from bup.io.lazy import sparse

NAME = "synthetic"
MAX_ENDPOINTS = 40_000_000  # nodes * mean_degree: twenty million links

CLASS_SKEW = 0.75  # the k-th largest class has a share ∝ k^-0.75, close to Cora's
TAIL = 2.0  # P(propensity > x) ∝ x^-2: most nodes have few links, some very many
WORDS_PER_DOCUMENT = 19.0  # Poisson mean; about 18 remain once repetitions are dropped
COMMON_WORDS = 10.0  # Zipf-Mandelbrot shift: the commonest word is in about a third of documents

NOTE = "Drawn from a known model: the true probability of every class of every node can be computed"


def _parameter(default: Any, low: int, high: int) -> Any:
    return field(default=default, metadata={"range": (low, high)})


@dataclass(frozen=True)
class Parameters:
    """Everything that determines a synthetic graph; the defaults resemble Cora.

    ``mean_degree`` and ``homophily`` are expectations over the links before repeated ones are
    dropped: the default graph has about 3.84 links per node, one of 100 nodes 3.3.
    """

    nodes: int = _parameter(2708, 10, 2_000_000)
    classes: int = _parameter(7, 2, 50)
    words: int = _parameter(1433, 1, 100_000)
    mean_degree: float = _parameter(3.9, 0, 1000)
    homophily: float = _parameter(0.81, 0, 1)  # share of the links that stay inside a class
    # A class uses its own words 1 + this times as often; 0: words tell nothing of the class.
    feature_strength: float = _parameter(1.4, 0, 1000)
    seed: int = _parameter(0, 0, 2**32 - 1)

    def __post_init__(self) -> None:
        for parameter in fields(self):
            kind: Any = type(parameter.default)
            name, (low, high) = parameter.name, parameter.metadata["range"]
            value = getattr(self, name)
            kinds = (int, np.integer) if kind is int else (int, float, np.integer, np.floating)
            if not isinstance(value, kinds) or not low <= value <= high:
                number = "a whole number" if kind is int else "a number"
                raise BupError(f"{name} must be {number} from {low} to {high}, got {value!r}")
            # Equal graphs must have equal names, so 1, 1.0 and -0.0 may not stay as they are.
            object.__setattr__(self, name, kind(value) + kind(0))
        if self.mean_degree > self.nodes - 1:
            raise BupError(
                f"mean_degree must be at most nodes - 1 = {self.nodes - 1}, got {self.mean_degree}"
            )
        if self.nodes * self.mean_degree > MAX_ENDPOINTS:
            raise BupError(
                f"nodes * mean_degree must be at most {MAX_ENDPOINTS}, "
                f"got {self.nodes} * {self.mean_degree}: ask for fewer nodes or links"
            )


def parse_name(name: str) -> Parameters:
    """The parameters of ``synthetic`` or, say, ``synthetic:homophily=0.6,nodes=500,seed=3``."""
    head, colon, tail = name.partition(":")
    if head != NAME:
        raise BupError(
            f"a synthetic graph is called {NAME!r} or '{NAME}:parameter=value', got "
            f"{quote(name, 200)}"
        )
    kinds: dict[str, Any] = {p.name: type(p.default) for p in fields(Parameters)}
    values: dict[str, Any] = {}
    for item in tail.split(",") if colon else ():
        key, _, text = (part.strip() for part in item.partition("="))
        if key in values:
            raise BupError(f"{quote(key)} is set twice in {quote(name, 200)}: set it once")
        try:
            values[key] = kinds[key](text)
        except (KeyError, ValueError):
            raise BupError(
                f"cannot read {quote(item)} in {quote(name, 200)}: write parameter=value with the "
                f"parameters {', '.join(kinds)}"
            ) from None
    return Parameters(**values)


def graph_name(parameters: Parameters) -> str:
    """The name of a graph: the parameters that differ from their default, in order."""
    changed = [
        f"{parameter.name}={str(getattr(parameters, parameter.name)).removesuffix('.0')}"
        for parameter in fields(parameters)
        if getattr(parameters, parameter.name) != parameter.default
    ]
    return f"{NAME}:{','.join(changed)}" if changed else NAME


@dataclass(frozen=True, eq=False)
class BlockModel:
    """The rates of the package's docstring."""

    prior: np.ndarray  # [c]
    propensity: np.ndarray  # [n], mean 1
    within_rate: np.ndarray  # [c], the diagonal of link_rate
    across_rate: float  # link_rate between any two different classes
    word_rate: np.ndarray  # [c, f]

    @property
    def link_rate(self) -> np.ndarray:
        """Rates [c, c], symmetric."""
        rate = np.full((len(self.prior), len(self.prior)), self.across_rate)
        np.fill_diagonal(rate, self.within_rate)
        return rate


def make_model(parameters: Parameters) -> BlockModel:
    """The model with these parameters.

    With S = Σ_{i<j} θ_i θ_j, the links expected inside class k are S prior_k² within_rate_k and
    those between classes S (1 - Σ_k prior_k²) across_rate. Asking for a share prior_k * homophily
    of all links inside class k gives small classes as many links per node as large ones.
    """
    prior = np.arange(1, parameters.classes + 1) ** -CLASS_SKEW
    prior /= prior.sum()

    # Evenly spaced quantiles in random order: in a random sample from so heavy a tail, a single
    # node could decide how many links the whole graph has.
    quantile = (np.arange(parameters.nodes) + 0.5) / parameters.nodes
    propensity = stream_of(parameters.seed, "propensity").permutation(quantile ** (-1 / TAIL))
    propensity /= propensity.mean()

    links = parameters.nodes * parameters.mean_degree / 2
    rate = links / ((parameters.nodes**2 - np.sum(propensity**2)) / 2)
    return BlockModel(
        prior=prior,
        propensity=propensity,
        within_rate=rate * parameters.homophily / prior,
        across_rate=float(rate * (1 - parameters.homophily) / (1 - np.sum(prior**2))),
        word_rate=_word_rate(parameters),
    )


def _word_rate(parameters: Parameters) -> np.ndarray:
    """Rates [c, f]: Zipf-like, and every word is the topic word of one class.

    Of words of similar frequency each class gets one, so that no class is recognised merely by
    having the common words.
    """
    rounds = -(-parameters.words // parameters.classes)
    cards = stream_of(parameters.seed, "topics").random_sample((rounds, parameters.classes))
    topic = cards.argsort(axis=1).ravel()[: parameters.words]
    own = topic == np.arange(parameters.classes)[:, None]
    rate = (1 + parameters.feature_strength * own) / (np.arange(parameters.words) + COMMON_WORDS)
    return rate * (WORDS_PER_DOCUMENT / rate.sum(axis=1, keepdims=True))


def stream_of(seed: int, purpose: str) -> np.random.RandomState:
    # RandomState and not a Generator: NumPy promises never to change its numbers, so a name means
    # the same graph under every version.
    purposes = ("propensity", "topics", "classes", "links", "words")
    return np.random.RandomState([seed, purposes.index(purpose)])


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
