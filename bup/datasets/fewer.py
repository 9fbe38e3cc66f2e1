"""A graph with fewer nodes of its last class: how many unseen nodes can a model detect?"""

from __future__ import annotations

import dataclasses

import numpy as np

from bup.datasets.variant import variant
from bup.graph import Graph, simple_edges


def without(graph: Graph, nodes: np.ndarray) -> Graph:
    """The graph without some nodes and their links."""
    rest = np.setdiff1d(np.arange(graph.num_nodes), nodes)
    new_index = np.full(graph.num_nodes, -1)
    new_index[rest] = np.arange(len(rest))
    ends = new_index[graph.edges]
    ends = ends[:, (ends >= 0).all(axis=0)]
    texts = {
        name: None if values is None else tuple(values[i] for i in rest.tolist())
        for name, values in (("ids", graph.ids), ("titles", graph.titles))
    }
    return dataclasses.replace(
        graph,
        features=graph.features[rest],
        edges=simple_edges(ends[0], ends[1]),
        labels=graph.labels[rest],
        parts=None if graph.parts is None else graph.parts[rest],
        **texts,  # type: ignore[arg-type]
    )


def in_groups(graph: Graph, nodes: np.ndarray) -> np.ndarray:
    """Nodes in an order in which neighbours follow each other: outwards from random nodes.

    A share of them drawn one by one would lose nearly all links among themselves, and a model could
    detect them by that alone.
    """
    from scipy.sparse import csgraph

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


def change(graph: Graph, share: float) -> Graph:
    last = np.flatnonzero(graph.labels == graph.num_classes - 1)
    remaining = max(1, round(share * len(last)))
    return without(graph, in_groups(graph, last)[remaining:])


# ``fewer:cora:0.1``: Cora with a tenth of its last class, drawn once.
SOURCE = variant(
    "fewer",
    title="A graph with only a share of its last class, such as fewer:cora:0.1",
    rule="keeps a share between 0 and 1 of a graph's last class",
    allows=lambda share: 0 < share <= 1,
    change=change,
)
