"""Bayesian uncertainty propagation on graphs: data, methods, metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bup.datasets import GRAPHS, load_graph
from bup.errors import BupError
from bup.graph import Graph
from bup.spec import Spec
from bup.splits import Split, make_split
from bup.store import Store

if TYPE_CHECKING:
    from bup.methods import METHODS
    from bup.results import Result, evaluate
    from bup.runs import fit, fit_many
    from bup.training import Cancelled, Progress

__version__ = "0.1.0"

__all__ = [
    "GRAPHS",
    "METHODS",
    "BupError",
    "Cancelled",
    "Graph",
    "Progress",
    "Result",
    "Spec",
    "Split",
    "Store",
    "evaluate",
    "fit",
    "fit_many",
    "load_graph",
    "make_split",
]

# Importing torch takes seconds: only those who train wait for it. What draws is in the dashboard;
# these two doors lead there from a notebook, and nothing in here needs them.
_LAZY = {
    "METHODS": "bup.methods",
    "Cancelled": "bup.training",
    "Progress": "bup.training",
    "Result": "bup.results",
    "evaluate": "bup.results",
    "explore": "dashboard.notebook",
    "figures": "dashboard.notebook",
    "fit": "bup.runs",
    "fit_many": "bup.runs",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module = importlib.import_module(_LAZY[name])
    return module if name == "figures" else getattr(module, name)
