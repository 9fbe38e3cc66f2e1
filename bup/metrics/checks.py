"""What the arrays that are measured have to be."""

import numpy as np

from bup.errors import BupError

TOLERANCE = 1e-4
"""How far float32 rounding may carry a probability out of [0, 1], or a row's sum away from 1."""


def array(values: np.ndarray, what: str, *axes: str) -> np.ndarray:
    if np.ma.is_masked(values):
        raise BupError(
            f"{what} must not be masked, got {np.ma.count_masked(values)} masked values: "
            "leave those nodes out"
        )
    array = np.asarray(values)
    if array.ndim != len(axes) or array.size == 0:
        raise BupError(
            f"{what} must be a non-empty array [{', '.join(axes)}], got shape {array.shape}"
        )
    if array.dtype.kind not in "biuf":
        raise BupError(f"{what} must be real numbers, got {array.dtype}: convert them first")
    array = array.astype(np.float64)
    bad = int((~np.isfinite(array)).sum())
    if bad:
        raise BupError(
            f"{what} must be finite, got {bad} NaN or infinite values: leave those nodes out"
        )
    return array


def probabilities(probs: np.ndarray) -> np.ndarray:
    probs = array(probs, "probabilities", "nodes", "classes")
    if probs.min() < -TOLERANCE or probs.max() > 1 + TOLERANCE:
        raise BupError(
            f"probabilities must be between 0 and 1, got {probs.min():g} to {probs.max():g}: "
            "turn scores into probabilities first"
        )
    total = probs.sum(axis=1)
    worst = int(np.abs(total - 1).argmax())
    if abs(total[worst] - 1) > TOLERANCE:
        raise BupError(
            f"the probabilities of a node must sum to 1, got {total[worst]:g} in row {worst}: "
            "divide each row by its sum"
        )
    return probs.clip(0, 1)


def variances(var: np.ndarray) -> np.ndarray:
    var = array(var, "variances", "nodes", "classes")
    if var.min() <= 0:
        raise BupError(
            f"variances must be above 0, got {var.min():g}: "
            "give variances, not logarithms, kept away from 0"
        )
    return var


def predictions(probs: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    probs = probabilities(probs)
    values = array(labels, "labels", "nodes")
    if np.asarray(labels).dtype.kind not in "iu":
        raise BupError(
            f"labels must be whole numbers, got {np.asarray(labels).dtype}: give class numbers"
        )
    nodes, classes = probs.shape
    if len(values) != nodes:
        raise BupError(f"{len(values)} labels for {nodes} rows of probabilities: give one each")
    if values.min() < 0 or values.max() >= classes:
        raise BupError(
            f"labels must be between 0 and {classes - 1}, got {values.min():g} to "
            f"{values.max():g}: leave out nodes without a label or of a class not predicted"
        )
    return probs, values.astype(np.int64)


def flags(values: np.ndarray, what: str, nodes: int) -> np.ndarray:
    flags = array(values, what, "nodes")
    if len(flags) != nodes:
        raise BupError(f"{what} has {len(flags)} entries for {nodes} nodes: give one each")
    if not np.isin(flags, (0, 1)).all():
        raise BupError(
            f"{what} must be true or false, got {flags.min():g} to {flags.max():g}: give a mask"
        )
    return flags.astype(bool)


def detection(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scores = array(scores, "scores", "nodes")
    positive = flags(positive, "positive", len(scores))
    if positive.all() or not positive.any():
        raise BupError(
            f"detection needs positive nodes and others, got {positive.sum()} positive of "
            f"{len(positive)}: give nodes of both groups"
        )
    return scores, positive


def pairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if np.shape(x) != np.shape(y) or np.ndim(x) != 1:
        raise BupError(f"x and y must be of one length, got shapes {np.shape(x)} and {np.shape(y)}")
    present = ~(np.ma.getmaskarray(x) | np.ma.getmaskarray(y))
    if present.sum() < 3:
        raise BupError(
            f"a correlation needs at least 3 pairs, got {present.sum()} that are not masked: "
            "give more nodes"
        )
    x, y = (array(np.ma.getdata(v)[present], what, "nodes") for v, what in ((x, "x"), (y, "y")))
    for what, values in (("x", x), ("y", y)):
        if (values == values[0]).all():
            raise BupError(
                f"{what} must vary, got {values[0]:g} for all {len(values)} nodes: "
                "a constant correlates with nothing"
            )
    return x, y


def whole(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise BupError(f"{what} must be a whole number of at least 1, got {value!r}")
    return int(value)
