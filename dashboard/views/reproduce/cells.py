"""Cells of the paper's tables, and the results of the runs that are stored."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

import bup
from bup import experiments
from bup.experiments import QUESTIONS, Comparison, PlannedRun, ResearchQuestion
from bup.graph import Graph
from bup.run.spec import Run, Spec
from bup.training import fitting
from dashboard.cache.shared_cache import cached

SLOW = 0.02  # seconds: reading from the cache takes less


class Cell(NamedTuple):
    """A row of a table."""

    per_class: int
    protocol: str
    method: str

    @classmethod
    def of(cls, run: PlannedRun) -> Cell:
        return cls(run.per_class, run.protocol.name, run.variant)

    @property
    def group(self) -> str:
        """What the cell shares with the rows around it."""
        size = f"{self.per_class} per class" if self.per_class else ""
        return ", ".join(filter(None, (self.protocol, size)))


@dataclass(frozen=True, eq=False)
class Plan:
    """The runs of a table on one graph."""

    question: ResearchQuestion
    graph: Graph
    runs: Mapping[PlannedRun, Run]  # each planned run and its key in the store

    @property
    def key(self) -> Hashable:
        return self.question.name, self.graph.digest

    @cached_property
    def cells(self) -> list[Cell]:
        return list(dict.fromkeys(map(Cell.of, self.runs)))

    def specs_of(self, cell: Cell) -> dict[int, Spec]:
        """The reruns of a cell, by their seeds."""
        return {run.spec.seed: run.spec for run in self.runs if Cell.of(run) == cell}


@cached(by=lambda question, graph: (question.name, graph.digest))
def plan_of(question: ResearchQuestion, graph: Graph) -> Plan:
    planned = experiments.plan_runs(question, {graph.name: graph})
    return Plan(question, graph, {run: fitting.run_of(run.spec, graph) for run in planned})


class RerunSet:
    """Reruns from one source and their summary. Equal keys mean equal reruns."""

    def __init__(self, name: str, rows: pd.DataFrame, plan: Plan, key: Hashable = None) -> None:
        self.name, self.rows, self.key = name, rows, (name, plan.key, key)
        self.lines = experiments.summary(plan.question, rows)
        self._question = plan.question

    def of(self, cell: Cell) -> pd.DataFrame:
        """The reruns of a cell."""
        return self._rows.get(cell, self.rows.iloc[:0])

    def lines_of(self, cell: Cell) -> dict[str, Any]:
        """The summary of a cell's reruns, by quantity."""
        return self._lines.get(cell, {})

    @cached_property
    def comparisons(self) -> list[Comparison]:
        question = self._question
        return experiments.comparisons(self.rows, question.quantities, question.reference)

    @cached_property
    def _rows(self) -> dict[Cell, pd.DataFrame]:
        return _by_cell(self.rows)

    @cached_property
    def _lines(self) -> dict[Cell, dict[str, Any]]:
        return {
            cell: {line.quantity: line for line in part.itertuples()}
            for cell, part in _by_cell(self.lines).items()
        }


def _by_cell(table: pd.DataFrame) -> dict[Cell, pd.DataFrame]:
    return {Cell(*cell): part for cell, part in table.groupby(list(Cell._fields), sort=False)}


@cached(by=lambda plan: plan.key)
def measured(plan: Plan) -> RerunSet:
    """The results that came with the package."""
    rows = experiments.load_shipped().rows(plan.question, plan.runs, {plan.graph.name: plan.graph})
    return RerunSet("as measured", rows, plan)


def stored(plan: Plan) -> RerunSet:
    """The results of the runs that are stored on this machine."""
    return _stored(plan, stamps_of(plan))


@cached(by=lambda plan, stamps: (plan.key, stamps))
def _stored(plan: Plan, stamps: tuple[int, ...]) -> RerunSet:
    return RerunSet("trained here", stored_rows(plan, stamps), plan, stamps)


def stamps_of(plan: Plan) -> tuple[int, ...]:
    """When each run was stored; 0 for a run that is not stored."""
    store, stamps = bup.Store(), []
    for run in plan.runs.values():
        try:
            stamps.append(store.path(run).stat().st_mtime_ns)
        except OSError:
            stamps.append(0)
    return tuple(stamps)


def stored_rows(plan: Plan, stamps: tuple[int, ...]) -> pd.DataFrame:
    """A row per stored run; a result is measured once and then cached for all browsers."""
    rows, bar = [], st.empty()
    for done, ((run, identity), stamp) in enumerate(zip(plan.runs.items(), stamps, strict=True)):
        if not stamp:
            continue
        start = time.monotonic()
        row = _measured(plan.question.name, identity.key, stamp, run, plan.graph)
        if time.monotonic() - start > SLOW:  # not from the cache: the next ones will not be either
            share = done / len(stamps)
            bar.progress(share, f"Measuring stored runs: {done} of {len(stamps)}")
        if row is not None:
            rows.append(run.identifiers | row)
    bar.empty()
    return experiments.to_frame(plan.question, rows)


@st.cache_data(max_entries=10_000, show_spinner=False)
def _measured(
    question: str, key: str, stamp: int, _run: PlannedRun, _graph: Graph
) -> dict[str, Any] | None:
    result = fitting.load(_run.spec, _graph)
    return None if result is None else QUESTIONS[question].measure(result, _graph, _run.protocol)
