"""The graphs by name. This package is the only one that touches disk and network for data."""

from __future__ import annotations

from bup.datasets import citation, folder, synthetic
from bup.errors import BupError
from bup.graph import Graph

GRAPHS: dict[str, str] = {
    **{name: known.title for name, known in citation.CITATION_GRAPHS.items()},
    "synthetic": "A drawn citation network whose true class probabilities are known",
    "folder:PATH": "Your own graph: edges.csv and nodes.csv in a folder",
}
"""Name -> one line about it."""


def load_graph(name: str) -> Graph:
    """Load a graph by name.

    ``cora``, ``citeseer``, ``pubmed``: fetched on first use. ``synthetic``, or
    ``synthetic:homophily=0.6,nodes=500``: drawn from a known model. ``folder:PATH``: your files.
    """
    kind, _, rest = name.partition(":")
    if name in citation.CITATION_GRAPHS:
        return citation.load(name)
    if kind == "synthetic":
        return synthetic.load(name)
    if kind == "folder" and rest:
        return folder.load(rest)
    raise BupError(f"there is no graph {name!r}: choose one of {', '.join(GRAPHS)}")
