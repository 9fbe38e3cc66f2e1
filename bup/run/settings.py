"""A method's settings: one frozen dataclass each, whose fields explain and check themselves."""

import dataclasses
import functools
import typing
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from bup.errors import BupError
from bup.run.spec import Value

T = TypeVar("T")
_WORDS = {float: "a number", int: "a whole number", str: "text", bool: "true or false"}
_type_hints = functools.cache(typing.get_type_hints)


def setting(
    default: Any,
    help: str,
    low: float | None = None,
    high: float | None = None,
    choices: Collection[str] = (),
    prominent: bool = False,
) -> Any:
    """A dataclass field with what the command line and the app need to offer and check it.

    A ``prominent`` setting stands beside the method in the app, the others in a drawer.
    """
    # The choices as they are given: a table that grows later is offered whole.
    metadata = {"help": help, "low": low, "high": high, "choices": choices, "prominent": prominent}
    return dataclasses.field(default=default, metadata=metadata)


def make_settings(kind: type[T], values: Mapping[str, Value], method: str) -> T:
    """Settings of ``kind`` with every default filled in, or an error that says what to change."""
    fields = {f.name: f for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    types = _type_hints(kind)  # type: ignore[arg-type]
    for name in values:
        if name not in fields:
            raise BupError(f"{method} has no setting {name!r}: it has {', '.join(fields)}")
    checked = {
        name: _check_value(f, types[name], values.get(name, f.default))
        for name, f in fields.items()
    }
    return kind(**checked)


def _check_value(f: dataclasses.Field, kind: type, value: Any) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not kind:
        raise BupError(f"setting {f.name} must be {_WORDS[kind]}, got {value!r}")
    choices, low, high = (f.metadata[key] for key in ("choices", "low", "high"))
    if choices and value not in choices:
        raise BupError(f"setting {f.name} must be one of {', '.join(choices)}, got {value!r}")
    if low is not None and not value >= low:
        raise BupError(f"setting {f.name} must be at least {low}, got {value!r}")
    if high is not None and not value <= high:
        raise BupError(f"setting {f.name} must be at most {high}, got {value!r}")
    return value
