"""The smallest change of a graph that changes a model's answer: links, or words, taken away.

Candidates come in the order of their contributions. Whether a set of them changes the answer is
verified by computing the answer anew on the graph without them, under the weights of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from bup.calibrators import Calibrator, Outputs, parse_calibrate, spread
from bup.engine.receptive_field import Inputs
from bup.errors import BupError
from bup.explanation.inspection import Inspector, with_links
from bup.explanation.reasons import Reasoner, Reasons, remainder_of
from bup.graph import Graph
from bup.io.lazy import sparse, torch
from bup.methods import settings_of
from bup.methods.base import TwoLayers, softmax
from bup.results.result import Result

MOST_LINKS, MOST_WORDS = 10, 15
"""How many links, or words, a search takes away at most."""
SINGLES, PAIRED = 30, 8
"""How many candidates are tried alone, and how many in pairs; larger sets are the strongest."""
SLOW_SINGLES, SLOW_PAIRED = 8, 3
"""The same where every try computes all nodes of the graph."""
CLOSE = 2e-3
"""How far a repeated probability may be from the stored one."""
REPEATABLE = {"temperature", "spread", "variance", "bias"}
"""Calibrators that need nothing but the numbers that are stored with a run."""

Pair = tuple[int, int]


class Change(NamedTuple):
    """Links or words whose removal gives another answer."""

    links: Sequence[Pair]
    words: Sequence[Pair]  # (node, feature)
    answer: int  # the column of the answer without them
    confidence: float | None  # None where the run's calibration cannot be repeated


@dataclass(frozen=True, eq=False)
class ChangeSearch:
    """Searches for changes of the answers of one run."""

    reasoner: Reasoner

    def fewest_links(self, reasons: Reasons, most: int = MOST_LINKS) -> Change | None:
        """The fewest links found whose removal changes the answer; None if ``most`` do not.

        Every single link that speaks for the answer is tried, then pairs of the strongest ones,
        then the strongest ones together, of which those that are not needed are put back.
        """
        links = reasons.links[reasons.link_contributions > 0].tolist()
        return self._search(reasons, "links", [(a, b) for a, b in links], most)

    def fewest_words(self, reasons: Reasons, most: int = MOST_WORDS) -> Change | None:
        """The fewest words found, each of one node, likewise."""
        entries = reasons.words.tocoo()
        rows, columns = entries.coords
        order = np.argsort(-entries.data, kind="stable")[:SINGLES]
        order = order[entries.data[order] > 0]
        words = zip(reasons.nodes[rows[order]].tolist(), columns[order].tolist(), strict=True)
        return self._search(reasons, "words", list(words), most)

    def why_not(self, node: int) -> str:
        """Why no answer on another graph can be computed, as a sentence; empty if one can."""
        if self._repeats(node):
            return ""
        cause = remainder_of(self.reasoner.result) or "its calibration"
        return f"The answer rests on {cause} too, so it cannot be computed again without a link."

    def answer_on(self, node: int, graph: Graph) -> tuple[int, float | None]:
        """The answer for a node on a graph with other links or words, and its probability.

        The probability is None where the calibration of the run cannot be repeated. Raises
        ``BupError`` where the answer cannot be.
        """
        if why := self.why_not(node):
            raise BupError(why)
        probs = self.probabilities(node, graph)
        answer = int(probs.argmax())
        return answer, float(probs[answer]) if self.repeats_calibration else None

    def _repeats(self, node: int) -> bool:
        """Whether computing the answer again gives the stored one."""
        result = self.reasoner.result
        probs, stored = self.probabilities(node, self.reasoner.graph), result.probs[node]
        if self.repeats_calibration:
            return bool(np.abs(probs - stored).max() < CLOSE)
        return int(probs.argmax()) == int(stored.argmax())

    @cached_property
    def _calibrators(self) -> list[Calibrator]:
        return parse_calibrate(settings_of(self.reasoner.result.spec).calibrate)

    @property
    def repeats_calibration(self) -> bool:
        """Whether probabilities computed again are calibrated as those of the run."""
        return {c.name for c in self._calibrators} <= REPEATABLE

    def probabilities(self, node: int, graph: Graph) -> np.ndarray:
        """Class probabilities [c] of a node on a graph, from the weights of the run."""
        reasoner, same = self.reasoner, graph is self.reasoner.graph
        if reasoner.inspector.explains.trace is not None:
            inspector = reasoner.inspector if same else _inspector_on(graph, reasoner.result)
            return self._calibrated(inspector.inspect(node).probs, messages_are=True)
        inputs = reasoner.inputs if same else Inputs.of(graph)
        if (layers := reasoner.layers) is not None:
            inputs = inputs if layers.reads_links else inputs.unlinked()
            probs = layers.probabilities(outputs_of(layers, inputs, node)).mean(axis=0)
            return self._calibrated(probs)
        network = reasoner.network_on(graph, inputs)
        features = inputs.words if network.features is None else network.features
        given = features.toarray() if network.first is None else features @ network.first
        with torch.no_grad():
            outputs = network.outputs(torch.from_numpy(given.astype(np.float32)))[node]
        return self._calibrated(outputs.double().softmax(-1).numpy())

    def _calibrated(self, probs: np.ndarray, messages_are: bool = False) -> np.ndarray:
        """Probabilities [c] after the run's calibration, by its stored numbers."""
        constants = self.reasoner.result.constants
        logits = np.log(probs.clip(1e-30))
        for calibrator in self._calibrators:
            if calibrator.name == "temperature":
                logits = logits / constants["temperature"]
            elif calibrator.name == "bias":
                logits = logits + [constants[f"bias_{c}"] for c in range(len(logits))]
            elif calibrator.name == "spread" and not messages_are:
                widths = constants["variance_factor"], constants["variance_width"]
                outputs = Outputs(torch.from_numpy(logits[None]))
                mixed = spread.mix_probabilities(outputs, slice(None), *widths)[0]
                logits = np.log(mixed.numpy().clip(1e-30))
        return softmax(logits)

    def _search(
        self, reasons: Reasons, what: Literal["links", "words"], candidates: list[Pair], most: int
    ) -> Change | None:
        if not self._repeats(reasons.node):
            return None

        def changes(chosen: Sequence[Pair]) -> bool:
            return self._network_answer(reasons.node, **{what: chosen}) != reasons.answer

        slow = self.reasoner.layers is None
        tries = (SLOW_SINGLES, SLOW_PAIRED) if slow else (SINGLES, PAIRED)
        for chosen in _sets(candidates, most, tries, changes):
            removed: dict[str, Sequence[Pair]] = {"links": (), "words": (), what: chosen}
            graph = without(self.reasoner.graph, **removed)
            answer, confidence = self.answer_on(reasons.node, graph)
            if answer != reasons.answer:  # else the mean says so, but not the probabilities
                return Change(**removed, answer=answer, confidence=confidence)
        return None

    def _network_answer(
        self, node: int, links: Sequence[Pair] = (), words: Sequence[Pair] = ()
    ) -> int:
        """The answer without some links or words, of the network alone where that is quick."""
        reasoner = self.reasoner
        if reasoner.layers is None:
            changed = without(reasoner.graph, links, words)
            return int(self.probabilities(node, changed).argmax())
        outputs = outputs_of(reasoner.layers, reasoner.inputs.without(links, words), node)
        return int(reasoner.layers.probabilities(outputs).mean(axis=0).argmax())


