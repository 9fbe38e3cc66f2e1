"""A finished run: what every metric and every view consumes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bup import metrics, scores
from bup.datasets import as_graph, load_graph
from bup.errors import BupError
from bup.graph import Graph
from bup.io.files import Contents, DamagedFile
from bup.io.lazy import pandas as pd
from bup.metrics import conformal
from bup.metrics.conformal import Sets, conformal_sets
from bup.run.spec import Spec
from bup.run.splits import Split


class EvalSet(NamedTuple):
    """What the metrics of a run are measured on: its test nodes of learned classes."""

    probs: np.ndarray  # [m, c]
    targets: np.ndarray  # [m] columns of ``probs``
    nodes: np.ndarray  # [m] indices


@dataclass(frozen=True, eq=False)
class Result:
    """Arrays over all nodes of the graph; columns are the classes of ``split.classes``."""

    spec: Spec  # complete: every setting written out
    split: Split = field(repr=False)
    probs: np.ndarray = field(repr=False)  # [n, c]
    mean: np.ndarray | None = field(repr=False)  # [n, c] of messages; without variance the outputs
    var: np.ndarray | None = field(repr=False)  # [n, c] message variances
    history: Mapping[str, list[float]] = field(repr=False)  # see ``bup.training``, per epoch
    kept_epoch: int  # counting from 1
    seconds: float
    weights: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)  # fitted, e.g. a temperature
    own_scores: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)  # [n] each
    graph: Graph | None = field(repr=False, default=None)  # where it is at hand, see ``get_graph``
    model: Any = field(repr=False, default=None)  # the torch module of ``fit(model=...)``; not kept

    def get_graph(self) -> Graph:
        """The graph of the run, loaded by its name if it is not at hand."""
        return self.graph if self.graph is not None else load_graph(self.spec.graph)

    def check_graph(self, graph: Any) -> Graph:
        """A graph, as ``as_graph`` takes it, if it has the content of the run's."""
        graph = as_graph(graph)
        known = self.graph
        sizes = graph.num_nodes, graph.num_classes
        mine = len(self.probs), len(self.split.classes) + len(self.split.left_out)
        if graph is known or (known.digest == graph.digest if known else sizes == mine):
            return graph
        other = (
            f"{sizes[0]:,} nodes and {sizes[1]} classes"
            if sizes != mine
            else "as many nodes and classes, but other content"
        )
        raise BupError(
            f"this result is of {self.spec.graph}, a graph of {mine[0]:,} nodes and {mine[1]} "
            f"classes, got {graph.name} with {other}: give the graph that it was trained on"
        )

    def table(self) -> pd.DataFrame:
        """One row per node, see ``node_table``."""
        return node_table(self, self.get_graph())

    @property
    def predicted(self) -> np.ndarray:
        """The predicted class [n] of every node, as a class of the graph."""
        return np.array(self.split.classes)[self.probs.argmax(axis=1)]

    def scores(self) -> dict[str, np.ndarray]:
        """Every score [n] by name, as it is read: a high confidence is a high number."""
        return scores.derived(self.probs, self.var) | dict(self.own_scores)

    def uncertainties(self) -> dict[str, np.ndarray]:
        """The same, each turned so that higher means less certain."""
        return {
            name: scores.SCORES[name].uncertainty(values) if name in scores.SCORES else values
            for name, values in self.scores().items()
        }

    def judged(self, graph: Graph) -> EvalSet:
        """The test nodes whose class the model could answer with."""
        graph = self.check_graph(graph)
        test = self.split.test
        nodes = test[~self.split.is_ood(graph.labels[test])]
        return EvalSet(self.probs[nodes], self.split.targets(graph.labels[nodes]), nodes)

    def tested_on(self, nodes: np.ndarray) -> Result:
        """The same run, tested on those of its test nodes only that are among ``nodes``."""
        test = self.split.test[np.isin(self.split.test, nodes)]
        return replace(self, split=replace(self.split, test=test))

    def save(self, path: Path | str) -> None:
        """Write the result to a file of your own, in the store's format: plain arrays, no pickle.

        What a model of your own has learned is not in it, its answers are.
        """
        from bup.training import fitting

        fitting.write(self, Path(path))

    @staticmethod
    def load(path: Path | str, graph: Graph | str | None = None) -> Result:
        """A result from such a file, checked against its graph.

        The graph is loaded by its name unless it is given: one that only you have has to be.
        """
        from bup.training import fitting

        return fitting.read(Path(path), graph)

    def pack(self) -> Contents:
        arrays = {"probs": self.probs} | {f"weights.{k}": v for k, v in self.weights.items()}
        arrays |= {f"scores.{k}": v for k, v in self.own_scores.items()}
        arrays |= {k: v for k, v in (("mean", self.mean), ("var", self.var)) if v is not None}
        split = self.split
        arrays |= {"train": split.train, "validation": split.validation, "test": split.test}
        values = {
            "history": dict(self.history),
            "kept_epoch": self.kept_epoch,
            "seconds": self.seconds,
            "constants": dict(self.constants),
            "classes": split.classes,
            "left_out": split.left_out,
        }
        return Contents(arrays, values)

    @classmethod
    def unpack(cls, spec: Spec, packed: Contents, graph: Graph | None = None) -> Result:
        arrays, values = packed
        try:
            split = Split(
                arrays["train"],
                arrays["validation"],
                arrays["test"],
                tuple(values["classes"]),
                tuple(values["left_out"]),
            )
            return cls(
                spec=spec,
                split=split,
                probs=arrays["probs"],
                mean=arrays.get("mean"),
                var=arrays.get("var"),
                history=values["history"],
                kept_epoch=values["kept_epoch"],
                seconds=values["seconds"],
                weights=_group(arrays, "weights."),
                constants=values["constants"],
                own_scores=_group(arrays, "scores."),
                graph=graph,
            )
        except (KeyError, TypeError) as error:
            raise DamagedFile(f"it lacks {error}") from error


