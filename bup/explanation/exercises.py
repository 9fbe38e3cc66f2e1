"""Exercises for paper and pencil, and their solutions, from the numbers of a run."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
from scipy.stats import norm

from bup import metrics
from bup.graph import Graph
from bup.results.result import Result

BINS = 5
SAMPLE = 5  # nodes of either kind, for an AUROC by hand


@dataclass(frozen=True)
class Exercise:
    """What is asked, a table to work with, and the solution with the value it comes to."""

    title: str
    task: str
    rows: tuple[tuple[str, ...], ...]  # the first holds the names of the columns
    solution: str
    value: float


def duel(graph: Graph, result: Result, random: np.random.RandomState) -> Exercise:
    """Two bell curves: how often does one class beat another?"""
    assert result.mean is not None and result.var is not None
    node = int(random.choice(result.split.test))
    mean, var = result.mean[node].astype(float), result.var[node].astype(float)
    first, second = np.argsort(-mean)[:2]
    means, variances = (mean.round(2), np.maximum(var.round(2), 0.01))
    spread = float(np.sqrt(variances[first] + variances[second]))
    z = float(means[first] - means[second]) / spread
    names = [graph.class_names[result.split.classes[c]] for c in (first, second)]
    return Exercise(
        "Two bell curves",
        f"The message of node {graph.name_of(node)} has a Gaussian for each class, independent of "
        f"each other. How probable is it that a draw for {names[0]} is larger than one for "
        f"{names[1]}?",
        (
            ("class", "mean", "variance"),
            *(
                (name, f"{means[c]:.2f}", f"{variances[c]:.2f}")
                for name, c in zip(names, (first, second), strict=True)
            ),
        ),
        f"The difference is Gaussian with mean {means[first] - means[second]:.2f} and standard "
        f"deviation √({variances[first]:.2f} + {variances[second]:.2f}) = {spread:.3f}. It is "
        f"positive with probability Φ({z:.3f}) = {norm.cdf(z):.1%}.",
        float(norm.cdf(z)),
    )


def calibration(graph: Graph, result: Result) -> Exercise:
    """Bins of answers: what is the expected calibration error?"""
    probs, targets, _ = result.judged(graph)
    bins = metrics.reliability_bins(probs, targets, BINS)
    nonempty = [i for i in range(BINS) if bins.count[i]]
    rows = [
        (
            int(bins.count[i]),
            round(float(bins.confidence[i]), 3),
            round(float(bins.accuracy[i]), 3),
        )
        for i in nonempty
    ]
    total = sum(count for count, _, _ in rows)
    error = sum(count * abs(conf - acc) for count, conf, acc in rows) / total
    sums = " + ".join(f"{count} · {abs(conf - acc):.3f}" for count, conf, acc in rows)
    surer = sum(count * (conf - acc) for count, conf, acc in rows) > 0
    return Exercise(
        "How far is it off?",
        f"The answers to {total:,} test nodes, sorted into bins by confidence. What is the "
        "expected calibration error (ECE)? Is the model too sure, or not sure enough?",
        (
            ("answers", "mean confidence", "share that is right"),
            *((f"{count:,}", f"{conf:.1%}", f"{acc:.1%}") for count, conf, acc in rows),
        ),
        f"ECE = ({sums}) / {total} = {error:.1%}. On average it is "
        f"{'too sure' if surer else 'not sure enough'}.",
        error,
    )


def degrees(graph: Graph, random: np.random.RandomState, lam: float = 1.0) -> Exercise:
    """The published rule: what do the links leave of a node's variance?"""
    deg = np.bincount(graph.edges.ravel(), minlength=graph.num_nodes) + 1
    node = int(random.choice(np.flatnonzero((deg >= 3) & (deg <= 4))))
    ends = graph.edges
    near = np.sort(np.concatenate([ends[1][ends[0] == node], ends[0][ends[1] == node]]))
    left = 1 - float((1 / (lam * deg[node] * deg[near])).sum())
    terms = " − ".join(f"1/({deg[node]} · {deg[j]})" for j in near)
    return Exercise(
        "What links leave",
        f"Node {graph.name_of(node)} has {len(near)} neighbours. Under the published rule with "
        f"lam = {lam:g}, a neighbour of degree d takes the share 1/(lam · d(node) · d) of the "
        "node's variance away; degrees count the node itself. Which share of its variance is left?",
        (
            ("node", "degree"),
            (f"{graph.name_of(node)} itself", str(deg[node])),
            *((graph.name_of(int(j)), str(deg[j])) for j in near),
        ),
        f"1 − {terms} = {left:.3f}. How unsure the neighbours are does not matter.",
        left,
    )


