"""A graph of a few nodes that a student draws: every edit gives a new one."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from bup.errors import BupError
from bup.graph import UNLABELLED, Graph, simple_edges
from bup.propagation import RULES, Propagation, Rule, Shares

Link = tuple[int, int]


def rules() -> dict[str, Rule]:
    """The rules that can be played with on a graph of a few nodes."""
    return {name: rule for name, rule in RULES.items() if rule.lesson}


MOST_NODES = 16
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Sketch:
    """Nodes, each with a variance and a place, their links, and the selected node."""

    names: tuple[str, ...]
    places: tuple[tuple[float, float], ...]  # from 0 to 1, to the right and down
    variances: tuple[float, ...]
    links: frozenset[Link]  # lower index first
    selected: int = 0

    def graph(self) -> Graph:
        ends = np.array(sorted(self.links), dtype=np.int64).reshape(-1, 2)
        return Graph(
            name="sketch",
            features=np.ones((len(self.names), 1), dtype=np.float32),
            edges=simple_edges(ends[:, 0], ends[:, 1]),
            labels=np.full(len(self.names), UNLABELLED),
            class_names=("any",),
            ids=self.names,
        )

    def under(self, rule: str, lam: float = 1.0) -> Propagation:
        """A rule at work on this graph."""
        return RULES[rule].propagation(self.graph(), RULES[rule].settings_from(lam=lam))

    def shares(self, node: int, rule: str, lam: float = 1.0) -> Shares:
        """What every neighbour of a node did to its variance in one step."""
        return self.under(rule, lam).shares(node, np.array(self.variances)[:, None])

    def after(self, rule: str, lam: float = 1.0) -> np.ndarray:
        """Every node's variance [n] after one step."""
        propagation, var = self.under(rule, lam), np.array(self.variances)[:, None]
        steps = (propagation.shares(node, var) for node in range(len(self.names)))
        return np.array([float(step.after[0]) for step in steps])

    def neighbours(self, node: int) -> list[int]:
        return sorted(a + b - node for a, b in self.links if node in (a, b))

    def with_selected(self, node: int) -> Sketch:
        return dataclasses.replace(self, selected=self._check(node))

    def with_variance(self, node: int, variance: float) -> Sketch:
        before = self.variances
        changed = (*before[: self._check(node)], variance, *before[node + 1 :])
        return dataclasses.replace(self, variances=changed)

    def with_link(self, a: int, b: int) -> Sketch:
        if self._check(a) == self._check(b):
            return self
        return dataclasses.replace(self, links=self.links | {(min(a, b), max(a, b))})

    def without_link(self, a: int, b: int) -> Sketch:
        return dataclasses.replace(self, links=self.links - {(min(a, b), max(a, b))})

    def with_neighbours(self, node: int, wanted: list[int]) -> Sketch:
        """Linked to exactly these."""
        others = frozenset(link for link in self.links if node not in link)
        sketch = dataclasses.replace(self, links=others)
        for other in wanted:
            sketch = sketch.with_link(node, other)
        return sketch

    def with_node(self, beside: int, place: tuple[float, float] | None = None) -> Sketch:
        """A new node of variance 1, linked to ``beside``."""
        if len(self.names) >= MOST_NODES:
            raise BupError(
                f"this sketch has {MOST_NODES} nodes, as many as the drawing holds: remove one"
            )
        name = next(letter for letter in LETTERS if letter not in self.names)
        place = _inside(place or self._room_beside(self._check(beside)))
        grown = dataclasses.replace(
            self,
            names=(*self.names, name),
            places=(*self.places, place),
            variances=(*self.variances, 1.0),
        )
        return grown.with_link(beside, len(self.names))

    def without_node(self, node: int) -> Sketch:
        if len(self.names) < 2:
            raise BupError("a sketch needs at least one node: add another before removing this")
        remaining = [i for i in range(len(self.names)) if i != self._check(node)]
        number = {old: new for new, old in enumerate(remaining)}
        neighbours = self.neighbours(node)
        selected = self.selected if self.selected != node else (neighbours or remaining)[0]
        return Sketch(
            names=tuple(self.names[i] for i in remaining),
            places=tuple(self.places[i] for i in remaining),
            variances=tuple(self.variances[i] for i in remaining),
            links=frozenset((number[a], number[b]) for a, b in self.links if node not in (a, b)),
            selected=number[selected],
        )

    def _check(self, node: int) -> int:
        if not 0 <= node < len(self.names):
            raise BupError(f"the sketch has no node {node}: it has 0 to {len(self.names) - 1}")
        return node

    def _room_beside(self, node: int) -> tuple[float, float]:
        """Of twelve places around a node, the one farthest from all others."""
        x, y = self.places[node]
        turns = (2 * math.pi * k / 12 for k in range(12))
        around = [_inside((x + 0.2 * math.cos(t), y + 0.3 * math.sin(t))) for t in turns]
        return max(around, key=lambda p: min(math.dist(p, q) for q in self.places))


def _inside(place: tuple[float, float]) -> tuple[float, float]:
    x, y = (min(max(float(v), 0.0), 1.0) for v in place)
    return x, y


def _ring(
    count: int, centre: tuple[float, float], radius: tuple[float, float]
) -> list[tuple[float, float]]:
    turns = (2 * math.pi * k / count - math.pi / 2 for k in range(count))
    return [
        _inside((centre[0] + radius[0] * math.cos(t), centre[1] + radius[1] * math.sin(t)))
        for t in turns
    ]


def _make_sketch(places: list[tuple[float, float]], links: list[Link], selected: int = 0) -> Sketch:
    names = tuple(LETTERS[: len(places)])
    return Sketch(names, tuple(places), (1.0,) * len(places), frozenset(links), selected)


def _communities() -> Sketch:
    left, right = _ring(4, (0.22, 0.5), (0.2, 0.42)), _ring(4, (0.78, 0.5), (0.2, 0.42))
    among = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    bridge = (1, 7)
    return _make_sketch(
        left + right, [*among, *((a + 4, b + 4) for a, b in among), bridge], selected=1
    )


PRESETS = {
    "Hub of leaves": _make_sketch(
        [(0.02, 0.2), (0.2, 0.85), (0.66, 0.5), *_ring(7, (0.66, 0.5), (0.3, 0.48))],
        [(0, 1), *((2, leaf) for leaf in range(3, 10))],
    ),
    "Star": _make_sketch(
        [(0.5, 0.5), *_ring(5, (0.5, 0.5), (0.33, 0.48))], [(0, leaf) for leaf in range(1, 6)]
    ),
    "Chain": _make_sketch(
        [(0.05 + 0.225 * i, 0.5 + (0.16 if i % 2 else -0.16)) for i in range(5)],
        [(i, i + 1) for i in range(4)],
        selected=2,
    ),
    "Two communities": _communities(),
}
"""Sketches to start from; in the first, A and B are a pair beside the hub C."""
