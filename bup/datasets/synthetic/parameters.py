"""What determines a synthetic graph, and its name."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bup.errors import BupError
from bup.io.quoting import quote

NAME = "synthetic"
MAX_ENDPOINTS = 40_000_000  # nodes * mean_degree: twenty million links

_RANGES: dict[str, tuple[type[int] | type[float], int, int]] = {
    "nodes": (int, 10, 2_000_000),
    "classes": (int, 2, 50),
    "words": (int, 1, 100_000),
    "mean_degree": (float, 0, 1000),
    "homophily": (float, 0, 1),
    "feature_strength": (float, 0, 1000),
    "seed": (int, 0, 2**32 - 1),
}


@dataclass(frozen=True)
class Parameters:
    """Everything that determines a synthetic graph; the defaults resemble Cora.

    ``mean_degree`` and ``homophily`` are expectations over the links before repeated ones are
    dropped: the default graph has about 3.84 links per node, one of 100 nodes 3.3.
    """

    nodes: int = 2708
    classes: int = 7
    words: int = 1433
    mean_degree: float = 3.9
    homophily: float = 0.81  # share of the links that stay inside a class
    feature_strength: float = 1.4  # a class uses its own words 1 + this times as often; 0: no hint
    seed: int = 0

    def __post_init__(self) -> None:
        for parameter, (kind, low, high) in _RANGES.items():
            value = getattr(self, parameter)
            kinds = (int, np.integer) if kind is int else (int, float, np.integer, np.floating)
            if not isinstance(value, kinds) or not low <= value <= high:
                number = "a whole number" if kind is int else "a number"
                raise BupError(f"{parameter} must be {number} from {low} to {high}, got {value!r}")
            # Equal graphs must have equal names, so 1, 1.0 and -0.0 may not stay as they are.
            object.__setattr__(self, parameter, kind(value) + kind(0))
        if self.mean_degree > self.nodes - 1:
            raise BupError(
                f"mean_degree must be at most nodes - 1 = {self.nodes - 1}, got {self.mean_degree}"
            )
        if self.nodes * self.mean_degree > MAX_ENDPOINTS:
            raise BupError(
                f"nodes * mean_degree must be at most {MAX_ENDPOINTS}, "
                f"got {self.nodes} * {self.mean_degree}: ask for fewer nodes or links"
            )


def parse_name(name: str) -> Parameters:
    """The parameters of ``synthetic`` or, say, ``synthetic:homophily=0.6,nodes=500,seed=3``."""
    head, colon, tail = name.partition(":")
    if head != NAME:
        raise BupError(
            f"a synthetic graph is called {NAME!r} or '{NAME}:parameter=value', got "
            f"{quote(name, 200)}"
        )
    values: dict[str, Any] = {}
    for item in tail.split(",") if colon else ():
        key, _, text = (part.strip() for part in item.partition("="))
        if key in values:
            raise BupError(f"{quote(key)} is set twice in {quote(name, 200)}: set it once")
        try:
            values[key] = _RANGES[key][0](text)
        except (KeyError, ValueError):
            raise BupError(
                f"cannot read {quote(item)} in {quote(name, 200)}: write parameter=value with the "
                f"parameters {', '.join(_RANGES)}"
            ) from None
    return Parameters(**values)


def graph_name(parameters: Parameters) -> str:
    """The name of a graph: the parameters that differ from their default, in order."""
    changed = [
        f"{parameter.name}={str(getattr(parameters, parameter.name)).removesuffix('.0')}"
        for parameter in fields(parameters)
        if getattr(parameters, parameter.name) != parameter.default
    ]
    return f"{NAME}:{','.join(changed)}" if changed else NAME
