"""Measured numbers of every run, in a file that comes with the package.

The key of a row is that of its run, which holds the specification and the content of the graph:
rows of another graph or of other settings are not found.
"""

import datetime
import functools
import gzip
import importlib.resources
import json
import math
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version

import numpy as np
import pandas as pd

from bup.errors import BupError
from bup.experiments.question import PlannedRun, ResearchQuestion, Row, to_frame
from bup.graph import Graph
from bup.results.store import Store
from bup.training import fitting

VERSION = 1
DIGITS = 6  # significant digits of a stored number
Measured = dict[str, dict[str, Row]]
"""By question, then by the key of a run."""


@dataclass(frozen=True)
class ShippedResults:
    """The measured rows, and when and with what they were measured."""

    made: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    measured: Measured = field(default_factory=dict)

    def rows(
        self, question: ResearchQuestion, planned: Iterable[PlannedRun], graphs: Mapping[str, Graph]
    ) -> pd.DataFrame:
        """One row per planned run that is there, as ``measured_rows`` gives it from a store."""
        rows = self.measured.get(question.name, {})
        keys = ((run, fitting.run_of(run.spec, graphs[run.graph]).key) for run in planned)
        return to_frame(question, [run.identifiers | rows[key] for run, key in keys if key in rows])

    @property
    def origin(self) -> str:
        """When and with what, in words."""
        packages = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return f"{self.made} ({packages})" if self.made else "never"


@functools.cache
def load_shipped() -> ShippedResults:
    """The results that came with this package; none if the file is missing."""
    try:
        content = (importlib.resources.files("bup") / "shipped" / "results.json.gz").read_bytes()
    except FileNotFoundError:
        return ShippedResults()
    return unpack(content)


def collect(
    plans: Iterable[tuple[ResearchQuestion, list[PlannedRun]]],
    graphs: Mapping[str, Graph],
    store: Store,
    before: ShippedResults,
) -> ShippedResults:
    """Rows of these runs: measured from the store, else those of ``before``."""
    measured: Measured = {}
    for question, planned in plans:
        previous, rows = before.measured.get(question.name, {}), {}
        for run in planned:
            graph = graphs[run.graph]
            key = fitting.run_of(run.spec, graph).key
            result = fitting.load(run.spec, graph, store)
            if result is not None:
                rows[key] = _rounded(question.measure(result, graph, run.protocol))
            elif key in previous:
                rows[key] = previous[key]
        measured[question.name] = rows
    packages = {name: version(name) for name in ("torch", "numpy", "scipy")}
    versions = {"Python": platform.python_version()} | packages
    return ShippedResults(f"{datetime.date.today():%d %B %Y}", versions, measured)


def pack(results: ShippedResults) -> bytes:
    """Column names once for each question: rows of hundreds of runs share them."""
    tables = {}
    for question, rows in results.measured.items():
        columns = list(dict.fromkeys(name for row in rows.values() for name in row))
        values = {key: [row.get(name) for name in columns] for key, row in rows.items()}
        tables[question] = {"columns": columns, "rows": values}
    content = {
        "version": VERSION,
        "made": results.made,
        "versions": dict(results.versions),
        "tables": tables,
    }
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return gzip.compress(text.encode(), mtime=0)  # the same rows are the same bytes


def unpack(content: bytes) -> ShippedResults:
    try:
        plain = json.loads(gzip.decompress(content))
        if plain["version"] != VERSION:
            raise ValueError(f"version {plain['version']}, not {VERSION}")
        measured = {
            question: {
                key: {
                    name: value
                    for name, value in zip(table["columns"], values, strict=True)
                    if value is not None
                }
                for key, values in table["rows"].items()
            }
            for question, table in plain["tables"].items()
        }
        return ShippedResults(plain["made"], plain["versions"], measured)
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BupError(
            f"the results that came with the package cannot be read ({error}): install it again"
        ) from error


def _rounded(row: Row) -> Row:
    """Plain numbers of a few digits; what is not a number is left out."""
    plain: Row = {}
    for name, value in row.items():
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float):
            if math.isnan(value):
                continue
            value = float(f"{value:.{DIGITS}g}")
        plain[name] = value
    return plain
