"""The graph, its conversions, and functions of the graph alone."""

from bup.graph.arrays import NO_PART, PARTS, UNLABELLED, compact, simple_edges
from bup.graph.graph import Graph, describe

__all__ = ["NO_PART", "PARTS", "UNLABELLED", "Graph", "compact", "describe", "simple_edges"]
