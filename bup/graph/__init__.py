"""The graph that everything else is about, and what belongs to it alone."""

from bup.graph.graph import NO_PART, PARTS, UNLABELLED, Graph, describe, simple_edges

__all__ = ["NO_PART", "PARTS", "UNLABELLED", "Graph", "describe", "simple_edges"]
