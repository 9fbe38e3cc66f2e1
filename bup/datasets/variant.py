"""Graphs that are made from another graph; their names are ``KIND:GRAPH:SHARE``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from bup.datasets.graph_source import GraphSource
from bup.errors import BupError
from bup.graph import Graph
from bup.io.quoting import quote


def variant(
    kind: str,
    title: str,
    rule: str,
    allows: Callable[[float], bool],
    change: Callable[[Graph, float], Graph],
) -> GraphSource:
    """The source of the graphs that ``change`` makes from any graph and a share that is allowed."""
    prefix = f"{kind}:"

    def parse(name: str) -> tuple[str, float]:
        inner, _, text = name.removeprefix(prefix).rpartition(":")
        try:
            share = float(text)
        except ValueError:
            share = float("nan")
        if not inner or not allows(share):
            raise BupError(f"{kind}:GRAPH:SHARE {rule}, got {quote(name, 200)}")
        return inner, share

    def load(name: str) -> Graph:
        from bup.datasets import load_graph

        inner, share = parse(name)
        return dataclasses.replace(change(load_graph(inner), share), name=name)

    return GraphSource(
        name=f"{kind}:GRAPH:SHARE",
        title=title,
        load=load,
        matches=lambda name: name.startswith(prefix),
        data="made from the other graph",
        list_names=lambda: [],
        base=lambda name: parse(name)[0],
        open_to_visitors=True,
    )
