"""What a source of graphs has to say of itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from bup.graph import Graph


@dataclass(frozen=True)
class GraphSource:
    """One graph, or all those whose names follow one pattern."""

    name: str  # as people read it: ``cora``, ``folder:PATH``
    title: str  # one line about it
    load: Callable[[str], Graph]
    matches: Callable[[str], bool] | None = None  # which names are its own; None: its name alone
    label: Callable[[str], str] = str  # what a menu and an address call the graph of this name
    title_of: Callable[[str], str] | None = None  # what people call it, if that is no label
    data: str = ""  # where its data is, once it is there
    is_cached: Callable[[str], bool] | None = None  # None: nothing has to be fetched
    list_names: Callable[[], list[str]] | None = None  # the names on offer; None: its name alone
    stamp: Callable[[str], Hashable] = lambda name: None  # differs once the files behind it do
    base: Callable[[str], str] | None = None  # the name of the graph that one is made from
    size: Callable[[str], float] = lambda name: 0.0  # bytes, roughly, before anything is loaded
    open_to_visitors: bool = False  # whether a visitor may ask for names that are not listed

    def owns(self, name: str) -> bool:
        return name == self.name if self.matches is None else self.matches(name)

    def is_available(self, name: str) -> bool:
        return self.is_cached is None or self.is_cached(name)

    def names(self) -> list[str]:
        """The graphs that a page can offer."""
        return [self.name] if self.list_names is None else self.list_names()
