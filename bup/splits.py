"""Which nodes train, validate and test: the paper's random protocol, unseen classes included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bup.errors import BupError
from bup.graph import UNLABELLED, Graph

MAX_SEED = 2**32 - 1


@dataclass(frozen=True, eq=False)
class Split:
    """Node indices of each part; every part is in the order in which its nodes were drawn.

    ``classes`` are the classes a model learns: column k of its output is class ``classes[k]``. The
    test part holds nodes of every class, the left-out ones too; those are out of distribution.
    """

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    classes: tuple[int, ...]
    left_out: tuple[int, ...]

    def targets(self, labels: np.ndarray) -> np.ndarray:
        """Output columns for class labels; UNLABELLED for a left-out class or an unknown label."""
        column = np.full(max((*self.classes, *self.left_out)) + 2, UNLABELLED)
        column[list(self.classes)] = np.arange(len(self.classes))
        return column[labels]  # the last entry serves UNLABELLED, which is -1

    def is_ood(self, labels: np.ndarray) -> np.ndarray:
        """Mask of the labels that belong to a left-out class."""
        return np.isin(labels, self.left_out)


def usual_sizes(graph: Graph) -> tuple[int, int | None]:
    """Validation and test nodes: the paper's where they fit, else a share of a small graph."""
    labelled = int(graph.labelled.sum())
    return (200, 2000) if labelled >= 2600 else (max(1, min(200, labelled // 5)), None)


def make_split(
    graph: Graph,
    per_class: int = 20,
    validation: int = 200,
    test: int | None = 2000,
    left_out: Iterable[int] = (),
    seed: int = 0,
) -> Split:
    """Draw a split at random; the same arguments give the same split on every machine.

    All nodes are shuffled once. Each class that is learned gives its first ``per_class`` nodes to
    training; the first ``validation`` others of those classes validate; the first ``test`` nodes
    that are left, of any class, test (None: all of them). So a larger ``per_class`` with the same
    seed contains the smaller one's training nodes. Nodes without a label take no part.
    """
    left_out = _checked_classes(graph, left_out)
    classes = tuple(c for c in range(graph.num_classes) if c not in left_out)
    for name, value, lowest in (
        ("nodes per class", per_class, 1),
        ("validation nodes", validation, 1),
        ("test nodes", 1 if test is None else test, 1),
        ("the seed", seed, 0),
    ):
        if not _is_whole(value) or value < lowest:
            raise BupError(f"{name} must be a whole number of at least {lowest}, got {value!r}")
    if seed > MAX_SEED:
        raise BupError(f"the seed must be at most {MAX_SEED}, got {seed}")

    # RandomState, because its stream is frozen for good: newer generators may change with NumPy.
    order = np.random.RandomState(seed).permutation(graph.num_nodes)
    order = order[graph.labelled[order]]
    label = graph.labels[order]

    in_train = np.zeros(len(order), dtype=bool)
    for c in classes:
        of_class = np.flatnonzero(label == c)
        if len(of_class) < per_class:
            raise BupError(
                f"class {graph.class_names[c]!r} of {graph.name} has {len(of_class)} nodes, "
                f"fewer than the {per_class} asked for training: ask for fewer per class"
            )
        in_train[of_class[:per_class]] = True

    may_validate = np.flatnonzero(~in_train & ~np.isin(label, left_out))
    if len(may_validate) < validation:
        raise BupError(
            f"{graph.name} has {len(may_validate)} labelled nodes left after training, fewer than "
            f"the {validation} asked for validation: ask for fewer training or validation nodes"
        )
    in_validation = np.zeros(len(order), dtype=bool)
    in_validation[may_validate[:validation]] = True

    rest = np.flatnonzero(~in_train & ~in_validation)
    if len(rest) < (1 if test is None else test):
        raise BupError(
            f"{graph.name} has {len(rest)} labelled nodes left for testing, fewer than the "
            f"{1 if test is None else test} asked: ask for fewer training, validation or test nodes"
        )
    return Split(
        train=order[in_train],
        validation=order[in_validation],
        test=order[rest[:test]],
        classes=classes,
        left_out=left_out,
    )


def _checked_classes(graph: Graph, left_out: Iterable[int]) -> tuple[int, ...]:
    left_out = tuple(left_out)
    known = ", ".join(f"{c} {name}" for c, name in enumerate(graph.class_names))
    for c in left_out:
        if not _is_whole(c) or not 0 <= c < graph.num_classes:
            raise BupError(f"{graph.name} has no class {c!r} to leave out: its classes are {known}")
    left_out = tuple(sorted({int(c) for c in left_out}))
    if graph.num_classes - len(left_out) < 2:
        raise BupError(
            f"leaving out {len(left_out)} of {graph.num_classes} classes leaves nothing to tell "
            "apart: keep at least two"
        )
    return left_out


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
