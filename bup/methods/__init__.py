"""The table of methods. A method is one file in this package and one line here."""

from __future__ import annotations

import dataclasses
from typing import Any

from bup.errors import BupError
from bup.methods import bup, gcn
from bup.methods.base import Method
from bup.settings import checked
from bup.spec import Spec

METHODS: dict[str, Method] = {method.name: method for method in (bup.METHOD, gcn.METHOD)}


def find(name: str) -> Method:
    if name not in METHODS:
        raise BupError(f"there is no method {name!r}: choose one of {', '.join(METHODS)}")
    return METHODS[name]


def settings_of(spec: Spec) -> Any:
    """The method's settings of a run, checked, every default filled in."""
    return checked(find(spec.method).settings, dict(spec.settings), spec.method)


def complete(spec: Spec) -> Spec:
    """The same run with every setting written out: runs that do the same are then equal."""
    settings = dataclasses.asdict(settings_of(spec))
    return dataclasses.replace(spec, settings=tuple(settings.items()))
