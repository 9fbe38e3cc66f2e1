"""What a run is, in plain values: its identity in memory, on disk and in every cache."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from bup.errors import BupError

if TYPE_CHECKING:  # NumPy takes tenths of a second: only those who need it wait
    from bup.graph import Graph

Value = bool | int | float | str | None
"""What a setting can be."""


@dataclass(frozen=True)
class Spec:
    """Everything that determines a run's result, but for the content of the graph.

    Two complete specifications are the same run exactly when they are equal;
    ``bup.methods.complete`` fills in the defaults of the settings.

    Parameters
    ----------
    graph : str, default "cora"
        The graph's name.
    method : str, default "bup"
        The method's name.
    per_class : int, default 20
        Training nodes of each class.
    validation : int, default 200
        Validation nodes.
    test : int or None, default 2000
        Test nodes; None: all that are left.
    left_out : tuple of int, default ()
        Classes that the model is never shown, kept in ascending order.
    seed : int, default 0
        Seed of the split and of the weights.
    settings : mapping or tuple of pairs, default ()
        Settings of the method and of its training, kept as sorted pairs.
    split : str, default ""
        A split by name in place of the three numbers: ``public``, ``20/10/70``, or ``own:KEY``,
        which names a custom split by its content, see ``bup.run.custom_split``.

    Raises
    ------
    BupError
        If a value is of the wrong type, or a setting is given twice.

    Examples
    --------
    >>> import bup
    >>> spec = bup.Spec(method="gcn", seed=3, settings={"hidden": 32})
    >>> bup.Spec.from_dict(spec.as_dict()) == spec
    True
    """

    graph: str = "cora"
    method: str = "bup"
    per_class: int = 20
    validation: int = 200
    test: int | None = 2000
    left_out: tuple[int, ...] = ()
    seed: int = 0
    settings: tuple[tuple[str, Value], ...] = ()
    split: str = ""

    def __post_init__(self) -> None:
        for name, kinds in _KINDS.items():
            value = to_plain(getattr(self, name))
            object.__setattr__(self, name, value)
            if not isinstance(value, kinds) or isinstance(value, bool):
                wanted = " or ".join("nothing" if k is type(None) else k.__name__ for k in kinds)
                raise BupError(f"{name} of a run must be {wanted}, got {value!r}")
        left_out: Any = self.left_out
        settings: Any = self.settings
        if isinstance(settings, Mapping):
            settings = settings.items()
        try:
            left_out = tuple(sorted({to_plain(c) for c in left_out}))
            settings = tuple(sorted((name, to_plain(value)) for name, value in settings))
        except (TypeError, ValueError):
            raise BupError(
                "left_out must be a list of class numbers and settings a table of names and "
                f"values, got {left_out!r} and {settings!r}"
            ) from None
        if any(not isinstance(c, int) or isinstance(c, bool) for c in left_out):
            raise BupError(f"left_out must be a list of class numbers, got {left_out!r}")
        for name, value in settings:
            if not isinstance(name, str) or not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
                raise BupError(f"a setting's name is made of a-z, 0-9 and _, got {name!r}")
            plain = isinstance(value, bool | int | float | str | None)
            if not plain or (isinstance(value, float) and not math.isfinite(value)):
                raise BupError(
                    f"setting {name} must be a finite number, text, true or false, got {value!r}"
                )
        if len({name for name, _ in settings}) != len(settings):
            raise BupError(f"a setting is given twice: {[name for name, _ in settings]}")
        if self.split:
            _check_split(self.split)
            # Fields without effect take their defaults, so that equal runs are equal.
            for name in ("per_class", "validation", "test"):
                object.__setattr__(self, name, getattr(type(self), name))
        object.__setattr__(self, "left_out", left_out)
        object.__setattr__(self, "settings", settings)

    @classmethod
    def for_graph(
        cls, graph: Graph, method: str = "bup", settings: Any = (), **fields: Any
    ) -> Spec:
        """A specification with the graph's name and its usual numbers of nodes."""
        validation, test = usual_sizes(graph)
        fields = {"validation": validation, "test": test} | fields
        return cls(graph=graph.name, method=method, settings=settings, **fields)

    def as_dict(self) -> dict[str, Any]:
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        if not self.split:  # runs without one keep the form that they had before there were any
            del plain["split"]
        return plain | {"left_out": list(self.left_out), "settings": dict(self.settings)}

    @property
    def labels_in_words(self) -> str:
        """The training nodes, as a text: ``20 per class`` or ``split 20/10/70``."""
        return f"split {self.split}" if self.split else f"{self.per_class} per class"

    @classmethod
    def from_dict(cls, plain: Any) -> Spec:
        if not isinstance(plain, Mapping):
            raise BupError(f"a run is described by a table of names and values, got {plain!r}")
        names = {f.name for f in fields(cls)}
        if unknown := sorted(set(plain) - names):
            raise BupError(f"a run has no {unknown[0]!r}: it has {', '.join(sorted(names))}")
        return cls(**plain)

    def to_json(self) -> str:
        return json.dumps(self.as_dict(), sort_keys=True, allow_nan=False)


