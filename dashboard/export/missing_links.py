"""What a run would answer if a link were missing, computed before anyone asks."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from bup.explanation.changes import without
from bup.explanation.reasons import why_no_reasons
from dashboard.cache.run_cache import LoadedRun

MOST_LINKS = 3
"""Of how many links of a node, the strongest ones, it is computed."""


def missing_links(run: LoadedRun, changed: int) -> dict[int, list[list[Any]]]:
    """For the ``changed`` least sure nodes: both ends of each link, and the class and confidence
    of the answer without it; the confidence is None where it cannot be computed."""
    if not changed or why_no_reasons(run.result):
        return {}
    search = run.change_search
    nodes_of = defaultdict(list)  # by link: a graph without it answers for all of them
    found: dict[int, list[list[Any]]] = {}
    for node in least_sure(run, changed).tolist():
        if not search.why_not(node):
            found[node] = []
            for link in run.reasoner.explain(node).links[:MOST_LINKS].tolist():
                nodes_of[tuple(link)].append(node)
    for link, nodes in nodes_of.items():
        graph = without(run.graph, [link])
        for node in nodes:
            answer, confidence = search.answer_on(node, graph)
            share = None if confidence is None else round(confidence, 4)
            found[node].append([*link, run.result.split.classes[answer], share])
    return found


def least_sure(run: LoadedRun, count: int) -> np.ndarray:
    return np.argsort(run.result.probs.max(axis=1), kind="stable")[:count]
