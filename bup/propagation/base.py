"""What a propagation rule is. A rule is one file in this package and one line in its table."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bup.engine.receptive_field import Hop
from bup.graph import Graph
from bup.io.lazy import Tensor
from bup.propagation.arithmetic import Operation
from bup.run.splits import Split


@dataclass(frozen=True)
class Shares:
    """Who changed a node's variance in one step, exactly: before + own + sum of changes = after."""

    neighbours: np.ndarray  # [k] node indices
    change: np.ndarray  # [k, c] what each of them added to the variance (negative: took off)
    own: np.ndarray  # [c] what the node itself added
    before: np.ndarray  # [c]
    after: np.ndarray  # [c]


class Formula(NamedTuple):
    """A rule for people, with one node's numbers in it."""

    words: str
    latex: str = ""
    meaning: str = ""


class Breakdown(NamedTuple):
    """Numbers that add up to something, each beside what is usual on this graph."""

    title: str
    names: list[str]
    values: list[float]
    usual: list[float]


class Propagation(ABC):
    """A rule at work on one graph."""

    factor: np.ndarray | None = None
    """What a step multiplies each node's variance by [n], where no variance decides it."""
    constants: Mapping[str, float] = {}
    """Numbers that were measured on the graph trained on, and hold on a changed one too."""

    def __init__(self, graph: Graph, settings: Any) -> None:
        self.graph, self.settings = graph, settings

    @abstractmethod
    def step(self, var: Tensor, hop: Hop) -> Tensor:
        """Variances [to, k] after one step, from those [start, k] of the nodes it starts from."""

    @abstractmethod
    def shares(self, node: int, var: np.ndarray) -> Shares:
        """What every neighbour did to a node's variance; ``var`` [n, k] is the step's input."""

    @abstractmethod
    def formula(self, node: int, steps: Sequence[Shares]) -> Formula:
        """What happened to a node, given its shares in every step."""

    def breakdowns(self, node: int) -> list[Breakdown]:
        """What else a rule can say of a node."""
        return []

    def arithmetic(self, node: int) -> list[Operation]:
        """How a node's ``factor`` comes about, step by step; the last result is the factor."""
        return []

    def after_training(
        self, split: Split, mean: np.ndarray, probs: np.ndarray, constants: Mapping[str, float]
    ) -> Propagation:
        """The rule once training has ended, given what the model says of every node [n, c].

        ``constants`` are those measured on the graph trained on, empty on that graph itself.
        """
        return self


@dataclass(frozen=True)
class NoSettings:
    """Of a rule that asks for nothing."""


@dataclass(frozen=True)
class Rule:
    """One line in the table of rules."""

    name: str
    title: str
    meaning: str  # a sentence
    latex: str  # one step, in general
    propagation: Callable[[Graph, Any], Propagation]
    """Applies the rule to a graph, given settings that include the rule's own."""
    settings: type = NoSettings  # a frozen dataclass of ``bup.settings.setting`` fields
    reads_neighbours: bool = False  # a step needs the neighbours' variances, not only the node's
    layers: tuple[int, ...] = (1, 2)  # the layers at which it acts
    constants: tuple[str, ...] = ()  # names of what a run keeps for it, see ``Propagation``
    unseen: str = ""  # what to know before one looks for unseen classes by message uncertainty
    lesson: str = ""  # what a neighbour does, for who plays with a small graph; "": not shown there

    def settings_from(self, **values: Any) -> Any:
        """Its own settings with those of ``values`` that it knows, all others at their defaults."""
        known = {field.name for field in dataclasses.fields(self.settings)}
        return self.settings(**{name: v for name, v in values.items() if name in known})
