"""The model that links, words and classes are drawn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bup.datasets.synthetic.parameters import Parameters

CLASS_SKEW = 0.75  # the k-th largest class has a share ∝ k^-0.75, close to Cora's
TAIL = 2.0  # P(propensity > x) ∝ x^-2: most nodes have few links, some very many
WORDS_PER_DOCUMENT = 19.0  # Poisson mean; about 18 remain once repetitions are dropped
COMMON_WORDS = 10.0  # Zipf-Mandelbrot shift: the commonest word is in about a third of documents


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
