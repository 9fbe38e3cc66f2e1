"""Bayesian uncertainty propagation on graphs: data, methods, metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bup.errors import BupError
from bup.spec import Spec

if TYPE_CHECKING:
    from bup.datasets import GRAPHS, load_graph
    from bup.graph import Graph
    from bup.methods import METHODS
    from bup.results import Result, evaluate
    from bup.runs import fit, fit_many
    from bup.splits import Split, make_split
    from bup.store import Store
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

# Importing torch takes seconds, SciPy tenths: only those who need them wait. What draws is in the
# dashboard; three doors lead there, and of what is in here only ``bup import`` goes through one.
_LAZY = {
    "GRAPHS": "bup.datasets",
    "METHODS": "bup.methods",
    "Cancelled": "bup.training",
    "Graph": "bup.graph",
    "Progress": "bup.training",
    "Result": "bup.results",
    "Split": "bup.splits",
    "Store": "bup.store",
    "address": "dashboard.notebook",
    "evaluate": "bup.results",
    "explore": "dashboard.notebook",
    "figures": "dashboard.notebook",
    "fit": "bup.runs",
    "fit_many": "bup.runs",
    "load_graph": "bup.datasets",
    "make_split": "bup.splits",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module = importlib.import_module(_LAZY[name])
    return module if name == "figures" else getattr(module, name)
