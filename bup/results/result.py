"""A finished run: what every metric and every view consumes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bup import metrics, scores
from bup.datasets import as_graph, load_graph
from bup.errors import BupError, explain_os_error
from bup.graph import PARTS, Graph
from bup.io import files
from bup.io.lazy import pandas as pd
from bup.io.numbers import percent
from bup.metrics import conformal
from bup.results.store import pack_result
from bup.run.spec import Run, Spec
from bup.run.splits import Split


class EvalSet(NamedTuple):
    """The test nodes of learned classes, on which a run's metrics are measured."""

    probs: np.ndarray  # [m, c]
    targets: np.ndarray  # [m] columns of ``probs``
    nodes: np.ndarray  # [m] indices


@dataclass(frozen=True, eq=False)
class Result:
    """A finished run: arrays over all nodes of the graph, with a column per learned class.

    ``bup.fit`` makes it, ``bup.evaluate`` measures it.

    Parameters
    ----------
    spec : Spec
        What was trained, with every setting written out.
    split : Split
        The nodes; column k of an array is class ``split.classes[k]``.
    probs : array [n, c]
        Class probabilities.
    mean : array [n, c] or None
        Means of the messages; the network's outputs if its messages have no variance.
    var : array [n, c] or None
        Variances of the messages.
    history : dict of lists
        A number per epoch: ``loss``, ``validation_nll``, ``validation_accuracy``.
    kept_epoch : int
        The epoch, counting from 1, whose weights were kept.
    seconds : float
        How long training took.
    weights : dict of arrays, default {}
        The network's weights by name.
    constants : dict of floats, default {}
        Fitted constants, such as a temperature.
    own_scores : dict of arrays [n], default {}
        Uncertainty scores that only this method has.
    graph : Graph or None, default None
        The graph, if it is in memory, see ``get_graph``.
    model : torch.nn.Module or None, default None
        The trained copy of ``fit(model=...)``; it is not saved.

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> result.predicted.shape, len(result.history["loss"])
    ((60,), 3)
    >>> "confidence" in result.scores()
    True
    """

    spec: Spec
    split: Split = field(repr=False)
    probs: np.ndarray = field(repr=False)
    mean: np.ndarray | None = field(repr=False)
    var: np.ndarray | None = field(repr=False)
    history: Mapping[str, list[float]] = field(repr=False)
    kept_epoch: int
    seconds: float
    weights: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)
    own_scores: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)
    graph: Graph | None = field(repr=False, default=None)
    model: Any = field(repr=False, default=None)

    def get_graph(self) -> Graph:
        """The graph of the run, loaded by its name if it is not in memory."""
        return self.graph if self.graph is not None else load_graph(self.spec.graph)

    def check_graph(self, graph: Any) -> Graph:
        """A graph, as ``as_graph`` takes it; BupError unless it has the content of the run's."""
        graph = as_graph(graph)
        own = self.graph
        sizes = graph.num_nodes, graph.num_classes
        mine = len(self.probs), len(self.split.classes) + len(self.split.left_out)
        if graph is own or (own.digest == graph.digest if own else sizes == mine):
            return graph
        other = "as many nodes and classes, but other content"
        if sizes != mine:
            other = f"{sizes[0]:,} nodes and {sizes[1]} classes"
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
        """Every score [n] by name; a high confidence is a high number."""
        return scores.derived(self.probs, self.var) | dict(self.own_scores)

    def uncertainties(self) -> dict[str, np.ndarray]:
        """Every score [n] by name, turned so that higher means less certain."""
        return {
            name: scores.SCORES[name].uncertainty(values) if name in scores.SCORES else values
            for name, values in self.scores().items()
        }

    def judged(self, graph: Graph) -> EvalSet:
        """The test nodes whose class the model has learned."""
        graph = self.check_graph(graph)
        test = self.split.test
        nodes = test[~self.split.is_ood(graph.labels[test])]
        return EvalSet(self.probs[nodes], self.split.targets(graph.labels[nodes]), nodes)

    def tested_on(self, nodes: np.ndarray) -> Result:
        """The same run with only those test nodes that are among ``nodes``."""
        test = self.split.test[np.isin(self.split.test, nodes)]
        return replace(self, split=replace(self.split, test=test))

    def save(self, path: Path | str) -> None:
        """Write the result to a file in the store's format: plain arrays, no pickle.

        A ``model`` of your own is not saved, its outputs are.

        Parameters
        ----------
        path : str or Path
            The file to write; an existing one is replaced.

        Raises
        ------
        BupError
            If the file cannot be written.
        """
        place, run = _as_path(path), Run(self.spec, self.get_graph().digest)
        with explain_os_error(f"{path} cannot be written", "choose another place"):
            files.write_atomically(place, pack_result(run, *self.pack()))

    @staticmethod
    def load(path: Path | str, graph: Graph | str | None = None) -> Result:
        """Read a result that ``save`` wrote, and check it against its graph.

        Parameters
        ----------
        path : str or Path
            The file.
        graph : Graph or str, default None
            The graph; loaded by the name in the file unless it is given. A graph that only exists
            in Python has to be given.

        Returns
        -------
        Result
            Equal to the one that was saved.

        Raises
        ------
        BupError
            If the file cannot be read, is damaged, or is of another graph.

        Examples
        --------
        >>> import bup, tempfile
        >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.save(f"{folder}/run.bup")
        ...     again = bup.Result.load(f"{folder}/run.bup")
        >>> bool((again.probs == result.probs).all())
        True
        """
        from bup.training import fitting

        return fitting.read(_as_path(path), graph)

    def pack(self) -> files.Contents:
        """The result as a file holds it, without its specification."""
        arrays = {"probs": self.probs} | {f"weights.{k}": v for k, v in self.weights.items()}
        arrays |= {f"scores.{k}": v for k, v in self.own_scores.items()}
        arrays |= {k: v for k, v in (("mean", self.mean), ("var", self.var)) if v is not None}
        arrays |= {name: getattr(self.split, name) for name in PARTS}
        values: dict[str, Any] = {name: getattr(self, name) for name in _VALUES}
        values |= {name: dict(values[name]) for name in ("history", "constants")}
        values |= {"classes": self.split.classes, "left_out": self.split.left_out}
        return files.Contents(arrays, values)

    @classmethod
    def unpack(cls, spec: Spec, contents: files.Contents, graph: Graph | None = None) -> Result:
        """The result that ``pack`` described; raises DamagedFile where something is missing."""
        arrays, values = contents
        try:
            classes = [tuple(values[name]) for name in ("classes", "left_out")]
            return cls(
                spec=spec,
                split=Split(arrays["train"], arrays["validation"], arrays["test"], *classes),
                probs=arrays["probs"],
                mean=arrays.get("mean"),
                var=arrays.get("var"),
                weights=contents.group("weights."),
                own_scores=contents.group("scores."),
                graph=graph,
                **{name: values[name] for name in _VALUES},
            )
        except (KeyError, TypeError) as error:
            raise files.DamagedFile(f"it lacks {error}") from error


