"""What a correlation is. Each is a file in this package and a line in its table."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bup.graph import Graph


@dataclass(frozen=True)
class LinkCorrelation:
    """How strongly the messages of two linked nodes vary together; the paper allows any."""

    name: str
    meaning: str
    latex: str
    between: Callable[[Graph, np.ndarray, np.ndarray, float], np.ndarray]
    """cor(i, j) of linked nodes i, j [m each], symmetric in them, and lam, which weakens it."""
    sum_of_squares: Callable[[Graph, float], np.ndarray] | None = None
    """sum_j cor(i, j)^2 over the neighbours of every node [n], where there is a closed form."""
