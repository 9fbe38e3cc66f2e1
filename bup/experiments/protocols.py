"""Which classes are hidden from training."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bup.graph import Graph


@dataclass(frozen=True)
class Protocol:
    """Which classes are never shown, and which of those are not judged either."""

    name: str = ""
    left_out: tuple[int, ...] = ()
    unjudged: tuple[int, ...] = ()


def all_known(graph: Graph) -> list[Protocol]:
    return [Protocol()]


def last_class(graph: Graph) -> list[Protocol]:
    """The paper's."""
    return [Protocol("last class", (graph.num_classes - 1,))]


def with_and_without_last_class(graph: Graph) -> list[Protocol]:
    return all_known(graph) + last_class(graph)


def published_protocols(graph: Graph) -> list[Protocol]:
    """The paper's one class, and those under which others published their figures.

    GPN leaves out the last 45 % of the classes. GNNSafe learns Cora's classes 4 to 6 and looks for
    0 to 2; class 3 is its training material for outlier exposure, which no method here uses, so it
    is neither shown nor judged.
    """
    protocols = last_class(graph)
    classes = tuple(range(graph.num_classes))
    count = math.floor(0.45 * graph.num_classes)
    if count > 1:
        protocols.append(Protocol(f"last {count} classes (GPN)", classes[-count:]))
    if graph.name == "cora":
        protocols.append(Protocol("classes 0 to 2 (GNNSafe)", (0, 1, 2, 3), unjudged=(3,)))
    return protocols