_VALUES = ("history", "kept_epoch", "seconds", "constants")


def _as_path(given: Any) -> Path:
    if isinstance(given, str | PathLike):
        return Path(given)
    raise BupError(f"the file of a result is a path such as 'run.bup', got {given!r}")


def errors_from_left_out(hidden: Result, complete: Result, graph: Graph) -> np.ndarray:
    """Nodes that ``hidden`` gets wrong because their class was left out of its training.

    ``complete`` learned that class and gets them right, and neither run trained on them. The nodes
    on which the less confident run is surest come first.
    """
    nodes = np.intersect1d(hidden.split.test, complete.split.test)
    nodes = nodes[hidden.split.is_ood(graph.labels[nodes])]
    nodes = nodes[complete.predicted[nodes] == graph.labels[nodes]]
    sure = np.minimum(hidden.probs[nodes].max(axis=1), complete.probs[nodes].max(axis=1))
    return nodes[np.argsort(-sure, kind="stable")]


def node_table(result: Result, graph: Graph) -> pd.DataFrame:
    """One row per node, in node order: what every map, list and export is made of.

    Columns: ``id``, ``title`` (if the graph has titles), ``true`` and ``predicted`` class names
    (``true`` is empty where unknown), ``part`` (train, validation, test or unused), ``ood``,
    ``correct`` (for labelled nodes of a learned class, else missing), ``degree``, ``distance``
    (links to the nearest training node) and ``mean_distance`` (mean over reachable training nodes),
    both missing where there is no path, then every score. ``attrs`` name the method, and the column
    ``named_by`` whose texts are the nodes' names.
    """
    split, names = result.split, np.array([*graph.class_names, ""])
    part = np.full(graph.num_nodes, "unused", dtype=object)
    for name in PARTS:
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
    by_title = graph.names is not None and graph.names is graph.titles
    table.attrs |= {"method": result.spec.method, "named_by": "title" if by_title else "id"}
    return table


