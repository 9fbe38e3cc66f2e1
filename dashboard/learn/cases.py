"""The runs that lessons show: the same as the dashboard's, so that a link opens them at once."""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from bup import runs
from bup.datasets import citation
from bup.experiments import STRONG_GCN
from bup.graph import Graph
from bup.methods import complete
from bup.results import Result
from bup.runs import run_of
from bup.spec import Spec
from bup.splits import usual_sizes
from dashboard import graphs, shelf, state
from dashboard.kept import kept

CALIBRATED = {**dict(STRONG_GCN), "calibrate": "temperature"}
"""Settings of a GCN whose confidence was corrected on the validation papers."""


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """A graph and a run on it."""

    graph: Graph
    spec: Spec
    result: Result


def graph_name() -> str:
    """Cora, or the synthetic graph where Cora has not been fetched."""
    return "cora" if citation.is_cached("cora") else "synthetic"


def case(name: str, method: str, left_out: tuple[int, ...] = (), **settings: Any) -> Case:
    """A run as the dashboard would train it; trained here if nobody has yet, in a second or two."""
    graph = graphs.graph(name)
    validation, test = usual_sizes(graph)
    spec = complete(
        Spec(
            graph=graph.name,
            method=method,
            validation=validation,
            test=test,
            left_out=left_out,
            settings=tuple(settings.items()),
        )
    )
    known = shelf.find(spec, graph)
    return Case(graph, spec, known.result if known is not None else _trained(spec, graph))


@kept(by=run_of)
def _trained(spec: Spec, graph: Graph) -> Result:
    """One training however many students ask for it at once."""
    with st.spinner("Training a model, a second or two ..."):
        (result,) = runs.fit_specs(graph, [spec])
    runs.save(result, graph)
    return result


def query(case: Case, **more: str) -> list[tuple[str, str]]:
    """The parameters of a link that opens this run in the dashboard."""
    return [*state.parameters(case.spec, case.graph), *more.items()]
