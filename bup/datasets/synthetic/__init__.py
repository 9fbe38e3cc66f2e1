"""A citation network drawn from a known model, so that the true uncertainty is known.

Every document i has a class c_i, a propensity θ_i to be linked, and a bag of words:

    c_i ~ Categorical(prior)
    P(i and j are linked) = 1 - exp(-θ_i θ_j rate[c_i, c_j])
    P(i contains word w)  = 1 - exp(-word_rate[c_i, w])

all independent given the classes: a degree-corrected block model with features. The probability of
every class of every node follows from the model by Bayes' rule and can be compared with what a
network has learned. Needs neither disk nor internet.
"""

from bup.datasets.graph_source import GraphSource
from bup.datasets.synthetic.model import NAME, Parameters, graph_name, load, parse_name
from bup.datasets.synthetic.posterior import true_posterior

__all__ = ["NAME", "SOURCE", "Parameters", "graph_name", "load", "parse_name", "true_posterior"]


def _size(name: str) -> float:
    parameters = parse_name(name)
    vocabulary = parameters.words * (100 + 32 * parameters.classes)
    return parameters.nodes * (250 + 40 * parameters.mean_degree) + vocabulary


SOURCE = GraphSource(
    name=NAME,
    title="A drawn citation network whose true class probabilities are known",
    load=load,
    matches=lambda name: name.partition(":")[0] == NAME,
    data="drawn on the spot",
    size=_size,
    open_to_visitors=True,
)