def evaluate(
    result: Result,
    graph: Any = None,
    bins: int = 10,
    unjudged: Collection[int] = (),
    distance: np.ma.MaskedArray | None = None,
) -> dict[str, Any]:
    """Every metric of a run on its test nodes, as plain values.

    Parameters
    ----------
    result : Result
        The run.
    graph : Graph or another package's graph, default None
        The graph that it was trained on; None: the one that the result has.
    bins : int, default 10
        Bins of the calibration errors.
    unjudged : collection of int, default ()
        Left-out classes whose nodes count neither as known nor as unseen.
    distance : masked array [n], default None
        Mean distance of each node to the training nodes, if it has been computed before.

    Returns
    -------
    dict
        ``test``: accuracy and calibration on the nodes of learned classes. ``conformal``: how often
        sets meant to contain the true class in nine of ten cases do, and how large they are.
        ``errors``: how well each uncertainty score finds the mistakes. ``ood``, if classes were
        left out: how well it finds their nodes. ``structure``, if messages have a variance: rank
        correlation of message uncertainty with degree and with distance.

    Raises
    ------
    BupError
        If ``result`` is no result, or of another graph.

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> report = bup.evaluate(result)
    >>> sorted(report)
    ['conformal', 'errors', 'structure', 'test']
    >>> 0 <= report["test"]["accuracy"] <= 1
    True
    """
    if not isinstance(result, Result):
        raise BupError(f"evaluate(result, graph) judges a result, got a {type(result).__name__}")
    graph = result.get_graph() if graph is None else result.check_graph(graph)
    split = result.split
    test = split.test[~np.isin(graph.labels[split.test], list(unjudged))]
    ood = split.is_ood(graph.labels[test])
    probs, targets, nodes = result.judged(graph)
    wrong = ~metrics.hits(probs, targets)
    uncertainties = result.uncertainties()
    report: dict[str, Any] = {
        "test": metrics.summary(probs, targets, bins) | {"nodes": len(nodes)},
        "errors": _detection(uncertainties, nodes, wrong),
        "conformal": {},
    }
    for rule in conformal.RULES:
        sets = conformal.conformal_sets(result.probs, graph, split, rule=rule)
        size, coverage = float(sets.size[nodes].mean()), sets.coverage(nodes, targets)
        report["conformal"][rule] = {"level": sets.level, "coverage": coverage, "size": size}
    if detection := _detection(uncertainties, test, ood):
        unseen = test[ood]
        report["ood"] = {"nodes": len(unseen)}
        for name, of_probs in (("confidence", metrics.confidence), ("prob_std", metrics.prob_std)):
            score = of_probs(result.probs)
            means = {"in": float(score[nodes].mean()), "out": float(score[unseen].mean())}
            report["ood"][name] = means
        report["ood"]["scores"] = detection
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


def guessing_warning(result: Result, graph: Graph) -> str:
    """A sentence about a run that is hardly more often right than one answer for all; else empty.

    Hardly: by less than two standard errors on its test nodes.
    """
    probs, targets, nodes = result.judged(graph)
    if not len(nodes):
        return ""
    shares = np.bincount(targets, minlength=len(result.split.classes)) / len(nodes)
    most, accuracy = float(shares.max()), float(metrics.hits(probs, targets).mean())
    if accuracy > most + 2 * np.sqrt(most * (1 - most) / len(nodes)):
        return ""
    usual = graph.class_names[result.split.classes[int(shares.argmax())]]
    text = (
        f"This model is right on {percent(accuracy)} of the {len(nodes):,} test "
        f"{graph.noun.many}; answering {usual} every time would be right on {percent(most)}. It "
        "has learned next to nothing."
    )
    if "weight_decay" in dict(result.spec.settings):
        text += " Try a smaller weight decay, such as 0.0005, or more labels per class."
    return text


def _detection(
    uncertainties: Mapping[str, np.ndarray], nodes: np.ndarray, positive: np.ndarray
) -> dict[str, dict[str, float]]:
    """How well each score finds the positive ones of these nodes; empty if all or none are."""
    if positive.all() or not positive.any():
        return {}
    measures = {"auroc": metrics.auroc, "aupr": metrics.aupr, "fpr95": metrics.fpr_at_95}
    return {
        name: {measure: of(score[nodes], positive) for measure, of in measures.items()}
        for name, score in uncertainties.items()
    }


def _correlation(x: np.ndarray, y: np.ndarray) -> dict[str, float] | None:
    """None where one of the two is the same for all nodes, as degrees are on a regular graph."""
    both = np.ma.getmaskarray(x) | np.ma.getmaskarray(y)
    if any(np.ptp(values[~both]) == 0 for values in (np.asarray(x), np.asarray(y))):
        return None
    rank = metrics.spearman(x, y, resamples=200)
    return {"spearman": rank.value, "low": rank.low, "high": rank.high, "nodes": rank.count}
