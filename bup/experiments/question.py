"""What a question is, and the runs that answer it."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from bup.datasets import load_graph
from bup.experiments.protocols import Protocol, all_known
from bup.experiments.variants import PAPERS_BUP, MethodVariant, find_variant
from bup.graph import Graph
from bup.methods import complete, find
from bup.results.result import Result
from bup.results.store import Store
from bup.run.spec import Spec
from bup.training import fitting

Row = dict[str, Any]
Measure = Callable[[Result, Graph, Protocol], Row]


@dataclass(frozen=True)
class Quantity:
    """A column of a table."""

    key: str
    title: str
    better: int  # 1: the higher, -1: the lower, 0: neither
    digits: int = 2


@dataclass(frozen=True)
class ResearchQuestion:
    """A table: which runs, what is measured of each, how the columns are called."""

    name: str
    title: str
    graphs: tuple[str, ...]
    sizes: tuple[int, ...]
    variants: tuple[MethodVariant, ...]
    measure: Measure
    quantities: tuple[Quantity, ...]
    protocols: Callable[[Graph], list[Protocol]] = all_known
    reruns: int = 10
    first_seed: int = 0
    words: tuple[str, ...] = ()  # measured texts that become columns too
    pooled: bool = False  # one row per variant over all cells, best first by the second quantity
    reference: str = PAPERS_BUP  # the variant that all others are tested against
    note: str = ""


@dataclass(frozen=True)
class PlannedRun:
    """A run and its place in a table."""

    graph: str
    per_class: int  # 0: as the protocol's split says
    protocol: Protocol
    variant: str
    spec: Spec

    @property
    def identifiers(self) -> Row:
        return {
            "graph": self.graph,
            "per_class": self.per_class,
            "protocol": self.protocol.name,
            "method": self.variant,
            "seed": self.spec.seed,
        }


CELL = ["graph", "per_class", "protocol", "method"]


def choose_variants(question: ResearchQuestion, labels: Sequence[str]) -> list[MethodVariant]:
    """By their labels in this question, or by the names of methods."""
    own = {c.label: c for c in question.variants}
    return [own[label] if label in own else find_variant(label) for label in labels]


def plan_runs(
    question: ResearchQuestion,
    graphs: Mapping[str, Graph],
    sizes: Sequence[int] = (),
    variants: Sequence[MethodVariant] = (),
    reruns: int | None = None,
    protocols: Callable[[Graph], list[Protocol]] | None = None,
) -> list[PlannedRun]:
    """Every run of a question. By default, a method that refuses a graph is left out for it."""
    first = question.first_seed
    seeds = range(first, first + (reruns or question.reruns))
    planned = []
    for name, graph in graphs.items():
        for protocol, size, who in itertools.product(
            (protocols or question.protocols)(graph),
            sizes or question.sizes,
            variants or question.variants,
        ):
            size = 0 if protocol.split else size  # as the split says
            nodes: Row = {"per_class": size or Spec.per_class}
            nodes |= {"left_out": protocol.left_out, "split": protocol.split}
            spec = complete(Spec.for_graph(graph, who.method, who.settings, **nodes))
            most = find(spec.method).max_nodes
            if not variants and most is not None and graph.num_nodes > most:
                continue
            planned += [
                PlannedRun(name, size, protocol, who.label, dataclasses.replace(spec, seed=seed))
                for seed in seeds
            ]
    return list(dict.fromkeys(planned))  # a split has no sizes: it would come once for each


def measured_rows(
    question: ResearchQuestion,
    planned: Iterable[PlannedRun],
    graphs: Mapping[str, Graph],
    store: Store,
) -> pd.DataFrame:
    """One row per run that the store holds: its place and what is measured of it."""
    rows = []
    for run in planned:
        graph = graphs[run.graph]
        result = fitting.load(run.spec, graph, store)
        if result is not None:
            rows.append(run.identifiers | question.measure(result, graph, run.protocol))
    return to_frame(question, rows)


def to_frame(question: ResearchQuestion, rows: list[Row]) -> pd.DataFrame:
    """Rows as a table; without rows it still has the question's columns."""
    columns = [*CELL, "seed", *question.words, *(f.key for f in question.quantities)]
    return pd.DataFrame(rows, columns=None if rows else columns)


def load_graphs(names: Iterable[str]) -> dict[str, Graph]:
    return {name: load_graph(name) for name in names}
