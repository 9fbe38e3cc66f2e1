"""Which nodes train, validate and test: drawn at random, by name, or given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bup.datasets import as_graph
from bup.errors import BupError
from bup.graph import NO_PART, UNLABELLED, Graph
from bup.graph.arrays import is_whole
from bup.run import custom_split
from bup.run.spec import PUBLIC, Spec, usual_sizes

MAX_SEED = 2**32 - 1
Usual = Literal["usual"]
USUAL: Usual = "usual"
Classes = int | str | Iterable[int | str]
"""One class or several, each by its number or its name."""


@dataclass(frozen=True, eq=False)
class Split:
    """Which nodes train, validate and test.

    A split of your own for ``bup.fit`` needs the three parts only, which may be masks.

    Parameters
    ----------
    train, validation, test : array of int
        Node indices, in the order in which they were drawn. ``test`` holds nodes of every class,
        left-out ones too; those are out of distribution.
    classes : tuple of int, default ()
        The classes that a model learns: column k of its output is class ``classes[k]``.
    left_out : tuple of int, default ()
        The classes that it is never shown.

    Examples
    --------
    >>> import bup
    >>> graph = bup.load_graph("synthetic:nodes=60,classes=2,words=20")
    >>> drawn = bup.make_split(graph, per_class=5)
    >>> split = bup.Split(drawn.train, drawn.validation, drawn.test)
    >>> bup.fit(graph, split=split, epochs=3).split.classes
    (0, 1)
    """

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    classes: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()

    def targets(self, labels: np.ndarray) -> np.ndarray:
        """Output columns for class labels; UNLABELLED for a left-out class or an unknown label."""
        column = np.full(max((*self.classes, *self.left_out)) + 2, UNLABELLED)
        column[list(self.classes)] = np.arange(len(self.classes))
        return column[labels]  # the last entry serves UNLABELLED, which is -1

    def is_ood(self, labels: np.ndarray) -> np.ndarray:
        """Mask of the labels that belong to a left-out class."""
        return np.isin(labels, self.left_out)


def sizes(
    graph: Graph, validation: int | Usual = USUAL, test: int | Usual | None = USUAL
) -> tuple[int, int | None]:
    """Numbers of validation and test nodes, the usual ones filled in."""
    usual_validation, usual_test = usual_sizes(graph)
    validation = usual_validation if validation == USUAL else validation
    return validation, usual_test if test == USUAL else test


def split_of(graph: Graph, spec: Spec) -> Split:
    if spec.split == PUBLIC:
        return public_split(graph, spec.left_out)
    if spec.split.startswith(custom_split.PREFIX):
        return load_custom_split(graph, spec.split, spec.left_out)
    if spec.split:
        return fraction_split(graph, spec.split, spec.left_out, spec.seed)
    return make_split(graph, spec.per_class, spec.validation, spec.test, spec.left_out, spec.seed)


def split_name(graph: Graph, given: Any) -> str:
    """The name of a split in a specification; a custom split is stored first."""
    if isinstance(given, str) and given != custom_split.OF_GRAPH:
        return given
    return custom_split.save(graph, custom_split.parts_of(graph, given))


def load_custom_split(graph: Graph, name: str, left_out: Classes = ()) -> Split:
    """A custom split; nodes of left-out classes leave training and validation."""
    left_out = _checked_classes(graph, left_out)
    place = custom_split.load(graph, name)
    learned = ~np.isin(graph.labels, left_out)
    train, validation = (np.flatnonzero((place == k) & learned) for k in (0, 1))
    classes = tuple(c for c in range(graph.num_classes) if c not in left_out)
    if missing := set(classes) - set(graph.labels[train].tolist()):
        named = graph.class_names[min(missing)]
        raise BupError(
            f"class {named!r} of {graph.name} has no training node in this split: give it one, or "
            f"leave the class out (left_out=[{named!r}])"
        )
    if not len(validation):
        raise BupError(
            f"all validation nodes of this split of {graph.name} are of classes left out: give "
            "others"
        )
    return Split(train, validation, np.flatnonzero(place == 2), classes, left_out)


FIRST_TEST = {"cora": 1708, "citeseer": 2312, "pubmed": 18717}
"""Planetoid's files begin with 20 nodes of each class, then 500 that validate; from here on they
hold the thousand that test."""


def named_splits(graph: Graph) -> list[str]:
    """The splits by name that the app offers for a graph."""
    public = [PUBLIC] if _as_in_planetoid(graph) else []
    own = [] if graph.parts is None else [split_name(graph, custom_split.OF_GRAPH)]
    return ["20/10/70", *public, *own]


def _as_in_planetoid(graph: Graph) -> bool:
    """Whether its nodes have Planetoid's order; Cora's original files have another."""
    name = _planetoid_name(graph)
    return name in FIRST_TEST and (name != "cora" or graph.ids is None)


def _planetoid_name(graph: Graph) -> str:
    return graph.name.removeprefix("pyg:Planetoid/").lower()


def public_split(graph: Graph, left_out: Classes = ()) -> Split:
    """Planetoid's fixed split, for graphs numbered as there; left-out classes only test."""
    left_out = _checked_classes(graph, left_out)
    name = _planetoid_name(graph)
    if not _as_in_planetoid(graph):
        why = (
            "Cora from its original files has another order of nodes than Planetoid, use "
            "pyg:Planetoid/Cora"
            if name == "cora"
            else "only Cora, Citeseer and PubMed have one"
        )
        raise BupError(f"{graph.name} has no public split: {why}, or a split such as 20/10/70")
    nodes = np.arange(graph.num_nodes)
    last_train = 20 * graph.num_classes
    parts = np.split(nodes, [last_train, last_train + 500, FIRST_TEST[name]])
    return _without(graph, [parts[0], parts[1], parts[3]], left_out)