def _group(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}


def errors_from_left_out(hidden: Result, shown: Result, graph: Graph) -> np.ndarray:
    """Nodes that one run gets wrong because it was never shown their class: another run, which was,
    gets them right, and neither learned from them.

    First those where both are surest: by the lesser of the two confidences.
    """
    nodes = np.intersect1d(hidden.split.test, shown.split.test)
    nodes = nodes[hidden.split.is_ood(graph.labels[nodes])]
    nodes = nodes[shown.predicted[nodes] == graph.labels[nodes]]
    sure = np.minimum(hidden.probs[nodes].max(axis=1), shown.probs[nodes].max(axis=1))
    return nodes[np.argsort(-sure, kind="stable")]


def node_table(result: Result, graph: Graph) -> pd.DataFrame:
    """One row per node, in node order: what every map, list and export is made of.

    Columns: ``id``, ``title`` (if the graph has titles), ``true`` and ``predicted`` class names
    (``true`` is empty where unknown), ``part`` (train, validation, test or unused), ``ood``,
    ``correct`` (for labelled nodes of a learned class, else missing), ``degree``, ``distance``
    (links to the nearest training node) and ``mean_distance`` (mean over reachable training nodes),
    both missing where there is no path, then every score. ``attrs`` name the method.
    """
    split, names = result.split, np.array([*graph.class_names, ""])
    part = np.full(graph.num_nodes, "unused", dtype=object)
    for name in ("train", "validation", "test"):
        part[getattr(split, name)] = name
    ood = split.is_ood(graph.labels)
    judged = graph.labelled & ~ood
    correct = pd.array(result.predicted == graph.labels, dtype="boolean")
    correct[~judged] = pd.NA
    columns: dict[str, Any] = {"id": [graph.node_id(i) for i in range(graph.num_nodes)]}
    if graph.titles is not None:
        columns["title"] = graph.titles
    columns |= {
        "true": names[graph.labels],
        "predicted": names[result.predicted],
        "part": part,
        "ood": ood,
        "correct": correct,
        "degree": graph.degree,
        "distance": np.ma.filled(graph.nearest_hops(split.train).astype(float), np.nan),
        "mean_distance": np.ma.filled(graph.mean_hops(split.train), np.nan),
    }
    table = pd.DataFrame(columns | result.scores())
    table.attrs["method"] = result.spec.method
    return table


