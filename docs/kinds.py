"""What lesson 9 shows: scores on a drawn graph as noise, labels and a hidden class are turned.

Run ``python -m docs.kinds`` after a change to a method; it trains some 300 small models.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np

import bup
from bup.inspection import Lens
from bup.propagation.doubt import Doubt
from dashboard.learn.kinds_table import HIDDEN, LABELS, NOISES, READ, SHIPPED, TOTAL_DOUBT, graph_of

SEEDS = (0, 1, 2)


def measured(noise: float, labels: int, hidden: bool) -> dict[str, list[float]]:
    """For every score: its mean over the test papers of the class, and its spread over them."""
    graph, clean = bup.load_graph(graph_of(noise)), bup.load_graph(graph_of(0))
    found: dict[str, list[tuple[float, float]]] = {}
    for (method, settings), scores in READ.items():
        several = bup.fit_many(
            graph, method, per_class=labels, seeds=SEEDS, validation=100, test=400,
            left_out=[HIDDEN] if hidden else [], **dict(settings),
        )  # fmt: skip
        for done in several:
            nodes = done.split.test[clean.labels[done.split.test] == HIDDEN]
            for name, key in scores.items():
                values = _score(graph, done, key)[nodes]
                found.setdefault(name, []).append((float(values.mean()), float(values.std())))
    return {name: np.mean(pairs, axis=0).round(5).tolist() for name, pairs in found.items()}


def _score(graph: bup.Graph, done: bup.Result, key: str) -> np.ndarray:
    if key == TOTAL_DOUBT:
        propagation = Lens(graph, done).propagation
        assert isinstance(propagation, Doubt)
        return propagation.total
    return done.uncertainties()[key]


def main() -> None:
    table = [
        {"noise": n, "labels": k, "hidden": h, "scores": measured(n, k, h)}
        for n, k, h in itertools.product(NOISES, LABELS, (False, True))
    ]
    Path(SHIPPED).write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
