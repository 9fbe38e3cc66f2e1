"""Lesson 10, in earnest: networks trained where links hold, and where they mislead."""

from __future__ import annotations

from bup import metrics
from bup.datasets import synthetic
from bup.datasets.synthetic import Knobs
from dashboard.figures.learn.groups import Ranked
from dashboard.learn import cases
from dashboard.learn.cases import Case

HELD, MISLED = 0.8, 0.2
"""The share of links that stay inside a class; with four classes, a quarter would by chance."""
HIDDEN = 3
DOUBT = "bup", (("propagation", "doubt"),)
SCORES = {
    "Doubt (our rule)": (DOUBT, "message_std"),
    "1 − confidence (BUP)": (DOUBT, "confidence"),
    "Energy, spread over links": (("energy", ()), "energy"),
    "Entropy of a GCN": (("gcn", ()), "predictive_entropy"),
    "Entropy, words alone (MLP)": (("mlp", ()), "predictive_entropy"),
}
"""The scores that are shown: the run that each is of, and its name there."""


def graph_of(homophily: float) -> str:
    return synthetic.graph_name(Knobs(nodes=800, classes=4, words=400, homophily=homophily))


def trained(homophily: float, method: str, settings: tuple[tuple[str, str], ...]) -> Case:
    """A run that never saw the last class; the page waits for it if nobody has trained it."""
    return cases.case(graph_of(homophily), method, (HIDDEN,), **dict(settings))


def ranked() -> list[Ranked]:
    """How well every score finds the hidden class, on both graphs."""
    wanted = [
        (run, h) for run in dict.fromkeys(r for r, _ in SCORES.values()) for h in (HELD, MISLED)
    ]
    for (method, settings), homophily in wanted:
        cases.ask(graph_of(homophily), method, (HIDDEN,), **dict(settings))
    runs = {(run, homophily): trained(homophily, *run) for run, homophily in wanted}
    return [
        Ranked(name, found(runs[run, HELD], score), found(runs[run, MISLED], score))
        for name, (run, score) in SCORES.items()
    ]


def found(case: Case, score: str) -> float:
    nodes = case.result.split.test
    unseen = case.result.split.is_ood(case.graph.labels[nodes])
    return metrics.auroc(case.result.uncertainties()[score][nodes], unseen)


def right(case: Case) -> float:
    """The share of the known classes' test papers that are answered rightly."""
    judged = case.result.judged(case.graph)
    return metrics.accuracy(judged.probs, judged.targets)
