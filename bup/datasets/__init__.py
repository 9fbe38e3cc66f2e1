"""Graphs by name; a source of graphs is one module or package here, and one line in ``SOURCES``."""

from collections.abc import Hashable
from typing import Any

from bup.datasets import almanac, citation, folder, pyg, synthetic, uploads, variants
from bup.datasets.graph_source import GraphSource
from bup.errors import BupError, quote
from bup.graph import Graph

SOURCES: tuple[GraphSource, ...] = (
    *citation.SOURCES,
    almanac.SOURCE,
    synthetic.SOURCE,
    *variants.SOURCES,
    pyg.SOURCE,
    folder.SOURCE,
    uploads.SOURCE,
)

GRAPHS: dict[str, str] = {source.name: source.title for source in SOURCES}
"""Name -> one line about it."""
MAX_CHAIN = 4
"""How many sources a name may combine: a graph that is loaded or drawn, and changes of it."""


def find_source(name: str) -> GraphSource | None:
    """The source that a graph's name belongs to."""
    return next((source for source in SOURCES if source.owns(name)), None)


def source_chain(name: str) -> list[tuple[GraphSource, str]]:
    """The source and name of a graph, then those of the graph that it is made from, and so on.

    Every rule about graphs that are made from others is derived from this chain.
    """
    chain: list[tuple[GraphSource, str]] = []
    inner = name
    while (source := find_source(inner)) is not None:
        chain.append((source, inner))
        if source.base is None:
            return chain
        if len(chain) == MAX_CHAIN:
            raise BupError(
                f"{quote(name)} is made from a graph that is made from another one, and so on: "
                f"at most {MAX_CHAIN - 1} changes of a graph may follow each other"
            )
        inner = source.base(inner)
    names = ", ".join(source.name for source in SOURCES)
    raise BupError(f"there is no graph {quote(inner, 200)}: choose one of {names}")


def load_graph(name: str) -> Graph:
    """Load a graph by name.

    Parameters
    ----------
    name : str
        ``cora``, ``citeseer`` or ``pubmed``, which are fetched on first use; ``almanac``, of the
        package; ``synthetic`` or ``synthetic:homophily=0.6,nodes=500``, drawn from a known model;
        ``folder:PATH``, your files; ``pyg:Amazon/Photo``, what PyTorch Geometric can download.

    Returns
    -------
    Graph

    Raises
    ------
    BupError
        If there is no such graph, or it cannot be fetched or read.

    Examples
    --------
    >>> import bup
    >>> bup.load_graph("synthetic:nodes=60,classes=2,words=20").num_nodes
    60
    """
    if not isinstance(name, str):
        raise BupError(f"a graph is loaded by its name, got {_kind(name)}")
    source, _ = source_chain(name)[0]
    return source.load(name)


def as_graph(given: Any) -> Graph:
    """The graph of a name, of PyTorch Geometric's ``Data`` or of a NetworkX graph."""
    if isinstance(given, Graph):
        return given
    if isinstance(given, str):
        return load_graph(given)
    makers = {base.__module__.partition(".")[0] for base in type(given).__mro__}
    if "torch_geometric" in makers:
        return Graph.from_pyg(given)
    if "networkx" in makers:
        return Graph.from_networkx(given)
    raise BupError(
        "a graph is a bup.Graph, a name such as 'cora', PyTorch Geometric's Data or a NetworkX "
        f"graph, got {_kind(given)}: bup.Graph.from_arrays and from_frames make one"
    )


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


def stamp(name: str) -> Hashable:
    """A value that changes when the files of a graph change; quick to compute."""
    source, inner = source_chain(name)[-1]
    return source.stamp(inner)


def size(name: str) -> float:
    """Bytes of a graph in memory, roughly, before it is loaded or drawn."""
    source, inner = source_chain(name)[-1]
    return source.size(inner)


def is_allowed(name: str) -> bool:
    """Whether a visitor of the app may open this graph.

    The graph is listed, or its source is open to visitors. A graph made from another one is
    allowed where the other one is. Raises BupError for a name that its source cannot read.
    """
    if find_source(name) is None:
        return False
    *changes, (source, inner) = source_chain(name)
    return all(change.open_to_visitors for change, _ in changes) and (
        source.open_to_visitors or inner in list_graphs()
    )


def list_graphs() -> list[str]:
    """The names of all graphs that a page can offer."""
    return [name for source in SOURCES for name in source.names()]


def is_available(name: str) -> bool:
    """Whether this graph can be loaded without a network."""
    try:
        return all(source.is_available(inner) for source, inner in source_chain(name))
    except BupError:
        return False