def fraction_split(graph: Graph, name: str, left_out: Classes, seed: int) -> Split:
    """``20/10/70``: percentages of the labelled nodes of known classes, drawn at random."""
    left_out = _checked_classes(graph, left_out)
    order = np.random.RandomState(seed).permutation(graph.num_nodes)
    order = order[graph.labelled[order] & ~np.isin(graph.labels[order], left_out)]
    train, validation, _ = (int(share) / 100 for share in name.split("/"))
    ends = np.round(np.cumsum([train, validation]) * len(order)).astype(int)
    split = _without(graph, np.split(order, ends), left_out)
    lacking = ""
    if missing := set(split.classes) - set(graph.labels[split.train].tolist()):
        lacking = f"class {graph.class_names[min(missing)]!r} of {graph.name} no training node"
    elif not len(split.validation):
        lacking = f"{graph.name} no validation node"
    if lacking:
        raise BupError(f"a split of {name} leaves {lacking}: ask for more")
    return split


def _without(graph: Graph, parts: Sequence[np.ndarray], left_out: tuple[int, ...]) -> Split:
    """A split of the labelled nodes of these parts; all nodes of left-out classes test."""
    strange = np.isin(graph.labels, left_out)
    train, validation, test = (p[graph.labelled[p] & ~strange[p]] for p in parts)
    test = np.concatenate([test, np.flatnonzero(strange)])
    classes = tuple(c for c in range(graph.num_classes) if c not in left_out)
    return Split(train, validation, test, classes, left_out)