def evaluate(
    result: Result,
    graph: Any = None,
    bins: int = 10,
    unjudged: Collection[int] = (),
    distance: np.ma.MaskedArray | None = None,
) -> dict[str, Any]:
    """Every metric of a run on its test nodes, as plain values.

    ``graph`` has to be the one that the run was trained on (None: the one that it has).
    ``test`` is on the nodes of learned classes, as is ``conformal``: how often sets of classes that
    shall contain the true one in nine of ten cases do, and how large they are. ``errors`` says how
    well each uncertainty score finds the mistakes among them, ``ood`` how well it finds the
    left-out classes, if any; ``structure`` correlates message uncertainty with degree and distance
    to the training nodes, as far as these vary; who has their mean ``distance`` brings it. Nodes of
    the left-out classes that are ``unjudged`` count neither as known nor as unseen.
    """
    if not isinstance(result, Result):
        raise BupError(f"evaluate(result, graph) judges a result, got a {type(result).__name__}")
    graph = result.get_graph() if graph is None else result.check_graph(graph)
    split = result.split
    test = split.test[~np.isin(graph.labels[split.test], list(unjudged))]
    ood = split.is_ood(graph.labels[test])
    probs, targets, known = result.judged(graph)
    wrong = ~metrics.hits(probs, targets)
    uncertainties = result.uncertainties()
    report: dict[str, Any] = {
        "test": metrics.summary(probs, targets, bins) | {"nodes": len(known)},
        "errors": {name: _detection(score[known], wrong) for name, score in uncertainties.items()}
        if 0 < wrong.sum() < len(wrong)
        else {},
        "conformal": {
            rule: _sets(conformal_sets(result.probs, graph, split, rule=rule), known, targets)
            for rule in conformal.RULES
        },
    }
    if ood.any() and not ood.all():
        confidence = metrics.confidence(result.probs)
        spread = metrics.prob_std(result.probs)
        unknown = test[ood]
        report["ood"] = {
            "nodes": len(unknown),
            "confidence": {
                "in": float(confidence[known].mean()),
                "out": float(confidence[unknown].mean()),
            },
            "prob_std": {"in": float(spread[known].mean()), "out": float(spread[unknown].mean())},
            "scores": {name: _detection(score[test], ood) for name, score in uncertainties.items()},
        }
    if result.var is not None:
        distance = graph.mean_hops(split.train) if distance is None else distance
        report["structure"] = {
            name: {
                "degree": _correlation(graph.degree, uncertainties[name]),
                "distance": _correlation(distance, uncertainties[name]),
            }
            for name in ("message_std", "message_entropy")
        }
    return report


def _sets(sets: Sets, nodes: np.ndarray, targets: np.ndarray) -> dict[str, float]:
    return {
        "level": sets.level,
        "coverage": sets.coverage(nodes, targets),
        "size": float(sets.size[nodes].mean()),
    }


def _detection(score: np.ndarray, positive: np.ndarray) -> dict[str, float]:
    return {
        "auroc": metrics.auroc(score, positive),
        "aupr": metrics.aupr(score, positive),
        "fpr95": metrics.fpr_at_95(score, positive),
    }


def _correlation(x: np.ndarray, y: np.ndarray) -> dict[str, float] | None:
    """None where one of the two is the same for all nodes, as degrees are on a regular graph."""
    both = np.ma.getmaskarray(x) | np.ma.getmaskarray(y)
    if any(np.ptp(values[~both]) == 0 for values in (np.asarray(x), np.asarray(y))):
        return None
    found = metrics.spearman(x, y, resamples=200)
    return {"spearman": found.value, "low": found.low, "high": found.high, "nodes": found.count}