@dataclass(frozen=True)
class Run:
    """A complete specification and the content of its graph, see ``bup.training.fitting.run_of``.

    It names the folder in the store and is the key of every cache. A graph that changed on disk is
    another graph, so what is trained on it is another run.
    """

    spec: Spec
    digest: str  # Graph.digest

    @property
    def key(self) -> str:
        """The name of its folder: readable at the front, unique by its hashes."""
        return f"{self.family}-{self.digest[:12]}"

    @property
    def family(self) -> str:
        """The part of the key that is the same for a graph of other content."""
        digest = hashlib.sha256(self.spec.to_json().encode()).hexdigest()[:16]
        spec = self.spec
        return "-".join((_slug(spec.graph), _slug(spec.method), self._nodes, digest))

    @property
    def _nodes(self) -> str:
        """The part of the key that all methods on the same nodes and seed share."""
        spec = self.spec
        return f"{_slug(spec.split or str(spec.per_class))}-{_slug(f'seed{spec.seed}')}"

    @property
    def comparable_pattern(self) -> str:
        """A glob pattern for keys of runs on the same graph, the same nodes and the same seed."""
        return f"*-{self._nodes}-*-{self.digest[:12]}"

    def is_comparable(self, other: Run) -> bool:
        """Whether two runs differ in method and settings only."""
        mine, its = self.spec, other.spec
        alike = replace(its, method=mine.method, settings=mine.settings) == mine
        return alike and self.digest == other.digest and mine != its

    def as_dict(self) -> dict[str, Any]:
        return {"spec": self.spec.as_dict(), "digest": self.digest}

    @classmethod
    def from_dict(cls, plain: Any) -> Run:
        if not isinstance(plain, Mapping) or not isinstance(plain.get("digest"), str):
            raise BupError(f"a run has a spec and the digest of its graph, got {plain!r}")
        return cls(Spec.from_dict(plain.get("spec")), plain["digest"])


_KINDS: dict[str, tuple[type, ...]] = {
    f.name: (type(f.default),) for f in fields(Spec) if f.name not in ("left_out", "settings")
} | {"test": (int, type(None))}

PUBLIC = "public"


def usual_sizes(graph: Graph) -> tuple[int, int | None]:
    """Validation and test nodes: the paper's where they fit, else a share of a small graph."""
    labelled = int(graph.labelled.sum())
    return (200, 2000) if labelled >= 2600 else (max(1, min(200, labelled // 5)), None)


def _slug(word: str) -> str:
    """A word as part of a folder's name; ``bup.io.run_folders`` relies on the graph's."""
    return re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")[:24]


def _check_split(name: str) -> None:
    parts = name.split("/")
    shares = [int(part) for part in parts if re.fullmatch(r"[1-9][0-9]?", part)]
    if re.fullmatch("own:[a-z2-7]{20}", name):
        return
    if name != PUBLIC and not (len(parts) == len(shares) == 3 and sum(shares) == 100):
        raise BupError(
            f"a split is {PUBLIC}, percentages of training, validation and test nodes that add up "
            f"to 100, such as 20/10/70, or one of your own (masks, lists of nodes, a file), got "
            f"{name!r}"
        )


def to_plain(value: Any) -> Any:
    """A single number of NumPy or torch as Python's own; anything else as it is."""
    single = getattr(value, "ndim", None) == 0 and hasattr(value, "item")
    return value.item() if single else value


def format_value(value: Value) -> str:
    """A value as a person types it; ``parse_value`` reads it back, its type included."""
    if isinstance(value, str):
        # Text that would be read as something else keeps its quotes.
        return value if parse_value(value) == value and value[:1] != '"' else json.dumps(value)
    return json.dumps(value)


def parse_value(text: str) -> Value:
    """``2`` and ``2.0`` are numbers, ``true`` and ``null`` what they say, anything else text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, bool | int | float | str | None) else text
