"""What an uncertainty score is: one number per node that says how sure a model is of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["aleatoric", "epistemic", "neither"]

KINDS: dict[Kind, str] = {
    "aleatoric": "doubt that more training nodes would not remove: the classes overlap here",
    "epistemic": "doubt for lack of evidence: the model has seen little like this node",
    "neither": "a mixture of both, or a quantity that claims to be neither",
}


@dataclass(frozen=True)
class Score:
    """A named score; ``help`` is one sentence for people."""

    name: str
    title: str
    kind: Kind
    help: str
    axis: str = ""  # longer than the title, for an axis of its own
    certain: bool = False  # the higher, the surer; otherwise the higher, the less sure
    offered: bool = True  # whether menus list it
    of_probs: Callable[[np.ndarray], np.ndarray] | None = None  # from class probabilities [n, c]
    of_var: Callable[[np.ndarray], np.ndarray] | None = None  # from message variances [n, c]

    def uncertainty(self, values: np.ndarray) -> np.ndarray:
        """The score turned so that higher means less certain."""
        return 1 - values if self.certain else values
