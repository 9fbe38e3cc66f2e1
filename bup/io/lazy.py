"""Torch and other slow libraries, imported when one of their names is first used.

Commands and pages that train nothing read the name, settings and scores of a method from its file,
and importing torch takes longer than they run. A method and all that it imports therefore take
torch from here, so that ``bup methods`` and a stored ``bup fit`` do not wait for it.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _LazyModule(ModuleType):
    """A module that is imported when its first attribute is used; it keeps each attribute."""

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
    from scipy.sparse import csgraph as csgraph
    from torch import Generator as Generator
    from torch import Tensor as Tensor
    from torch import distributions as distributions
    from torch.nn import functional as functional
else:
    torch = _LazyModule("torch")
    interpolate = _LazyModule("scipy.interpolate")
    optimize = _LazyModule("scipy.optimize")
    csgraph = _LazyModule("scipy.sparse.csgraph")
    pandas = _LazyModule("pandas")
    sparse = _LazyModule("scipy.sparse")
    special = _LazyModule("scipy.special")
    distributions = _LazyModule("torch.distributions")
    functional = _LazyModule("torch.nn.functional")
    Generator = Tensor = Any  # for annotations, which are not evaluated
