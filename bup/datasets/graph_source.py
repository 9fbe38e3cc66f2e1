"""A source of graphs: what it is called, which names belong to it, how its graphs are loaded."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from bup.graph import Graph


@dataclass(frozen=True)
class GraphSource:
    """One graph, or all graphs whose names follow one pattern."""

    name: str  # for people: ``cora``, ``folder:PATH``
    title: str  # one line about it
    load: Callable[[str], Graph]
    matches: Callable[[str], bool] | None = None  # which names belong to it; None: its name alone
    label: Callable[[str], str] = str  # a graph's name in menus and links
    title_of: Callable[[str], str] | None = None  # a graph's name in headings; None: its label
    data: str = ""  # where its data is, once it is on this machine
    is_cached: Callable[[str], bool] | None = None  # None: nothing has to be fetched
    list_names: Callable[[], list[str]] | None = None  # for menus; None: its name alone
    stamp: Callable[[str], Hashable] = lambda name: None  # changes when the files of a graph change
    base: Callable[[str], str] | None = None  # the name of the graph that a graph is made from
    size: Callable[[str], float] = lambda name: 0.0  # bytes, roughly, before anything is loaded
    open_to_visitors: bool = False  # whether a visitor may ask for names that are not listed

    def owns(self, name: str) -> bool:
        return name == self.name if self.matches is None else self.matches(name)

    def is_available(self, name: str) -> bool:
        """Whether the graph can be loaded without a network."""
        return self.is_cached is None or self.is_cached(name)

    def names(self) -> list[str]:
        """The graphs that a page can offer."""
        return [self.name] if self.list_names is None else self.list_names()
