"""What a result from a file must satisfy, beyond its checksum, before it is used."""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from bup.engine.loop import CURVES
from bup.graph import Graph
from bup.graph.arrays import is_whole
from bup.io.files import DamagedFile
from bup.methods.base import Explains, StoredRequirements
from bup.results.result import Result

SPREADS, LARGEST = ("variance_factor", "variance_width"), 10_000
"""Constants that all messages of a run are widened by."""
SLACK = 1e-3  # by which a row of probabilities may miss one


def check(result: Result, graph: Graph, explains: Explains) -> None:
    """Raise DamagedFile with the first fault."""
    for wrong in _faults(result, graph, explains):
        raise DamagedFile(wrong)


def _faults(result: Result, graph: Graph, explains: Explains) -> Iterator[str]:
    split, n = result.split, graph.num_nodes
    classes = (*split.classes, *split.left_out)
    exist = all(is_whole(c) and 0 <= c < graph.num_classes for c in classes)
    if len(split.classes) < 2 or not exist:
        yield f"its classes are {classes}, not those of the graph"
    if len(set(classes)) != len(classes):
        yield "a class occurs twice in it"
    nodes = [split.train, split.validation, split.test]
    for part in nodes:
        if part.ndim != 1 or part.dtype.kind != "i" or len(part) == 0:
            yield "a part of its split is no list of nodes"
        elif part.min() < 0 or part.max() >= n:
            yield f"its split names nodes beyond the graph's {n}"
    together = np.concatenate(nodes)
    if len(np.unique(together)) != len(together):
        yield "a node is in two parts of its split"
    shape = (n, len(split.classes))
    if not _table(result.probs, shape) or result.probs.min() < 0:
        yield f"its probabilities are no table of {shape} finite numbers"
    elif np.abs(result.probs.sum(axis=1) - 1).max() > SLACK:
        yield "its probabilities do not sum to one"
    if explains.variance and (result.mean is None or result.var is None):
        yield "it lacks the messages of a method that has them"
    if result.mean is not None and not _table(result.mean, shape):
        yield f"its message means are no table of {shape} finite numbers"
    if result.var is not None and (not _table(result.var, shape) or result.var.min() < 0):
        yield f"its message variances are no table of {shape} finite numbers"
    for name, score in result.own_scores.items():
        if not _table(score, (n,)):
            yield f"its score {name} is no list of {n} finite numbers"
    for name, weights in result.weights.items():
        if not _table(weights, weights.shape):
            yield f"its weights {name} are not finite numbers"
    curves = result.history
    if not isinstance(curves, dict) or not set(CURVES) <= set(curves):
        yield f"its history lacks one of {', '.join(CURVES)}"
    elif not all(
        isinstance(curve, list)
        and len(curve) == len(curves["loss"]) > 0
        and all(map(_finite, curve))
        for curve in curves.values()
    ):
        yield "its history is not a finite number per epoch"
    elif not (is_whole(result.kept_epoch) and 1 <= result.kept_epoch <= len(curves["loss"])):
        yield f"its kept epoch is {result.kept_epoch!r}"
    if not _finite(result.seconds) or result.seconds < 0:
        yield f"it took {result.seconds!r} seconds"
    constants = result.constants
    if not isinstance(constants, dict) or not all(map(_finite, constants.values())):
        yield "its constants are not finite numbers"
    elif any(not 0 < constants.get(name, 1) < LARGEST for name in SPREADS):
        yield f"of its constants, {' and '.join(SPREADS)} are no numbers from 0 to {LARGEST:,}"
    if explains.requires is not None:
        yield from _lacks(result, explains.requires(result, graph))


def _lacks(result: Result, required: StoredRequirements) -> Iterator[str]:
    """Weights and constants that the method needs to explain the result, and that are wrong."""
    shapes = {name: array.shape for name, array in result.weights.items()}
    if shapes != required.weights:
        yield f"its weights are {shapes}, not those of its method, {dict(required.weights)}"
    if any(array.dtype != np.float32 for array in result.weights.values()):
        yield "its weights are not of single precision"
    here = {name for name in required.constants if name in result.constants}
    if here and here != set(required.constants):
        yield f"of its constants, {', '.join(sorted(set(required.constants) - here))} are missing"
    elif any(result.constants[name] < 0 for name in here):
        yield f"of its constants, one of {', '.join(sorted(here))} is negative"


def _table(values: np.ndarray, shape: tuple[int, ...]) -> bool:
    return values.shape == shape and values.dtype.kind == "f" and bool(np.isfinite(values).all())


def _finite(value: Any) -> bool:
    """Whether it is finite; an integer of hundreds of digits cannot become a float."""
    most = sys.float_info.max
    return isinstance(value, int | float) and bool(-most <= value <= most)