@lru_cache(maxsize=1)
def _inspector_on(graph: Graph, result: Result) -> Inspector:
    """Kept for the next node on the same changed graph."""
    return Inspector(graph, result)


def _sets(
    candidates: Sequence[Pair],
    most: int,
    tries: tuple[int, int],
    changes: Callable[[Sequence[Pair]], bool],
) -> Iterator[tuple[Pair, ...]]:
    """Sets of candidates that change the answer, smaller ones first."""
    for size, among in enumerate(tries, start=1):
        if size <= most:
            yield from filter(changes, combinations(candidates[:among], size))
    for size in range(3, min(most, len(candidates)) + 1):
        chosen = tuple(candidates[:size])
        if changes(chosen):
            for one in reversed(chosen):  # put back what is not needed
                fewer = tuple(other for other in chosen if other != one)
                chosen = fewer if changes(fewer) else chosen
            yield chosen


def outputs_of(layers: TwoLayers, inputs: Inputs, node: int) -> np.ndarray:
    """A network's outputs [members, c] for one node."""
    row = inputs.kernel[[node]]
    sources, kernel = inputs.rows(row.indices)
    words = inputs.words[sources]
    hidden = (kernel @ (words @ first.astype(np.float64)) for first in layers.first)
    pairs = zip(hidden, layers.second, strict=True)
    return np.stack([row.data @ np.maximum(h, 0) @ second for h, second in pairs])


def without(graph: Graph, links: Sequence[Pair] = (), words: Sequence[Pair] = ()) -> Graph:
    """The graph without some links, and without some words (node, feature)."""
    if words:
        features = sparse.lil_array(graph.features)
        for node, word in words:
            features[node, word] = 0
        graph = replace(graph, features=sparse.csr_array(features))
    return with_links(graph, remove=links) if links else graph