def ranking(graph: Graph, result: Result, random: np.random.RandomState) -> Exercise:
    """A few known and unseen nodes: what is the AUROC of their doubt?"""
    nodes = result.split.test
    unseen = result.split.is_ood(graph.labels[nodes])
    doubt = 1 - metrics.confidence(result.probs)
    chosen = np.concatenate(
        [random.choice(nodes[kind], SAMPLE, replace=False) for kind in (unseen, ~unseen)]
    )
    values = doubt[chosen].round(3)
    strangers, known = values[:SAMPLE], values[SAMPLE:]
    wins = float((strangers[:, None] > known).sum() + 0.5 * (strangers[:, None] == known).sum())
    hidden = ", ".join(graph.class_names[c] for c in result.spec.left_out)
    order = np.argsort(chosen)
    return Exercise(
        "Strangers among acquaintances",
        f"A model never saw the class {hidden}. Here is its doubt (1 − confidence) about {SAMPLE} "
        f"nodes of that class and {SAMPLE} others. What is the AUROC of doubt as a sign of the "
        "unseen class? Count pairs.",
        (
            ("node", "doubt", "class"),
            *(
                (
                    graph.name_of(int(chosen[i])),
                    f"{values[i]:.3f}",
                    "unseen" if i < SAMPLE else "known",
                )
                for i in order
            ),
        ),
        f"In {wins:g} of {SAMPLE} · {SAMPLE} = {SAMPLE**2} pairs the unseen node is doubted more "
        f"(ties count half): {wins / SAMPLE**2:.0%}.",
        wins / SAMPLE**2,
    )


def temperature(graph: Graph, result: Result, random: np.random.RandomState) -> Exercise:
    """Softmax at two temperatures."""
    assert result.mean is not None
    node = int(random.choice(result.split.test))
    scores = result.mean[node].astype(float).round(1)
    best = int(scores.argmax())
    cold, warm = (float(np.exp(scores / t)[best] / np.exp(scores / t).sum()) for t in (1.0, 2.0))
    names = [graph.class_names[c] for c in result.split.classes]
    return Exercise(
        "Warming up",
        f"A GCN gives node {graph.name_of(node)} these scores. What is its confidence (the largest "
        "softmax probability) at temperature 1, and at temperature 2? Does the answer change?",
        (("class", "score"), *((n, f"{s:.1f}") for n, s in zip(names, scores, strict=True))),
        f"At temperature 1: {cold:.1%}; at 2, where all scores are halved first: {warm:.1%}. The "
        f"answer stays {names[best]}: dividing keeps the order.",
        warm,
    )


def sheet(exercises: list[Exercise], about: str) -> str:
    """A page to print: the exercises, and on a new page their solutions."""
    asked = "".join(
        f"<h2>{i}. {escape(e.title)}</h2><p>{escape(e.task)}</p>{_table(e.rows)}"
        '<div class="room"></div>'
        for i, e in enumerate(exercises, 1)
    )
    solved = "".join(
        f"<h2>{i}. {escape(e.title)}</h2><p>{escape(e.solution)}</p>"
        for i, e in enumerate(exercises, 1)
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>How sure is a network?</title><style>{_STYLE}</style></head><body>"
        f"<h1>How sure is a network?</h1><p>{escape(about)}</p>{asked}"
        f'<section class="solutions"><h1>Solutions</h1>{solved}</section></body></html>\n'
    )


def _table(rows: tuple[tuple[str, ...], ...]) -> str:
    head, *body = rows
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body
    )
    return f"<table><tr>{cells}</tr>{lines}</table>"


_STYLE = """
body { font: 11pt/1.45 Georgia, serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 1.6rem; }
table { border-collapse: collapse; } th, td { padding: 0.15rem 0.9rem 0.15rem 0; text-align: left; }
th { border-bottom: 1px solid; font-weight: normal; font-style: italic; }
.room { height: 5rem; } .solutions { break-before: page; }
@media print { body { margin: 0; } h2, table { break-after: avoid; } }
"""
