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
from bup.inspection import Inspection, inspect, with_links
from bup.methods import METHODS, settings_of
from bup.methods import bup as bup_method
from bup.results import Result, evaluate, node_table
from bup.scores import KINDS
from bup.spec import Spec
from dashboard import columns
from dashboard.graphs import graph, inputs


@st.cache_resource(max_entries=24, show_spinner=False)
def _shelf(key: str) -> dict[Hashable, Any]:
    """What is known of one run; filled when the result is there."""
    return {}


def result(spec: Spec) -> Result | None:
    """The run's result if it is stored; once found, it is kept in memory."""
    shelf = _shelf(spec.key)
    if "result" not in shelf:
        found = runs.stored(spec, graph(spec.graph))
        if found is None:
            return None
        shelf["result"] = found
    return shelf["result"]


def table(spec: Spec) -> pd.DataFrame:
    shelf = _shelf(spec.key)
    if "table" not in shelf:
        found = node_table(shelf["result"], graph(spec.graph))
        found.attrs["scores"] = {
            score.name: (score.title, f"{score.help} {KINDS[score.kind].capitalize()}.")
            for score in METHODS[spec.method].scores
            if score.name not in columns.KNOWN
        }
        shelf["table"] = found
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


def inspection(
    spec: Spec,
    node: int,
    add: tuple[tuple[int, int], ...] = (),
    remove: tuple[tuple[int, int], ...] = (),
) -> Inspection:
    """One node of a run, on the graph as it is or with some links changed."""
    here = graph(spec.graph)
    found = result(spec)
    assert found is not None
    if not add and not remove:
        return inspect(here, found, node, inputs=inputs(spec.graph))
    return inspect(with_links(here, add, remove), found, node)


def layer_stds(spec: Spec) -> dict[str, np.ndarray]:
    """Root mean variance [n] of the hidden message before, between and after propagation."""
    shelf = _shelf(spec.key)
    if "layers" not in shelf:
        found = result(spec)
        assert found is not None
        traced = bup_method.trace(graph(spec.graph), found.weights, settings_of(spec))
        first, second = traced.layers
        steps = {
            "from its own words": first.before,
            "after one step": first.after,
            "after two steps": second.after,
        }
        shelf["layers"] = {name: v.mean(dim=1).sqrt().numpy() for name, v in steps.items()}
    return shelf["layers"]
