"""Bayesian uncertainty propagation on graphs: data, methods, metrics."""

from bup.datasets import GRAPHS, load_graph
from bup.errors import BupError
from bup.graph import Graph
from bup.spec import Spec
from bup.splits import Split, make_split
from bup.store import Store

__version__ = "0.1.0"

__all__ = ["GRAPHS", "BupError", "Graph", "Spec", "Split", "Store", "load_graph", "make_split"]
