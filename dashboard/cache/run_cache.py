"""Trained runs and what is computed from them, shared by all browser sessions."""

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from bup.explanation.changes import Change, ChangeSearch
from bup.explanation.inspection import Inspection, Inspector
from bup.explanation.reasons import GroupReasons, Reasoner, Reasons
from bup.graph import Graph
from bup.io import files
from bup.io.csv import csv_text
from bup.propagation import Propagation
from bup.results.result import Result, evaluate, guessing_warning, node_table
from bup.run.spec import Run, Spec
from bup.scores import SCORES
from bup.training import fitting
from dashboard.cache import graphs
from dashboard.cache.shared_cache import cached
from dashboard.cache.unstored import UnstoredResults


class LoadedRun:
    """A trained run and what is computed from it, each part when it is first needed.

    It stays complete while a page uses it, also when the cache has dropped it.
    """

    def __init__(self, run: Run, graph: Graph, result: Result) -> None:
        self.run, self.graph, self.result = run, graph, result
        self._reports: dict[int, dict[str, Any]] = {}
        # All students of a class look at the same nodes; each takes a few kilobytes.
        self._inspected = lru_cache(512)(lambda node: self.inspector.inspect(node))
        self._interval = lru_cache(4096)(lambda node: self.inspector.interval(node))
        self._reasons = lru_cache(128)(lambda *asked: self.reasoner.explain(*asked))
        self._groups = lru_cache(32)(lambda nodes: self.reasoner.explain_group(nodes))
        self._changes = lru_cache(512)(self._search_changes)

    @property
    def spec(self) -> Spec:
        return self.run.spec

    @property
    def unstored_reason(self) -> str:
        """Why it is not on disk; empty if it is."""
        packed = unstored.find(self.run)
        return packed[1] if packed else ""

    @cached_property
    def guessing_warning(self) -> str:
        """A sentence if it is hardly better than guessing; empty if it is."""
        return guessing_warning(self.result, self.graph)

    @cached_property
    def table(self) -> pd.DataFrame:
        return node_table(self.result, self.graph)

    @cached_property
    def table_csv(self) -> str:
        return csv_text(self.table)

    def report(self, bins: int = 10) -> dict[str, Any]:
        if bins not in self._reports:
            distance = np.ma.masked_invalid(self.table["mean_distance"])
            self._reports[bins] = evaluate(self.result, self.graph, bins, distance=distance)
        return self._reports[bins]

    def surer(self, score: str, node: int) -> float:
        """The share of nodes that are less uncertain than this one, by a score."""
        doubt = self.table[score].to_numpy()
        if score in SCORES:
            doubt = SCORES[score].uncertainty(doubt)
        return float(np.mean(doubt < doubt[node]))

    @cached_property
    def inspector(self) -> Inspector:
        return Inspector(self.graph, self.result, graphs.inputs(self.graph))

    def inspection(self, node: int) -> Inspection:
        return self._inspected(node)

    @cached_property
    def reasoner(self) -> Reasoner:
        """Raises ``BupError`` where ``reasons.why_no_reasons`` says why there is none."""
        return Reasoner(self.graph, self.result, self.inspector)

    @cached_property
    def change_search(self) -> ChangeSearch:
        return ChangeSearch(self.reasoner)

    def reasons(self, node: int, against: int | None = None) -> Reasons:
        """Why the run prefers its answer for a node to another class, by default its rival."""
        return self._reasons(node, against)

    def changes(self, node: int, against: int | None = None) -> tuple[Change | None, Change | None]:
        """The fewest links, and the fewest words, without which the answer is another one."""
        return self._changes(node, against)

    def _search_changes(
        self, node: int, against: int | None
    ) -> tuple[Change | None, Change | None]:
        search, reasons = self.change_search, self.reasons(node, against)
        return search.fewest_links(reasons), search.fewest_words(reasons)

    def interval(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """The interval that holds 90% of a node's probabilities; faster than its inspection."""
        return self._interval(node)

    def group_reasons(self, nodes: tuple[int, ...]) -> GroupReasons:
        """What led a group of nodes to their answers."""
        return self._groups(nodes)

    @property
    def propagation(self) -> Propagation | None:
        """The run's propagation rule on its graph; None if its method has no variances."""
        return self.inspector.propagation

    @cached_property
    def layer_stds(self) -> dict[str, np.ndarray]:
        """Root mean variance [n] of the hidden message before and after each propagation step."""
        first, *others = self.inspector.layer_stds()
        steps = {f"step {number}": std for number, std in enumerate(others, 1)}
        return {"own words": first} | steps


@cached(by=lambda loaded_run, nodes: (loaded_run.run, nodes.tobytes()))
def tested_on(loaded_run: LoadedRun, nodes: np.ndarray) -> LoadedRun:
    """The same run, tested on some of its test nodes only."""
    return LoadedRun(loaded_run.run, loaded_run.graph, loaded_run.result.tested_on(nodes))


unstored = UnstoredResults()
"""Results of this server's trainings that could not be written to disk."""


class _NotTrained(Exception):
    """Raised so that nothing is cached: the run may be stored a moment later."""


def find(spec: Spec, graph: Graph) -> LoadedRun | None:
    """A run from memory or from disk; None while it is not trained."""
    try:
        return _load(fitting.run_of(spec, graph), graph)
    except _NotTrained:
        return None


@cached(by=lambda run, graph: run)
def _load(run: Run, graph: Graph) -> LoadedRun:
    result = fitting.load(run.spec, graph)
    if result is not None:
        return LoadedRun(run, graph, result)
    if (packed := unstored.find(run)) is None:
        raise _NotTrained
    return LoadedRun(run, graph, Result.unpack(run.spec, files.unpack(packed[0]), graph))
