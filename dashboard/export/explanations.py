"""Why a run answers as it does, and what it would answer without a link, before anyone asks."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from bup.explanation.changes import ChangeSearch, without
from bup.explanation.reasons import Reasoner, Reasons
from dashboard.cache.run_cache import LoadedRun

MOST_REASONS, MOST_LINKS = 8, 3
"""How many nodes, and how many links, an answer is explained by: the strongest ones."""

Explanation = dict[str, Any]


def explanations(run: LoadedRun, changed: int) -> list[Explanation]:
    """The reasons of every answer; of the ``changed`` least sure ones, also those without a link.

    Raises ``BupError`` for runs whose answers have no reasons.
    """
    reasoner = Reasoner(run.graph, run.result)
    found = [_reasons(reasoner.explain(node)) for node in range(run.graph.num_nodes)]
    search = ChangeSearch(reasoner)
    nodes_of = defaultdict(list)  # by link: a graph without it answers for all of them
    for node in least_sure(run, changed).tolist():
        if not search.why_not(node):
            found[node]["links"] = []
            for link in reasoner.explain(node).links[:MOST_LINKS].tolist():
                nodes_of[tuple(link)].append(node)
    for link, nodes in nodes_of.items():
        graph = without(run.graph, [link])
        for node in nodes:
            answer, confidence = search.answer_on(node, graph)
            number = run.result.split.classes[answer]
            found[node]["links"].append([*link, number, confidence])
    return found


def least_sure(run: LoadedRun, count: int) -> np.ndarray:
    return np.argsort(run.result.probs.max(axis=1), kind="stable")[:count]


def _reasons(reasons: Reasons) -> Explanation:
    classes = reasons.result.split.classes
    return {
        "classes": [classes[reasons.answer], classes[reasons.rival]],
        "gap": round(reasons.gap, 4),
        "reasons": [_reason(reasons, k) for k in range(min(MOST_REASONS, len(reasons.nodes)))],
    }


def _reason(reasons: Reasons, k: int) -> list[Any]:
    node, value = int(reasons.nodes[k]), round(float(reasons.contributions[k]), 4)
    named = reasons.graph.words is not None
    words = [word for word, _ in reasons.strongest_words(node, 3)] if named else []
    return [node, value, int(reasons.links_away[k]), bool(reasons.told[k]), words]
