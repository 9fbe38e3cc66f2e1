"""What lesson 9 shows: ten networks, each with labels of its own, on three papers of a drawn graph.

Run ``python -m tests.tools.kinds`` after a change to the GCN; it trains 60 small models in seconds.
"""

from __future__ import annotations

import json

import numpy as np

import bup
from bup.datasets.synthetic import true_posterior
from dashboard.learn.kinds_data import FIRST, GRAPH, HIDDEN, LABELS, NETWORKS, SHIPPED

TOGETHER = 0.2  # answers no further apart than this agree


def trained() -> dict[str, dict]:
    graph = bup.load_graph(GRAPH)
    answers, told = {}, np.zeros(graph.num_nodes, dtype=bool)
    for labels in LABELS:
        several = bup.fit_many(
            graph, "gcn", per_class=labels, seeds=range(NETWORKS), validation=40, test=400,
            left_out=[HIDDEN], calibrate="none",
        )  # fmt: skip
        answers[labels] = np.stack([done.probs[:, FIRST].astype(float) for done in several])
        for done in several:
            told[done.split.train] = told[done.split.validation] = True
    truth = true_posterior(GRAPH, links=True)
    papers = examples(graph, truth, answers, told)
    return {
        name: {
            "node": int(node),
            "truth": truth[node].round(4).tolist(),
            "answers": {str(k): a[:, node].round(4).tolist() for k, a in answers.items()},
        }
        for name, node in papers.items()
    }


def examples(
    graph: bup.Graph, truth: np.ndarray, answers: dict[int, np.ndarray], told: np.ndarray
) -> dict[str, np.int64]:
    """Of each kind the paper on which networks differ most with few labels, among those that show
    it: with many labels they agree. None of them was in any network's training."""
    few, many = answers[LABELS[0]], answers[LABELS[-1]]
    agreed = ~told & (np.ptp(many, axis=0) <= TOGETHER)
    off = np.abs(many - truth[:, FIRST]).max(axis=0)
    leaning = np.abs(many - 0.5).min(axis=0)
    which = {
        "clear": (truth.max(axis=1) > 0.99) & (graph.labels != HIDDEN) & (off < 0.1),
        "torn": (np.abs(truth[:, FIRST] - 0.5) < 0.05) & (truth[:, HIDDEN] < 0.02) & (off < 0.15),
        "stranger": (truth[:, HIDDEN] > 0.99) & (graph.labels == HIDDEN) & (leaning > 0.25),
    }
    return {
        name: np.where(agreed & here, np.ptp(few, axis=0), -1).argmax()
        for name, here in which.items()
    }


if __name__ == "__main__":
    SHIPPED.write_text(json.dumps(trained(), indent=1) + "\n", encoding="utf-8")
