"""Why a run gives its answers, computed beforehand: a page on disk has no model."""

from __future__ import annotations

from typing import Any

import numpy as np

from bup.explanation import sentences
from bup.explanation.reasons import why_no_reasons
from dashboard.components.map.parcels import quantise
from dashboard.session.view import View

STRONGEST = 10
"""How many contributions of each node the page holds."""
MOST_EXPLAINED = 25_000
"""Of how many nodes it holds them: of all but on the pages of a site whose graph is large."""


def reasons(view: View) -> dict[str, Any]:
    """What speaks for the answers of the nodes; ``why`` says where something is missing.

    Of a large graph test nodes come first. ``nodes`` and ``values`` have a row of ``width`` numbers
    per node; where there are fewer contributions, the number of nodes stands for none.
    """
    n = view.graph.num_nodes
    if why := why_no_reasons(view.result):
        return {"why": view.say(why)}
    if view.loaded_run.reasoner.layers is None:
        return {
            "why": "What speaks for an answer of this method takes too long to be on this page."
        }
    explained = np.concatenate([view.result.split.test, np.arange(n)])
    explained = explained[np.sort(np.unique(explained, return_index=True)[1])][:MOST_EXPLAINED]
    nodes = np.full((n, STRONGEST), n, dtype=np.uint16 if n < 2**16 else np.uint32)
    values, gap = np.full((n, STRONGEST), np.nan), np.full(n, np.nan)
    because = [""] * n
    for node in explained.tolist():
        found = view.loaded_run.reasoner.explain(node)
        count = min(STRONGEST, len(found.nodes))
        nodes[node, :count] = found.nodes[:count]
        values[node, :count] = found.contributions[:count]
        gap[node], because[node] = found.gap, sentences.because(found)
    why = view.say(f"The page has the reasons of {len(explained):,} nodes only, not of this one.")
    told = np.zeros(n, dtype=np.uint8)
    told[view.result.split.train] = 1
    return {
        "why": why if len(explained) < n else "",
        "because": because,
        "width": STRONGEST,
        "nodes": nodes,
        "values": quantise(values),
        "gap": quantise(gap),
        "told": told,
    }
