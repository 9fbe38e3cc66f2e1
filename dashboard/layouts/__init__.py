"""Where each node stands on the map: computed once per graph, the same place ever after.

The positions of the built-in graphs are shipped with the package. After a change of such a
graph or of ``arranging``, make them again (PubMed takes a minute or two) with

    python -m dashboard.layouts cora citeseer pubmed almanac synthetic

Those of any other graph are drawn on first use, by a process of its own, and kept in the cache
folder. Either way they belong to a graph's content, by its digest, never to its name alone.
"""

from dashboard.layouts.storage import Layout, cached_layout, get_layout, positions

__all__ = ["Layout", "cached_layout", "get_layout", "positions"]
