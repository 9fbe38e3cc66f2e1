"""The answers behind lesson 9, trained ahead by ``python -m tests.tools.kinds``."""

import functools
import json
from dataclasses import dataclass
from pathlib import Path

from bup.datasets import synthetic
from bup.datasets.synthetic import Parameters

SHIPPED = Path(__file__).parent.parent / "shipped" / "kinds.json"
GRAPH = synthetic.graph_name(Parameters(nodes=1500, classes=3, words=400, seed=2))
FIRST, SECOND, HIDDEN = 0, 1, 2  # two classes of the training labels, and one without labels
NETWORKS = 10  # each has labelled papers of its own
LABELS = (2, 5, 10, 20, 50, 100)  # of each known class


@dataclass(frozen=True)
class Paper:
    """The answers of all networks: the probability of the first class, by number of labels."""

    node: int
    truth: list[float]  # the probability of every class, by the recipe of the graph
    answers: dict[int, list[float]]


@functools.cache
def papers() -> dict[str, Paper]:
    """A paper whose class is clear by the recipe, a torn paper, and one of the hidden class."""
    table = json.loads(SHIPPED.read_text(encoding="utf-8"))
    return {
        name: Paper(
            row["node"], row["truth"], {int(k): answers for k, answers in row["answers"].items()}
        )
        for name, row in table.items()
    }
