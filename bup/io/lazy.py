"""Torch and other slow libraries, imported when something of them is first used.

A method's file describes the method and trains it: its name, settings and scores are read by
commands and pages that train nothing, and torch alone takes longer to import than they to run. So
whatever such a file reaches takes torch from here, and ``bup methods`` or a stored ``bup fit``
never waits for it.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _LazyModule(ModuleType):
    """A module that is imported with the first of its names, each of which is looked up once."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import pandas as pandas
    import torch as torch
    from scipy import interpolate as interpolate
    from scipy import optimize as optimize
    from scipy import sparse as sparse
    from scipy import special as special
    from torch import Generator as Generator
    from torch import Tensor as Tensor
    from torch import distributions as distributions
    from torch.nn import functional as functional
else:
    torch = _LazyModule("torch")
    interpolate = _LazyModule("scipy.interpolate")
    optimize = _LazyModule("scipy.optimize")
    pandas = _LazyModule("pandas")
    sparse = _LazyModule("scipy.sparse")
    special = _LazyModule("scipy.special")
    distributions = _LazyModule("torch.distributions")
    functional = _LazyModule("torch.nn.functional")
    Generator = Tensor = Any  # for annotations, which nobody evaluates
