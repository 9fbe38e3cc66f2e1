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
    """What changed a node's variance in one step: before + own + changes = after, exactly."""

    neighbours: np.ndarray  # [k] node indices
    change: np.ndarray  # [k, c] what each of them added to the variance (negative: took off)
    own: np.ndarray  # [c] what the node itself added
    before: np.ndarray  # [c]
    after: np.ndarray  # [c]


class Formula(NamedTuple):
    """A rule in words and LaTeX, with the numbers of one node."""

    words: str
    latex: str = ""
    meaning: str = ""


class Breakdown(NamedTuple):
    """Numbers that add up to a total, each beside its mean over the graph."""

    title: str
    names: list[str]
    values: list[float]
    usual: list[float]


class Propagation(ABC):
    """A rule applied to one graph."""

    factor: np.ndarray | None = None
    """The factor [n] of each node's variance in a step, where it depends on no variance."""
    constants: Mapping[str, float] = {}
    """Numbers measured on the training graph, which stay the same when links are changed."""

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
        """Further tables about a node, for rules that have them."""
        return []

    def arithmetic(self, node: int) -> list[Operation]:
        """The operations that give a node's ``factor``; the last result is the factor."""
        return []

    def after_training(
        self, split: Split, mean: np.ndarray, probs: np.ndarray, constants: Mapping[str, float]
    ) -> Propagation:
        """The rule to use after training, given the model's outputs for every node [n, c].

        ``constants`` were measured on the training graph; they are empty on that graph itself.
        """
        return self


@dataclass(frozen=True)
class NoSettings:
    """Settings of a rule that has none."""


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
    constants: tuple[str, ...] = ()  # names of the numbers that a run stores, see ``Propagation``
    unseen: str = ""  # a caution about finding unseen classes by message uncertainty
    lesson: str = ""  # what a neighbour does, for lesson 3; empty: not shown there

    def settings_from(self, **values: Any) -> Any:
        """The rule's settings from those ``values`` that it has; the others have their defaults."""
        names = {field.name for field in dataclasses.fields(self.settings)}
        return self.settings(**{name: v for name, v in values.items() if name in names})
