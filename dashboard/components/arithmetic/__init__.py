"""Two calculations side by side that the visitor steps through, number by number.

Stepping, playing and going back happen in the browser; only a choice that needs other numbers
(another neighbour, unit, class or node) goes to the server.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bup.propagation.arithmetic import Operation
from dashboard.components.shared.component import component, reported

CHOICES = ("node", "neighbour", "unit", "column")


@dataclass(frozen=True)
class Stage:
    """A step of the way: the operations of these names, one after the other."""

    title: str
    row: str  # of the overview
    operations: tuple[str, ...]
    opens: str = ""  # the stage that a line's number comes from ...
    chooses: str = ""  # ... when this is chosen: one of ``CHOICES``


@dataclass(frozen=True)
class Outcome:
    """A class with what a calculation ends in."""

    name: str
    mean: float
    var: float
    probability: float


@dataclass(frozen=True)
class Side:
    """One of the calculations."""

    title: str
    operations: Sequence[Operation]
    words: dict[str, str]  # a sentence for every operation
    absent: dict[str, str]  # and one for a stage where this calculation does nothing
    outcomes: Sequence[Outcome]
    chosen: dict[str, int]  # what is followed, by the names of ``CHOICES``


_view = component("arithmetic", html='<div class="arithmetic" tabindex="0"></div>')


def arithmetic(
    stages: Sequence[Stage], sides: Sequence[Side], key: str, on_choose: Callable[[], None]
) -> None:
    """Draw the calculations; a line that needs other numbers calls ``on_choose``."""
    _view(
        key=key,
        data={
            "stages": [asdict(stage) for stage in stages],
            "sides": [
                asdict(side) | {"operations": [_plain(each) for each in side.operations]}
                for side in sides
            ],
        },
        on_choose_change=on_choose,
    )


def _plain(operation: Operation) -> dict[str, Any]:
    plain = asdict(operation) | {"total": operation.total, "result": operation.result}
    pairs = zip(operation.terms, operation.values, plain.pop("terms"), strict=True)
    plain["lines"] = [
        fields | {"product": term.product, "value": value} for term, value, fields in pairs
    ]
    return plain


def choice(key: str) -> dict[str, int]:
    """The last choice, by the names of ``CHOICES``, and its ``side``."""
    value = reported(key, "choose")
    if not isinstance(value, dict):
        return {}
    return {name: value[name] for name in (*CHOICES, "side") if isinstance(value.get(name), int)}
