"""A graph with some wrong labels: uncertainty that further labels cannot reduce."""

from __future__ import annotations

import dataclasses

import numpy as np

from bup.datasets.variant import variant
from bup.graph import UNLABELLED, Graph


def change(graph: Graph, share: float) -> Graph:
    # The numbers of RandomState never change. A larger share replaces the same labels and more.
    random = np.random.RandomState(0)
    wrong = (random.random_sample(graph.num_nodes) < share) & (graph.labels != UNLABELLED)
    shift = random.randint(1, max(graph.num_classes, 2), graph.num_nodes)
    labels = np.where(wrong, (graph.labels + shift) % graph.num_classes, graph.labels)
    return dataclasses.replace(graph, labels=labels)


# ``noisy:cora:0.2``: Cora, a fifth of its labels replaced by another class at random.
SOURCE = variant(
    "noisy",
    title="A graph with a share of its labels replaced at random, such as noisy:cora:0.2",
    rule="replaces a share of a graph's labels, 0 or more and below 1",
    allows=lambda share: 0 <= share < 1,
    change=change,
)
