"""Bayesian uncertainty propagation on graphs: data, methods, metrics."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bup.errors import BupError
from bup.spec import Spec

if TYPE_CHECKING:
    from bup import (
        calibrators,
        conformal,
        datasets,
        experiments,
        finding,
        inspection,
        likelihood,
        methods,
        metrics,
        own,
        predictions,
        propagation,
        runs,
        scores,
        splits,
        words,
    )
    from bup.datasets import GRAPHS, load_graph
    from bup.graph import Graph
    from bup.methods import METHODS
    from bup.results import Result, evaluate
    from bup.runs import fit, fit_many
    from bup.splits import Split, make_split
    from bup.store import Store
    from bup.training import Cancelled, Progress

__version__ = "0.1.0"

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
    "fit": "bup.runs",
    "fit_many": "bup.runs",
    "load_graph": "bup.datasets",
    "make_split": "bup.splits",
}
_MODULES = {
    "figures": "dashboard.notebook",
    **{
        name: f"bup.{name}"
        for name in (
            *("calibrators", "conformal", "datasets", "experiments", "finding", "inspection"),
            *("likelihood", "methods", "metrics", "own", "predictions", "propagation", "runs"),
            *("scores", "splits", "words"),
        )
    },
}

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
    "address",
    "calibrators",
    "conformal",
    "datasets",
    "evaluate",
    "experiments",
    "explore",
    "figures",
    "finding",
    "fit",
    "fit_many",
    "inspection",
    "likelihood",
    "load_graph",
    "make_split",
    "methods",
    "metrics",
    "own",
    "predictions",
    "propagation",
    "runs",
    "scores",
    "splits",
    "words",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    """What a Tab shows: what is public, whether it was asked for or not."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
