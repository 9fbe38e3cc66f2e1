"""A computation written out: products of factors, functions of them, and their sum."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bup.io.lazy import special

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "": lambda x: x,
    "max(0, ·)": lambda x: max(x, 0.0),
    "softplus": lambda x: float(np.logaddexp(0, x)),
    "Φ": lambda x: float(special.ndtr(x)),
    "exp − 1": math.expm1,
    "ln(1 + ·)": math.log1p,
}


@dataclass(frozen=True)
class ProductTerm:
    """One product, with the node, unit or class that it belongs to."""

    label: str
    factors: tuple[float, ...]
    node: int | None = None
    unit: int | None = None  # of the hidden layer
    column: int | None = None  # a class that the model knows

    @property
    def product(self) -> float:
        return math.prod(self.factors)


@dataclass(frozen=True)
class Operation:
    """symbol = then(start + sum over terms of each(product)); or their product, or one of them.

    Symbols are written like ``h_iu``, and name the columns of the terms: the formula made of them
    is the computation.
    """

    name: str
    symbol: str
    columns: tuple[str, ...]
    terms: tuple[ProductTerm, ...]
    over: str = ""  # the index that the terms run through, in the symbols
    start: float = 0.0
    start_symbol: str = ""
    each: str = ""
    then: str = ""
    multiply: bool = False  # instead of adding
    picked: int | None = None  # the result is this term alone

    @property
    def values(self) -> list[float]:
        """The value of every term."""
        return [FUNCTIONS[self.each](line.product) for line in self.terms]

    @property
    def total(self) -> float:
        values = self.values
        if self.picked is not None:
            return values[self.picked]
        return math.prod(values) if self.multiply else self.start + math.fsum(values)

    @property
    def result(self) -> float:
        return FUNCTIONS[self.then](self.total)
