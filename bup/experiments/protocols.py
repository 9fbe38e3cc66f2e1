"""Published protocols: which classes are left out, and which nodes train."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from bup.errors import BupError
from bup.graph import Graph


@dataclass(frozen=True)
class Protocol:
    """Which classes are left out, and which of them are not judged either."""

    name: str = ""
    left_out: tuple[int, ...] = ()
    unjudged: tuple[int, ...] = ()
    split: str = ""  # see bup.run.spec.Spec

    def on(self, split: str) -> Self:
        """The same classes on another split."""
        named = ", ".join(filter(None, (self.name, f"split {split}")))
        return dataclasses.replace(self, name=named, split=split)


def all_known(graph: Graph) -> list[Protocol]:
    return [Protocol()]


def last_class(graph: Graph) -> list[Protocol]:
    """The paper's."""
    return [Protocol("last class", (graph.num_classes - 1,))]


def with_and_without_last_class(graph: Graph) -> list[Protocol]:
    return all_known(graph) + last_class(graph)


def gpn(graph: Graph) -> list[Protocol]:
    """The last 45 % of the classes."""
    count = math.floor(0.45 * graph.num_classes)
    if count < 2:
        return []
    return [Protocol(f"last {count} classes (GPN)", tuple(range(graph.num_classes))[-count:])]


def gnnsafe(graph: Graph) -> list[Protocol]:
    """Learns the classes above the middle one and looks for those below it.

    On Cora 4 to 6 and 0 to 2, on Amazon Photo 5 to 7 and 0 to 3. The middle one is its training
    material for outlier exposure, which no method here uses: it is neither shown nor judged.
    """
    middle = graph.num_classes // 2
    if graph.num_classes - middle < 3:
        return []
    hidden = tuple(range(middle + 1))
    return [Protocol(f"classes 0 to {middle - 1} (GNNSafe)", hidden, unjudged=(middle,))]


def published_protocols(graph: Graph) -> list[Protocol]:
    """The paper's one class, and those under which others published their figures."""
    return last_class(graph) + gpn(graph) + (gnnsafe(graph) if graph.name == "cora" else [])


def calibration_record(graph: Graph) -> list[Protocol]:
    """That of the literature on calibration: a fifth of all labels trains, a tenth validates."""
    return [Protocol("20/10/70", split="20/10/70")]


PROTOCOLS: dict[str, Callable[[Graph], list[Protocol]]] = {
    "all": all_known,
    "last": last_class,
    "gpn": gpn,
    "gnnsafe": gnnsafe,
}
"""By the names that a command takes."""


def find_protocol(name: str, graph: Graph) -> Protocol:
    if name not in PROTOCOLS:
        raise BupError(f"there is no protocol {name!r}: choose one of {', '.join(PROTOCOLS)}")
    protocols = PROTOCOLS[name](graph)
    if not protocols:
        raise BupError(
            f"the {graph.num_classes} classes of {graph.name} are too few for the protocol {name}: "
            "choose last, or leave out classes of your own"
        )
    return protocols[0]
