"""What the rules are called."""

RULES = {
    "erf": (
        "The published shortcut: the product, over the other classes, of the probability to beat "
        "each one. Fast; a lower bound that does not sum to one."
    ),
    "exact": "The one-dimensional integral, by quadrature: sums to one and is good to many digits.",
    "genz": (
        "The published quasi-Monte Carlo over all gaps at once (Genz 1992): slow, good to about "
        "three digits, an independent check on the integral."
    ),
    "sampled": (
        "The usual softmax of a message drawn from its Gaussian, averaged over draws: a different "
        "model of the label, for comparison."
    ),
}
"""The ways to turn messages into probabilities, and what to know about each."""

DISTRIBUTIONS = ("exact", "sampled")
"""The rules whose probabilities are means of a distribution, so that an interval belongs to them.

``erf`` multiplies chances that are not independent and normalises the products; ``genz`` estimates
the integral with an error of its own.
"""
