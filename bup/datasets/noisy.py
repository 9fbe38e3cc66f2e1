"""A graph whose labels are partly wrong: doubt that no further label takes away."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

import numpy as np

from bup.datasets.source import Source
from bup.errors import BupError
from bup.graph import UNLABELLED, Graph

PREFIX = "noisy:"


def load(name: str) -> Graph:
    """``noisy:cora:0.2``: Cora, a fifth of its labels replaced by another class at random."""
    from bup.datasets import load_graph

    inner, _, text = name.removeprefix(PREFIX).rpartition(":")
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not inner or not 0 <= share < 1:
        raise BupError(
            f"noisy:GRAPH:SHARE replaces a share of a graph's labels, 0 or more and below 1, "
            f"got {name!r}"
        )
    graph = load_graph(inner)
    # RandomState, because its stream is frozen; a larger share replaces the same labels and more.
    random = np.random.RandomState(0)
    wrong = (random.random_sample(graph.num_nodes) < share) & (graph.labels != UNLABELLED)
    shift = random.randint(1, max(graph.num_classes, 2), graph.num_nodes)
    labels = np.where(wrong, (graph.labels + shift) % graph.num_classes, graph.labels)
    return dataclasses.replace(graph, labels=labels, name=name)


def _stamp(name: str) -> Hashable:
    from bup.datasets import stamp

    return stamp(name.removeprefix(PREFIX).rpartition(":")[0])


SOURCE = Source(
    name="noisy:GRAPH:SHARE",
    title="A graph with a share of its labels replaced at random, such as noisy:cora:0.2",
    load=load,
    takes=lambda name: name.startswith(PREFIX),
    data="made from the other graph",
    offered=lambda: [],
    stamp=_stamp,
    typed=True,
)
