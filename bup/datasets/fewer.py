"""A graph with fewer nodes of its last class: how many strangers must there be to be noticed?"""

from __future__ import annotations

import dataclasses

import numpy as np

from bup.datasets.variant import variant
from bup.graph import UNLABELLED, Graph, simple_edges


def without(graph: Graph, nodes: np.ndarray) -> Graph:
    """The graph without some nodes and their links."""
    kept = np.setdiff1d(np.arange(graph.num_nodes), nodes)
    place = np.full(graph.num_nodes, UNLABELLED)
    place[kept] = np.arange(len(kept))
    ends = place[graph.edges]
    ends = ends[:, (ends != UNLABELLED).all(axis=0)]
    named = {
        name: None if values is None else tuple(values[i] for i in kept.tolist())
        for name, values in (("ids", graph.ids), ("titles", graph.titles))
    }
    return dataclasses.replace(
        graph,
        features=graph.features[kept],
        edges=simple_edges(ends[0], ends[1]),
        labels=graph.labels[kept],
        parts=None if graph.parts is None else graph.parts[kept],
        **named,  # type: ignore[arg-type]
    )


def in_groups(graph: Graph, nodes: np.ndarray) -> np.ndarray:
    """Nodes in an order whose beginning is always linked: outwards from one drawn at random.

    A share of them drawn one by one would lose nearly all links to each other, and stand out by
    that alone.
    """
    from scipy.sparse import csgraph

    among = graph.adjacency[nodes][:, nodes]
    # RandomState, because its stream is frozen for good.
    starts = np.random.RandomState(0).permutation(len(nodes))
    reached: list[np.ndarray] = []
    met = np.zeros(len(nodes), dtype=bool)
    for start in starts:
        if not met[start]:
            reached.append(csgraph.breadth_first_order(among, start, directed=False)[0])
            met[reached[-1]] = True
    return nodes[np.concatenate(reached)]


def change(graph: Graph, share: float) -> Graph:
    last = np.flatnonzero(graph.labels == graph.num_classes - 1)
    kept = max(1, round(share * len(last)))
    return without(graph, in_groups(graph, last)[kept:])


# ``fewer:cora:0.1``: Cora with a tenth of its last class, drawn once and for all.
SOURCE = variant(
    "fewer",
    title="A graph with only a share of its last class, such as fewer:cora:0.1",
    rule="keeps a share between 0 and 1 of a graph's last class",
    allows=lambda share: 0 < share <= 1,
    change=change,
)
