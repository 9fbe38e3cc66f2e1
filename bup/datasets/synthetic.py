"""A citation network drawn from a model we wrote, so that the true uncertainty is known.

Every document i has a class c_i, a propensity θ_i to be linked, and a bag of words:

    c_i ~ Categorical(prior)
    P(i and j are linked) = 1 - exp(-θ_i θ_j rate[c_i, c_j])
    P(i contains word w)  = 1 - exp(-word_rate[c_i, w])

all independent given the classes: a degree-corrected block model with features. The model's numbers
are kept, so the probability of every class of every node follows from Bayes' rule and can be held
against what a network has learnt. Needs neither disk nor network.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, softmax

from bup.errors import BupError
from bup.graph import UNLABELLED, Graph, simple_edges

NAME = "synthetic"
NOTE = "Drawn from a known model: the true probability of every class of every node can be computed"

CLASS_SKEW = 0.75  # the k-th largest class has a share ∝ k^-0.75, close to Cora's
TAIL = 2.0  # P(propensity > x) ∝ x^-2: most nodes have few links, some very many
WORDS_PER_DOCUMENT = 19.0  # Poisson mean; about 18 remain once repetitions are dropped
COMMON_WORDS = 10.0  # Zipf-Mandelbrot shift: the commonest word is in about a third of documents

MAX_ENDPOINTS = 40_000_000  # nodes * mean_degree: twenty million links
MAX_STATES = 200_000  # joint class assignments that are still enumerated
MAX_SWEEPS = 200
TOLERANCE = 1e-6
DAMPING = 0.3

_KNOBS: dict[str, tuple[type[int] | type[float], int, int]] = {
    "nodes": (int, 10, 2_000_000),
    "classes": (int, 2, 50),
    "words": (int, 1, 100_000),
    "mean_degree": (float, 0, 1000),
    "homophily": (float, 0, 1),
    "feature_strength": (float, 0, 1000),
    "seed": (int, 0, 2**32 - 1),
}


@dataclass(frozen=True)
class Knobs:
    """Everything that determines a synthetic graph; the defaults resemble Cora.

    ``mean_degree`` and ``homophily`` are expectations over the links before repeated ones are
    dropped: the default graph has about 3.84 links per node, one of 100 nodes 3.3.
    """

    nodes: int = 2708
    classes: int = 7
    words: int = 1433
    mean_degree: float = 3.9
    homophily: float = 0.81  # share of the links that stay inside a class
    feature_strength: float = 1.4  # a class uses its own words 1 + this times as often; 0: no hint
    seed: int = 0

    def __post_init__(self) -> None:
        for knob, (kind, low, high) in _KNOBS.items():
            value = getattr(self, knob)
            kinds = (int, np.integer) if kind is int else (int, float, np.integer, np.floating)
            if not isinstance(value, kinds) or not low <= value <= high:
                number = "a whole number" if kind is int else "a number"
                raise BupError(f"{knob} must be {number} from {low} to {high}, got {value!r}")
            # Equal graphs must have equal names, so 1, 1.0 and -0.0 may not stay as they are.
            object.__setattr__(self, knob, kind(value) + kind(0))
        if self.mean_degree > self.nodes - 1:
            raise BupError(
                f"mean_degree must be at most nodes - 1 = {self.nodes - 1}, got {self.mean_degree}"
            )
        if self.nodes * self.mean_degree > MAX_ENDPOINTS:
            raise BupError(
                f"nodes * mean_degree must be at most {MAX_ENDPOINTS}, "
                f"got {self.nodes} * {self.mean_degree}: ask for fewer nodes or links"
            )


def parse_name(name: str) -> Knobs:
    """The knobs of ``synthetic`` or, say, ``synthetic:homophily=0.6,nodes=500,seed=3``."""
    head, colon, tail = name.partition(":")
    if head != NAME:
        raise BupError(f"a synthetic graph is called {NAME!r} or '{NAME}:knob=value', got {name!r}")
    values: dict[str, Any] = {}
    for item in tail.split(",") if colon else ():
        key, _, text = (part.strip() for part in item.partition("="))
        if key in values:
            raise BupError(f"{key} is set twice in {name!r}: set it once")
        try:
            values[key] = _KNOBS[key][0](text)
        except (KeyError, ValueError):
            raise BupError(
                f"cannot read {item!r} in {name!r}: write knob=value with the knobs "
                f"{', '.join(_KNOBS)}"
            ) from None
    return Knobs(**values)


def graph_name(knobs: Knobs) -> str:
    """The one name of the graph with these knobs: those that differ from the default, in order."""
    changed = [
        f"{knob.name}={str(getattr(knobs, knob.name)).removesuffix('.0')}"
        for knob in fields(knobs)
        if getattr(knobs, knob.name) != knob.default
    ]
    return f"{NAME}:{','.join(changed)}" if changed else NAME


@dataclass(frozen=True, eq=False)
class Model:
    """The numbers that links, words and classes are drawn with (see the top of this file)."""

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


def model(knobs: Knobs) -> Model:
    """The model that these knobs stand for.

    With S = Σ_{i<j} θ_i θ_j, the links expected inside class k are S prior_k² within_rate_k and
    those between classes S (1 - Σ_k prior_k²) across_rate. Asking for a share prior_k * homophily
    of all links inside class k gives small classes as many links per node as large ones.
    """
    prior = np.arange(1, knobs.classes + 1) ** -CLASS_SKEW
    prior /= prior.sum()

    # The law's evenly spaced quantiles in random order: a random sample of so heavy a tail would
    # let the luck of one node decide how many links the whole graph has.
    quantile = (np.arange(knobs.nodes) + 0.5) / knobs.nodes
    propensity = _stream(knobs.seed, "propensity").permutation(quantile ** (-1 / TAIL))
    propensity /= propensity.mean()

    links = knobs.nodes * knobs.mean_degree / 2
    rate = links / ((knobs.nodes**2 - np.sum(propensity**2)) / 2)
    return Model(
        prior=prior,
        propensity=propensity,
        within_rate=rate * knobs.homophily / prior,
        across_rate=float(rate * (1 - knobs.homophily) / (1 - np.sum(prior**2))),
        word_rate=_word_rate(knobs),
    )


def _word_rate(knobs: Knobs) -> np.ndarray:
    """Rates [c, f]: Zipf-like, and every word is the topic word of one class.

    Words of neighbouring frequency are dealt out one to each class, so that no class is told apart
    merely by having got the common words.
    """
    rounds = -(-knobs.words // knobs.classes)
    cards = _stream(knobs.seed, "topics").random_sample((rounds, knobs.classes))
    topic = cards.argsort(axis=1).ravel()[: knobs.words]
    own = topic == np.arange(knobs.classes)[:, None]
    rate = (1 + knobs.feature_strength * own) / (np.arange(knobs.words) + COMMON_WORDS)
    return rate * (WORDS_PER_DOCUMENT / rate.sum(axis=1, keepdims=True))


def load(name: str) -> Graph:
    """The graph of this name; the same name gives the same graph everywhere."""
    knobs = parse_name(name)
    return sample(model(knobs), knobs.seed, graph_name(knobs))


def sample(model: Model, seed: int, name: str = NAME) -> Graph:
    """A graph drawn from the model, in time proportional to its links and words.

    Classes, links and words have random streams of their own: graphs that differ only in
    ``feature_strength`` have the same classes and links.
    """
    uniform = _stream(seed, "classes").random_sample(len(model.propensity))
    labels = np.searchsorted(np.cumsum(model.prior)[:-1], uniform, side="right")
    return Graph(
        name=name,
        features=_draw_words(model, labels, _stream(seed, "words")),
        edges=_draw_links(model, labels, _stream(seed, "links")),
        labels=labels,
        class_names=tuple(_class_name(k) for k in range(len(model.prior))),
        notes=(NOTE,),
    )


def _class_name(k: int) -> str:
    return f"Topic {'A' * (k // 26)}{chr(ord('A') + k % 26)}"  # ..., Topic Z, Topic AA, Topic AB


def _stream(seed: int, purpose: str) -> np.random.RandomState:
    # RandomState and not a Generator: NumPy promises never to change its numbers, so a name means
    # the same graph under every version.
    purposes = ("propensity", "topics", "classes", "links", "words")
    return np.random.RandomState([seed, purposes.index(purpose)])


def _draw_links(model: Model, labels: np.ndarray, stream: np.random.RandomState) -> np.ndarray:
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
    model: Model, labels: np.ndarray, stream: np.random.RandomState
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


@dataclass(frozen=True, eq=False)
class LinkPosterior:
    """Class probabilities given features and links, and how far to trust them."""

    probs: np.ndarray  # [n, c]
    how: Literal["enumeration", "belief propagation"]
    iterations: int  # sweeps over the links; 0 for enumeration
    residual: float  # largest change of any probability in the last sweep; 0 for enumeration

    @property
    def converged(self) -> bool:
        return self.residual <= TOLERANCE


def true_posterior(
    name_or_knobs: str | Knobs, links: bool = False, known: np.ndarray | None = None
) -> np.ndarray:
    """Class probabilities [n, c] of a synthetic graph from its features and, if asked, its links.

    ``known`` are indices of nodes whose true class is given. Without the links they tell nothing
    of the other nodes.
    """
    knobs = parse_name(name_or_knobs) if isinstance(name_or_knobs, str) else name_or_knobs
    truth = model(knobs)
    graph = sample(truth, knobs.seed, graph_name(knobs))
    if not links:
        nodes = _checked_nodes(graph, known)
        return softmax(_clamped(_log_evidence(truth, graph), graph, nodes), axis=1)
    posterior = posterior_from_links(truth, graph, known)
    if not posterior.converged:
        raise BupError(
            f"belief propagation did not settle on {graph.name}, probabilities still moved by "
            f"{posterior.residual:.2g}: raise feature_strength or give more known nodes"
        )
    return posterior.probs


def posterior_from_features(model: Model, graph: Graph) -> np.ndarray:
    """P(c_i | words of i) [n, c], exact.

    With x_w in {0, 1}, log P(x | c) = Σ_w x_w log(exp(word_rate[c, w]) - 1) - Σ_w word_rate[c, w].
    """
    return softmax(_log_evidence(model, graph), axis=1)


def _log_evidence(model: Model, graph: Graph) -> np.ndarray:
    """log P(c_i) P(words of i | c_i) [n, c]."""
    expected = (len(model.propensity), *model.word_rate.shape)
    if (graph.num_nodes, graph.num_classes, graph.num_features) != expected:
        raise BupError(
            f"this model is of a graph with nodes, classes, words = {expected}, not of "
            f"{graph.name}: use the model that the graph was drawn from"
        )
    log_odds = np.log(np.expm1(model.word_rate))
    return graph.features @ log_odds.T - model.word_rate.sum(axis=1) + np.log(model.prior)


def posterior_from_links(
    model: Model, graph: Graph, known: np.ndarray | None = None
) -> LinkPosterior:
    """P(c_i | all words, all links and the classes of the nodes ``known``) [n, c].

    Exact, by enumeration, where the unknown nodes have at most ``MAX_STATES`` joint assignments.

    Otherwise by belief propagation (Decelle, Krzakala, Moore and Zdeborová, 2011), which makes two
    approximations. Messages along the links assume that a node's neighbours are independent but
    for the node itself: exact on trees, and ever closer on sparse graphs as they grow, where cycles
    are long. The pairs *without* a link, each of which says little, enter as a mean field: their
    exact factor exp(-θ_i θ_j rate[c_i, c_j]) with rate averaged over the current belief about j.
    Both matter in small graphs: with the other knobs at their defaults the mean confidence exceeds
    the accuracy by 0.02 at 30 nodes, and by nothing measurable from 100 nodes on.

    Belief propagation may have several fixed points and finds one. Where no class is known and the
    features hardly tell the classes apart (by default, ``feature_strength`` below 0.3), it is often
    one with classes exchanged, confident and wrong; 20 known nodes of each class are cure enough.
    """
    nodes = _checked_nodes(graph, known)
    evidence = _clamped(_log_evidence(model, graph), graph, nodes)
    unknown = np.setdiff1d(np.arange(graph.num_nodes), nodes)
    if len(unknown) * math.log(graph.num_classes) <= math.log(MAX_STATES):
        return LinkPosterior(_enumerate(model, graph, evidence, unknown), "enumeration", 0, 0.0)
    return _propagate(model, graph, evidence)


def _checked_nodes(graph: Graph, known: np.ndarray | None) -> np.ndarray:
    if known is None or len(known) == 0:
        return np.empty(0, dtype=np.int64)
    known = np.asarray(known)
    if known.dtype.kind not in "iu" or known.min() < 0 or known.max() >= graph.num_nodes:
        raise BupError(
            f"known must be node indices from 0 to {graph.num_nodes - 1}, got {known.dtype} "
            f"values from {known.min()} to {known.max()}"
        )
    if (graph.labels[known] == UNLABELLED).any():
        raise BupError(f"{graph.name} has no label for some known nodes: leave these out")
    return known


def _clamped(evidence: np.ndarray, graph: Graph, known: np.ndarray) -> np.ndarray:
    """The log-evidence with certainty about the class of the known nodes."""
    evidence = evidence.copy()
    evidence[known] = -np.inf
    evidence[known, graph.labels[known]] = 0.0
    return evidence


def _log_pair(rate: np.ndarray, linked: np.ndarray | bool) -> np.ndarray:
    """log P(linked or not) for the pair rate θ_i θ_j rate[c_i, c_j]."""
    with np.errstate(divide="ignore"):
        return np.where(linked, np.log(-np.expm1(-rate)), -rate)


def _enumerate(model: Model, graph: Graph, evidence: np.ndarray, unknown: np.ndarray) -> np.ndarray:
    """The exact posterior [n, c]: a sum over every joint assignment of the unknown nodes."""
    theta, link_rate, num_classes = model.propensity, model.link_rate, graph.num_classes
    known = np.setdiff1d(np.arange(graph.num_nodes), unknown)
    digit = num_classes ** np.arange(len(unknown))[:, None]
    assignments = np.arange(num_classes ** len(unknown)) // digit % num_classes
    log_joint = np.zeros(assignments.shape[1])
    for a, i in enumerate(unknown):
        linked = np.isin(np.arange(graph.num_nodes), graph.neighbours(i))
        rate = theta[i] * theta[known] * link_rate[:, graph.labels[known]]
        local = evidence[i] + _log_pair(rate, linked[known]).sum(axis=1)
        log_joint += local[assignments[a]]
        for b, j in enumerate(unknown[:a]):
            pair = _log_pair(theta[i] * theta[j] * link_rate, linked[j])
            log_joint += pair[assignments[a], assignments[b]]
    if np.isneginf(log_joint).all():
        raise BupError(f"{graph.name} has links that its model never draws: use its own model")
    weights = np.exp(log_joint - logsumexp(log_joint))
    probs = softmax(evidence, axis=1)
    for assignment, i in zip(assignments, unknown, strict=True):
        probs[i] = np.bincount(assignment, weights=weights, minlength=num_classes)
    return probs


def _propagate(model: Model, graph: Graph, evidence: np.ndarray) -> LinkPosterior:
    """Belief propagation: sweeps over all links at once until nothing moves.

        arriving at i from j:   m(c) = Σ_s say_j(s) P(link | c, s)
        field of the strangers: f_i(c) = -θ_i Σ_{j not linked to i} θ_j Σ_s belief_j(s) rate[c, s]
        belief_i(c) ∝ evidence_i(c) exp(f_i(c)) Π m(c), and say_i leaves out the listener's own m

    Row p of the messages belongs to entry p of the adjacency matrix: from ``source[p]`` to
    ``target[p]``. As all rates between classes are equal, a sweep costs O((links + nodes) c).
    """
    adjacency, theta = graph.adjacency, model.propensity[:, None]
    source = adjacency.indices
    target = np.repeat(np.arange(graph.num_nodes), np.diff(adjacency.indptr))
    reverse = np.argsort(source, kind="stable")  # where the answer from target to source is kept
    arrivals = sparse.csr_array(
        (np.ones(len(source)), np.arange(len(source)), adjacency.indptr),
        shape=(graph.num_nodes, len(source)),
    )
    strength = theta[source] * theta[target]
    across = -np.expm1(-strength * model.across_rate)
    excess = -np.expm1(-strength * model.within_rate) - across

    belief = softmax(evidence, axis=1)
    say = belief[source]
    sweep, residual = 0, np.inf
    while sweep < MAX_SWEEPS and residual > TOLERANCE:
        sweep += 1
        log_message = np.log(np.maximum(across + excess * say, np.finfo(float).tiny))
        weight = theta * belief
        strangers = weight.sum(axis=0) - weight - adjacency @ weight
        total = evidence - theta * (strangers @ model.link_rate) + arrivals @ log_message
        belief_step = softmax(total, axis=1) - belief
        say_step = softmax(total[target] - log_message, axis=1)[reverse] - say
        residual = max(float(np.abs(step).max(initial=0)) for step in (belief_step, say_step))
        # Damped, because all nodes answering the same field at once can overshoot for ever.
        belief += (1 - DAMPING) * belief_step
        say += (1 - DAMPING) * say_step
    return LinkPosterior(belief, "belief propagation", sweep, residual)
