"""Cells of a table, and what is measured of the runs that are stored."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

import bup
from bup import experiments, runs
from bup.experiments import QUESTIONS, Planned, Question
from bup.graph import Graph

SLOW = 0.02  # seconds: what is read from the cache takes less


class Cell(NamedTuple):
    """A row of a table."""

    per_class: int
    protocol: str
    method: str

    @classmethod
    def of(cls, run: Planned) -> Cell:
        return cls(run.per_class, run.protocol.name, run.contender)

    @property
    def group(self) -> str:
        """What it shares with the rows around it."""
        size = f"{self.per_class} per class" if self.per_class else ""
        return ", ".join(filter(None, (self.protocol, size)))

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Its own among rows or lines of a table."""
        same = (table.per_class == self.per_class) & (table.protocol == self.protocol)
        return table[same & (table.method == self.method)]


class Source:
    """Reruns of one origin: their rows, and what they come to."""

    def __init__(self, name: str, rows: pd.DataFrame, question: Question) -> None:
        self.name, self.rows = name, rows
        self.lines = experiments.summary(question, rows)


def measured_rows(question: str, planned: list[Planned], graph: Graph) -> pd.DataFrame:
    """What came with the package of each planned run."""
    return experiments.shipped().rows(QUESTIONS[question], planned, {graph.name: graph})


def stored_rows(question: Question, planned: list[Planned], graph: Graph) -> pd.DataFrame:
    """What is measured of each planned run that is stored."""
    store, rows = bup.Store(), []
    bar = st.empty()
    for done, run in enumerate(planned):
        try:
            identity = runs.run_of(run.spec, graph)
            stamp = store.path(identity).stat().st_mtime_ns
        except OSError:
            continue
        start = time.monotonic()
        row = _measured(question.name, identity.key, stamp, run, graph)
        if time.monotonic() - start > SLOW:  # not from the cache: then there are more to come
            bar.progress(done / len(planned), f"Measuring stored runs: {done} of {len(planned)}")
        if row is not None:
            rows.append(run.place | row)
    bar.empty()
    return experiments.frame_of(question, rows)


@st.cache_data(max_entries=10_000, show_spinner=False)
def _measured(
    question: str, key: str, stamp: int, _run: Planned, _graph: Graph
) -> dict[str, Any] | None:
    result = runs.load(_run.spec, _graph)
    return None if result is None else QUESTIONS[question].measure(result, _graph, _run.protocol)
