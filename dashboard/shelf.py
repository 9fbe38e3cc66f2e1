"""What is known of each run: found or worked out once, and shared by every browser.

Kept by specification, never by arrays.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from bup import runs
from bup.inspection import Inspection, Lens, inspect, with_links
from bup.propagation import Propagation
from bup.results import Result, evaluate, node_table
from bup.spec import Spec
from dashboard.graphs import graph, inputs


@st.cache_resource(max_entries=24, show_spinner=False)
def _shelf(key: str) -> dict[Hashable, Any]:
    """What is known of one run; filled when the result is there."""
    return {}


def result(spec: Spec) -> Result | None:
    """The run's result if it is stored; once found, it is kept in memory."""
    shelf = _shelf(spec.key)
    if "result" not in shelf:
        found = runs.load(spec, graph(spec.graph))
        if found is None:
            return None
        shelf["result"] = found
    return shelf["result"]


def table(spec: Spec) -> pd.DataFrame:
    shelf = _shelf(spec.key)
    if "table" not in shelf:
        shelf["table"] = node_table(shelf["result"], graph(spec.graph))
    return shelf["table"]


def table_csv(spec: Spec) -> str:
    shelf = _shelf(spec.key)
    if "csv" not in shelf:
        shelf["csv"] = table(spec).to_csv(index=False)
    return shelf["csv"]


def report(spec: Spec, bins: int = 10) -> dict[str, Any]:
    shelf = _shelf(spec.key)
    if ("report", bins) not in shelf:
        shelf["report", bins] = evaluate(shelf["result"], graph(spec.graph), bins)
    return shelf["report", bins]


def _lens(spec: Spec) -> Lens:
    shelf = _shelf(spec.key)
    if "lens" not in shelf:
        found = result(spec)
        assert found is not None
        shelf["lens"] = Lens(graph(spec.graph), found, inputs(spec.graph))
    return shelf["lens"]


def inspection(
    spec: Spec,
    node: int,
    add: tuple[tuple[int, int], ...] = (),
    remove: tuple[tuple[int, int], ...] = (),
) -> Inspection:
    """One node of a run, on the graph as it is or with some links changed."""
    lens = _lens(spec)
    if not add and not remove:
        return lens.inspect(node)
    return inspect(with_links(lens.graph, add, remove), lens.result, node)


def propagation(spec: Spec) -> Propagation | None:
    """The run's rule at work; None if its method passes no variances on."""
    return _lens(spec).propagation


def layer_stds(spec: Spec) -> dict[str, np.ndarray]:
    """Root mean variance [n] of the hidden message before and after each propagation step."""
    shelf = _shelf(spec.key)
    if "layers" not in shelf:
        first, *others = _lens(spec).layer_stds()
        steps = {f"step {number}": std for number, std in enumerate(others, 1)}
        shelf["layers"] = {"own words": first} | steps
    return shelf["layers"]
