"""Graphs that are made from another graph; their names are ``KIND:GRAPH:SHARE``."""

import dataclasses
from collections.abc import Callable

import numpy as np

from bup.datasets.graph_source import GraphSource
from bup.errors import BupError, quote
from bup.graph import UNLABELLED, Graph, simple_edges
from bup.io.lazy import csgraph


def variant(
    kind: str,
    title: str,
    rule: str,
    allows: Callable[[float], bool],
    change: Callable[[Graph, float], Graph],
) -> GraphSource:
    """The source of the graphs that ``change`` makes from any graph and a share that is allowed."""
    prefix = f"{kind}:"

    def parse(name: str) -> tuple[str, float]:
        inner, _, text = name.removeprefix(prefix).rpartition(":")
        try:
            share = float(text)
        except ValueError:
            share = float("nan")
        if not inner or not allows(share):
            raise BupError(f"{kind}:GRAPH:SHARE {rule}, got {quote(name, 200)}")
        return inner, share

    def load(name: str) -> Graph:
        from bup.datasets import load_graph

        inner, share = parse(name)
        return dataclasses.replace(change(load_graph(inner), share), name=name)

    return GraphSource(
        name=f"{kind}:GRAPH:SHARE",
        title=title,
        load=load,
        matches=lambda name: name.startswith(prefix),
        data="made from the other graph",
        list_names=lambda: [],
        base=lambda name: parse(name)[0],
        open_to_visitors=True,
    )


def _shrink_last_class(graph: Graph, share: float) -> Graph:
    """The graph with a share of its last class: how many unseen nodes can a model detect?"""
    last = np.flatnonzero(graph.labels == graph.num_classes - 1)
    remaining = max(1, round(share * len(last)))
    nodes = np.setdiff1d(np.arange(graph.num_nodes), _in_groups(graph, last)[remaining:])
    new_index = np.full(graph.num_nodes, -1)
    new_index[nodes] = np.arange(len(nodes))
    ends = new_index[graph.edges]
    return dataclasses.replace(
        graph,
        features=graph.features[nodes],
        edges=simple_edges(*ends[:, (ends >= 0).all(axis=0)]),
        labels=graph.labels[nodes],
        parts=None if graph.parts is None else graph.parts[nodes],
        ids=None if graph.ids is None else tuple(graph.ids[i] for i in nodes),
        titles=None if graph.titles is None else tuple(graph.titles[i] for i in nodes),
    )


def _in_groups(graph: Graph, nodes: np.ndarray) -> np.ndarray:
    """Nodes in an order in which neighbours follow each other: outwards from random nodes.

    A share of them drawn one by one would lose nearly all links among themselves, and a model could
    detect them by that alone.
    """
    among = graph.adjacency[nodes][:, nodes]
    # RandomState, because NumPy promises never to change its numbers.
    starts = np.random.RandomState(0).permutation(len(nodes))
    reached: list[np.ndarray] = []
    visited = np.zeros(len(nodes), dtype=bool)
    for start in starts:
        if not visited[start]:
            reached.append(csgraph.breadth_first_order(among, start, directed=False)[0])
            visited[reached[-1]] = True
    return nodes[np.concatenate(reached)]


def _replace_labels(graph: Graph, share: float) -> Graph:
    """The graph with some wrong labels: uncertainty that further labels cannot reduce.

    A larger share replaces the same labels and more.
    """
    random = np.random.RandomState(0)
    wrong = (random.random_sample(graph.num_nodes) < share) & (graph.labels != UNLABELLED)
    shift = random.randint(1, max(graph.num_classes, 2), graph.num_nodes)
    labels = np.where(wrong, (graph.labels + shift) % graph.num_classes, graph.labels)
    return dataclasses.replace(graph, labels=labels)


SOURCES = (
    variant(
        "fewer",
        title="A graph with only a share of its last class, such as fewer:cora:0.1",
        rule="keeps a share between 0 and 1 of a graph's last class",
        allows=lambda share: 0 < share <= 1,
        change=_shrink_last_class,
    ),
    variant(
        "noisy",
        title="A graph with a share of its labels replaced at random, such as noisy:cora:0.2",
        rule="replaces a share of a graph's labels, 0 or more and below 1",
        allows=lambda share: 0 <= share < 1,
        change=_replace_labels,
    ),
)