def make_split(
    graph: Any,
    per_class: int = 20,
    validation: int | Usual = USUAL,
    test: int | Usual | None = USUAL,
    left_out: Classes = (),
    seed: int = 0,
) -> Split:
    """Draw a split at random; the same arguments give the same split on every machine.

    All nodes are shuffled once; training, validation and test nodes are then taken in this order.
    With the same seed, a larger ``per_class`` contains the training nodes of a smaller one. Nodes
    without a label take no part.

    Parameters
    ----------
    graph : Graph, str or another package's graph
        The graph, see :func:`bup.fit`.
    per_class : int, default 20
        Training nodes of each class that is learned.
    validation : int, default "usual"
        Validation nodes, of these classes; by default as in ``usual_sizes``.
    test : int or None, default "usual"
        Test nodes, of any class; None: all that are left.
    left_out : int, str or a list of them, default ()
        Classes, by number or name, of which no node trains or validates.
    seed : int, default 0
        Seed of the shuffle.

    Returns
    -------
    Split

    Raises
    ------
    BupError
        If the graph has too few nodes for these numbers, or an argument is wrong.

    Examples
    --------
    >>> import bup
    >>> split = bup.make_split("synthetic:nodes=60,classes=2,words=20", per_class=5)
    >>> len(split.train), len(split.validation), len(split.test)
    (10, 12, 38)
    """
    graph = as_graph(graph)
    left_out = _checked_classes(graph, left_out)
    validation, test = sizes(graph, validation, test)
    classes = tuple(c for c in range(graph.num_classes) if c not in left_out)
    fewest = 1 if test is None else test
    for name, value, lowest in (
        ("nodes per class", per_class, 1),
        ("validation nodes", validation, 1),
        ("test nodes", fewest, 1),
        ("the seed", seed, 0),
    ):
        if not is_whole(value) or value < lowest:
            raise BupError(f"{name} must be a whole number of at least {lowest}, got {value!r}")
    if seed > MAX_SEED:
        raise BupError(f"the seed must be at most {MAX_SEED}, got {seed}")

    # RandomState, because its stream is frozen for good: newer generators may change with NumPy.
    order = np.random.RandomState(seed).permutation(graph.num_nodes)
    order = order[graph.labelled[order]]
    label = graph.labels[order]

    part = np.full(len(order), NO_PART)
    for c in classes:
        of_class = np.flatnonzero(label == c)
        if len(of_class) < per_class:
            raise BupError(
                f"class {graph.class_names[c]!r} of {graph.name} has {len(of_class)} nodes, "
                f"fewer than the {per_class} asked for training: ask for fewer per class"
            )
        part[of_class[:per_class]] = 0

    may_validate = np.flatnonzero((part == NO_PART) & ~np.isin(label, left_out))
    if len(may_validate) < validation:
        raise BupError(
            f"{graph.name} has {len(may_validate)} labelled nodes left after training, fewer than "
            f"the {validation} asked for validation: ask for fewer training or validation nodes"
        )
    part[may_validate[:validation]] = 1

    rest = np.flatnonzero(part == NO_PART)
    if len(rest) < fewest:
        raise BupError(
            f"{graph.name} has {len(rest)} labelled nodes left for testing, fewer than the "
            f"{fewest} asked: ask for fewer training, validation or test nodes"
        )
    return Split(order[part == 0], order[part == 1], order[rest[:test]], classes, left_out)


def classes_of(graph: Graph, left_out: Classes) -> tuple[int, ...]:
    """Numbers, ascending, of one class or several, given by number or by name."""
    several = isinstance(left_out, Iterable) and not isinstance(left_out, str)
    given: Any = left_out if several else [left_out]
    return tuple(sorted({class_of(graph, c) for c in given}))


def class_of(graph: Graph, given: Any) -> int:
    """A class's number, by its number or its name."""
    if isinstance(given, str) and given in graph.class_names:
        return graph.class_names.index(given)
    if not is_whole(given) or not 0 <= given < graph.num_classes:
        classes = ", ".join(f"{c} {name}" for c, name in enumerate(graph.class_names))
        raise BupError(
            f"{graph.name} has no class {given!r} to leave out: its classes are {classes}"
        )
    return int(given)


def _checked_classes(graph: Graph, left_out: Classes) -> tuple[int, ...]:
    left_out = classes_of(graph, left_out)
    if graph.num_classes - len(left_out) < 2:
        raise BupError(
            f"leaving out {len(left_out)} of {graph.num_classes} classes leaves nothing to tell "
            "apart: keep at least two"
        )
    return left_out
