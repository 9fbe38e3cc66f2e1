"""The graph, its conversions, and functions of the graph alone."""

from bup.graph.graph import NO_PART, PARTS, UNLABELLED, Graph, compact, describe, simple_edges

__all__ = ["NO_PART", "PARTS", "UNLABELLED", "Graph", "compact", "describe", "simple_edges"]
