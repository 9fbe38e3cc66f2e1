"""The graphs by name. This package is the only one that touches disk and network for data.

A source of graphs is one module or package here, and one line in ``SOURCES``.
"""

from __future__ import annotations

from collections.abc import Hashable

from bup.datasets import citation, fewer, folder, noisy, own, pyg, synthetic
from bup.datasets.source import Source
from bup.errors import BupError
from bup.graph import Graph

SOURCES: tuple[Source, ...] = (
    *citation.SOURCES,
    synthetic.SOURCE,
    fewer.SOURCE,
    noisy.SOURCE,
    pyg.SOURCE,
    folder.SOURCE,
    own.SOURCE,
)

GRAPHS: dict[str, str] = {source.name: source.title for source in SOURCES}
"""Name -> one line about it."""


def find_source(name: str) -> Source | None:
    """The source that a graph's name belongs to."""
    return next((source for source in SOURCES if source.has(name)), None)


def load_graph(name: str) -> Graph:
    """Load a graph by name.

    ``cora``, ``citeseer``, ``pubmed``: fetched on first use. ``synthetic``, or
    ``synthetic:homophily=0.6,nodes=500``: drawn from a known model. ``folder:PATH``: your files.
    ``pyg:Amazon/Photo``: what PyTorch Geometric can download.
    """
    source = find_source(name)
    if source is None:
        known = ", ".join(source.name for source in SOURCES)
        raise BupError(f"there is no graph {name!r}: choose one of {known}")
    return source.load(name)


def stamp(name: str) -> Hashable:
    """Cheap to ask for, and another one once the files behind a graph are others."""
    source = find_source(name)
    if source is not None and source.within is not None:
        return stamp(source.within(name))
    return None if source is None else source.stamp(name)


def size(name: str) -> float:
    """Bytes of a graph in memory, roughly, known before it is loaded or drawn."""
    source = find_source(name)
    if source is not None and source.within is not None:
        return size(source.within(name))
    return 0.0 if source is None else source.size(name)


def may_be_typed(name: str) -> bool:
    """Whether a visitor of the app may ask for a graph that is not on offer."""
    source = find_source(name)
    if source is None or not source.typed:
        return False
    inner = None if source.within is None else source.within(name)
    return inner is None or may_be_typed(inner) or inner in offered()


def offered() -> list[str]:
    """The graphs that a page can offer."""
    return [name for source in SOURCES for name in source.names()]


def is_here(name: str) -> bool:
    """Whether this graph can be loaded without a network."""
    source = find_source(name)
    return source is not None and source.is_here(name)
