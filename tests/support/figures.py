"""What the tests of several figures share."""

import json

import numpy as np

from bup import metrics
from dashboard.ui.theme import Theme

LIGHT = Theme()
NASTY = '<img src=x onerror="alert(1)"> & <b>bold</b>'


def labelled_probs(result, graph):
    nodes = result.split.test[~result.split.is_ood(graph.labels[result.split.test])]
    return result.probs[nodes], result.split.targets(graph.labels[nodes])


def named(figure, name):
    (trace,) = [t for t in figure.data if t.name == name]
    return trace


def texts(figure):
    """Every piece of text in a figure that plotly would read as markup."""
    found = []

    def walk(value, key=""):
        if isinstance(value, dict):
            for name, inner in value.items():
                walk(inner, name)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, key)
        elif isinstance(value, str) and key not in ("bdata", "dtype"):
            found.append(value)

    walk(json.loads(figure.to_json()))
    return found


def two_bins():
    """Four nodes of confidence 0.7, three right, and two of 0.9, one right; ten bins."""
    probs = np.array([[0.7, 0.3]] * 4 + [[0.9, 0.1]] * 2)
    return metrics.reliability_bins(probs, np.array([0, 0, 0, 1, 0, 1]), 10)
