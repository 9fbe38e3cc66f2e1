"""What a source of graphs has to say of itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from bup.graph import Graph


@dataclass(frozen=True)
class Source:
    """One graph, or all those whose names follow one pattern."""

    name: str  # as people read it: ``cora``, ``folder:PATH``
    title: str  # one line about it
    load: Callable[[str], Graph]
    takes: Callable[[str], bool] | None = None  # which names are its own; None: its name alone
    label: Callable[[str], str] = str  # what a menu and an address call the graph of this name
    called: Callable[[str], str] | None = None  # what people call it, if that is no label
    data: str = ""  # where its data is, once it is there
    cached: Callable[[str], bool] | None = None  # whether it was fetched; None: nothing to fetch
    offered: Callable[[], list[str]] | None = None  # the names on offer; None: its name alone
    stamp: Callable[[str], Hashable] = lambda name: None  # differs once the files behind it do
    within: Callable[[str], str] | None = None  # the name of the graph that one is made from
    size: Callable[[str], float] = lambda name: 0.0  # bytes, roughly, before anything is loaded
    typed: bool = False  # whether a visitor of the app may ask for names that are not on offer

    def has(self, name: str) -> bool:
        return name == self.name if self.takes is None else self.takes(name)

    def is_here(self, name: str) -> bool:
        return self.cached is None or self.cached(name)

    def names(self) -> list[str]:
        """The graphs that a page can offer."""
        return [self.name] if self.offered is None else self.offered()
