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

from bup.datasets.source import Source
from bup.datasets.synthetic.belief import LinkPosterior
from bup.datasets.synthetic.draw import load, sample
from bup.datasets.synthetic.knobs import NAME, Knobs, graph_name, parse_name
from bup.datasets.synthetic.law import Model, model
from bup.datasets.synthetic.posterior import posterior_from_links, true_posterior

__all__ = [
    "NAME",
    "SOURCE",
    "Knobs",
    "LinkPosterior",
    "Model",
    "graph_name",
    "load",
    "model",
    "parse_name",
    "posterior_from_links",
    "sample",
    "true_posterior",
]


def _size(name: str) -> float:
    knobs = parse_name(name)
    vocabulary = knobs.words * (100 + 32 * knobs.classes)
    return knobs.nodes * (250 + 40 * knobs.mean_degree) + vocabulary


SOURCE = Source(
    name=NAME,
    title="A drawn citation network whose true class probabilities are known",
    load=load,
    takes=lambda name: name.partition(":")[0] == NAME,
    data="drawn on the spot",
    size=_size,
    typed=True,
)
