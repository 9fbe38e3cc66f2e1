"""Bayesian uncertainty propagation on graphs: data, methods, metrics."""

# ruff: noqa: F401 (names for type checkers)

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bup.errors import BupError
from bup.io import aliases, plugins
from bup.run.spec import Spec

if TYPE_CHECKING:
    from bup import (
        calibrators,
        datasets,
        experiments,
        likelihood,
        methods,
        metrics,
        propagation,
        scores,
    )
    from bup.datasets import GRAPHS, load_graph
    from bup.engine.loop import Cancelled, Progress
    from bup.explanation import detection as finding
    from bup.explanation import inspection
    from bup.graph import Graph, words
    from bup.imported import predictions
    from bup.methods import METHODS
    from bup.metrics import conformal
    from bup.results.result import Result, evaluate
    from bup.results.store import Store
    from bup.run import splits
    from bup.run.splits import Split, make_split
    from bup.training import fitting as runs
    from bup.training import torch_model as own
    from bup.training.fitting import fit, fit_many

__version__ = "0.1.0"

# Importing torch takes seconds and SciPy tenths of a second: names are imported when used.
_LAZY = {
    "GRAPHS": "bup.datasets",
    "METHODS": "bup.methods",
    "Cancelled": "bup.engine.loop",
    "Graph": "bup.graph",
    "Progress": "bup.engine.loop",
    "Result": "bup.results.result",
    "Split": "bup.run.splits",
    "Store": "bup.results.store",
    "evaluate": "bup.results.result",
    "fit": "bup.training.fitting",
    "fit_many": "bup.training.fitting",
    "load_graph": "bup.datasets",
    "make_split": "bup.run.splits",
}
_MODULES = {
    "calibrators": "bup.calibrators",
    "conformal": "bup.metrics.conformal",
    "datasets": "bup.datasets",
    "experiments": "bup.experiments",
    "finding": "bup.explanation.detection",
    "inspection": "bup.explanation.inspection",
    "likelihood": "bup.likelihood",
    "methods": "bup.methods",
    "metrics": "bup.metrics",
    "own": "bup.training.torch_model",
    "predictions": "bup.imported.predictions",
    "propagation": "bup.propagation",
    "runs": "bup.training.fitting",
    "scores": "bup.scores",
    "splits": "bup.run.splits",
    "words": "bup.graph.words",
}

_PUBLIC_PATHS = {f"{__name__}.{name}": module for name, module in _MODULES.items()}
aliases.install(
    {path: module for path, module in _PUBLIC_PATHS.items() if path != module}
    | {"bup.late": "bup.io.lazy"}  # imported by methods that users wrote
)

_OF_THE_DASHBOARD = ("address", "explore", "figures")  # found by its entry points

__all__ = sorted(["BupError", "Spec", *_LAZY, *_MODULES, *_OF_THE_DASHBOARD])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _OF_THE_DASHBOARD:
        return plugins.load(plugins.PUBLIC, name)
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    """The public names, also those that are not imported yet."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
