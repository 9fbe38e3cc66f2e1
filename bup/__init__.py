"""Bayesian uncertainty propagation on graphs: data, methods, metrics."""

# ruff: noqa: F401 (names for type checkers)

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bup.errors import BupError
from bup.io import plugins
from bup.io.aliases import Aliases
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
    from bup.explanation.explain import explain
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

__version__ = "0.2.0"

# Importing torch takes seconds and SciPy tenths of a second: names are imported when used.
_NAMES_IN = {
    "bup.datasets": ("GRAPHS", "load_graph"),
    "bup.engine.loop": ("Cancelled", "Progress"),
    "bup.explanation.explain": ("explain",),
    "bup.graph": ("Graph",),
    "bup.methods": ("METHODS",),
    "bup.results.result": ("Result", "evaluate"),
    "bup.results.store": ("Store",),
    "bup.run.splits": ("Split", "make_split"),
    "bup.training.fitting": ("fit", "fit_many"),
}
_LAZY = {name: module for module, names in _NAMES_IN.items() for name in names}
_FOLDERS = (
    *("calibrators", "datasets", "experiments", "likelihood"),
    *("methods", "metrics", "propagation", "scores"),
)
_ALIASES = {
    "conformal": "bup.metrics.conformal",
    "finding": "bup.explanation.detection",
    "inspection": "bup.explanation.inspection",
    "own": "bup.training.torch_model",
    "predictions": "bup.imported.predictions",
    "runs": "bup.training.fitting",
    "splits": "bup.run.splits",
    "words": "bup.graph.words",
}
_PATHS = {f"bup.{name}": module for name, module in _ALIASES.items()}
# bup.late is imported by methods that users wrote.
sys.meta_path.append(Aliases(_PATHS | {"bup.late": "bup.io.lazy"}))

_OF_THE_DASHBOARD = ("address", "explore", "figures", "show")  # found by its entry points

__all__ = sorted(["BupError", "Spec", *_LAZY, *_FOLDERS, *_ALIASES, *_OF_THE_DASHBOARD])


def __getattr__(name: str) -> Any:
    if name in _FOLDERS or name in _ALIASES:
        return import_module(f"bup.{name}")
    if name in _OF_THE_DASHBOARD:
        return plugins.load(plugins.PUBLIC, name)
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    """The public names, also those that are not imported yet."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
