"""The paper's questions, and ours, as grids of runs that end in tables beside its own."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.special import rel_entr
from scipy.stats import wilcoxon

from bup import metrics, runs
from bup.calibration import fit_scale
from bup.conformal import conformal_sets
from bup.datasets import load_graph, synthetic
from bup.graph import Graph
from bup.methods import JOIN, METHODS, complete, find
from bup.methods.bup import log_probability
from bup.paper import published
from bup.results import Result
from bup.spec import Spec, Value
from bup.splits import usual_sizes
from bup.store import Store

REFERENCE = "bup"
"""The method that all others are tested against."""
LEVEL = 0.05


@dataclass(frozen=True)
class Contender:
    """A row of a table: a method with settings, under a name of its own."""

    label: str
    method: str
    settings: tuple[tuple[str, Value], ...] = ()


STRONG_GCN = (("hidden", 64), ("keep", "best"), ("patience", 40))
"""What a GCN that is calibrated afterwards is given: as much width and patience as BUP has."""
EVIDENCE = Contender("evidence", "bup", (("propagation", "evidence"),))


def contender(label: str) -> Contender:
    """By the name of a method, of a calibrated one such as ``gcn+gats``, or ``evidence``."""
    if label == EVIDENCE.label:
        return EVIDENCE
    method, _, calibrator = label.partition(JOIN)
    return Contender(label, label, STRONG_GCN if method == "gcn" and calibrator else ())


@dataclass(frozen=True)
class Protocol:
    """Which classes are never shown, and which of those are not judged either."""

    name: str = ""
    left_out: tuple[int, ...] = ()
    unjudged: tuple[int, ...] = ()


def all_known(graph: Graph) -> list[Protocol]:
    return [Protocol()]


def last_class(graph: Graph) -> list[Protocol]:
    """The paper's."""
    return [Protocol("last class", (graph.num_classes - 1,))]


def published_protocols(graph: Graph) -> list[Protocol]:
    """The paper's one class, and those under which others published their figures.

    GPN leaves out the last 45 % of the classes. GNNSafe learns Cora's classes 4 to 6 and looks for
    0 to 2; class 3 is its training material for outlier exposure, which no method here uses, so it
    is neither shown nor judged.
    """
    protocols = last_class(graph)
    classes = tuple(range(graph.num_classes))
    count = math.floor(0.45 * graph.num_classes)
    if count > 1:
        protocols.append(Protocol(f"last {count} classes (GPN)", classes[-count:]))
    if graph.name == "cora":
        protocols.append(Protocol("classes 0 to 2 (GNNSafe)", (0, 1, 2, 3), unjudged=(3,)))
    return protocols


Row = dict[str, Any]
Measure = Callable[[Result, Graph, Protocol], Row]


@dataclass(frozen=True)
class Figure:
    """A column of a table."""

    key: str
    title: str
    better: int  # 1: the higher, -1: the lower, 0: neither
    digits: int = 2


@dataclass(frozen=True)
class Question:
    """A table: which runs, what is measured of each, how the columns are called."""

    name: str
    title: str
    graphs: tuple[str, ...]
    sizes: tuple[int, ...]
    contenders: tuple[Contender, ...]
    measure: Measure
    figures: tuple[Figure, ...]
    protocols: Callable[[Graph], list[Protocol]] = all_known
    reruns: int = 10
    first_seed: int = 0
    words: tuple[str, ...] = ()  # measured texts that are shown too
    pooled: bool = False  # one row per contender over all cells, best first by the second figure
    note: str = ""


@dataclass(frozen=True)
class Run:
    """A run and its place in a table."""

    graph: str
    per_class: int
    protocol: Protocol
    contender: str
    spec: Spec

    @property
    def place(self) -> Row:
        return {
            "graph": self.graph,
            "per_class": self.per_class,
            "protocol": self.protocol.name,
            "method": self.contender,
            "seed": self.spec.seed,
        }


CELL = ["graph", "per_class", "protocol", "method"]


def runs_of(
    question: Question,
    graphs: Mapping[str, Graph],
    sizes: Sequence[int] = (),
    contenders: Sequence[Contender] = (),
    reruns: int | None = None,
) -> list[Run]:
    """Every run of a question. By default, a method that refuses a graph is left out for it."""
    first = question.first_seed
    seeds = range(first, first + (reruns or question.reruns))
    planned = []
    for name, graph in graphs.items():
        validation, test = usual_sizes(graph)
        for protocol, size, who in itertools.product(
            question.protocols(graph), sizes or question.sizes, contenders or question.contenders
        ):
            spec = complete(
                Spec(
                    graph=graph.name,
                    method=who.method,
                    per_class=size,
                    validation=validation,
                    test=test,
                    left_out=protocol.left_out,
                    settings=who.settings,
                )
            )
            most = find(spec.method).most_nodes
            if not contenders and most is not None and graph.num_nodes > most:
                continue
            planned += [
                Run(name, size, protocol, who.label, dataclasses.replace(spec, seed=seed))
                for seed in seeds
            ]
    return planned


def rows_of(
    question: Question, planned: Iterable[Run], graphs: Mapping[str, Graph], store: Store
) -> pd.DataFrame:
    """One row per run that the store holds: its place and what is measured of it."""
    rows = []
    for run in planned:
        graph = graphs[run.graph]
        result = runs.stored(run.spec, graph, store)
        if result is not None:
            rows.append(run.place | question.measure(result, graph, run.protocol))
    columns = [*CELL, "seed", *question.words, *(f.key for f in question.figures)]
    return pd.DataFrame(rows, columns=None if rows else columns)


def load_graphs(names: Iterable[str]) -> dict[str, Graph]:
    return {name: load_graph(name) for name in names}


def _known(result: Result, graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Test nodes of learned classes, their probabilities and their targets."""
    split = result.split
    nodes = split.test[~split.is_ood(graph.labels[split.test])]
    return nodes, result.probs[nodes], split.targets(graph.labels[nodes])


def plain_figures(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """Accuracy and calibration; percentages as such."""
    _, probs, targets = _known(result, graph)
    found = metrics.summary(probs, targets)
    row = {k: v * (100 if metrics.METRICS[k].percent else 1) for k, v in found.items()}
    return row | {"epochs": len(result.history["loss"]), "seconds": result.seconds}


def calibration_figures(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """Besides: selective prediction, conformal sets, and the distance to a truth that is known."""
    nodes, probs, targets = _known(result, graph)
    right = metrics.hits(probs, targets)
    kept = metrics.risk_coverage(1 - metrics.confidence(probs), right)
    sets = conformal_sets(result.probs, graph, result.split)
    row = plain_figures(result, graph, protocol) | {
        "aurc": 100 * kept.area,
        "accuracy_80": 100 * kept.accuracy_at(0.8),
        "coverage": 100 * sets.coverage(nodes, targets),
        "set_size": float(sets.size[nodes].mean()),
        "truth_distance": np.nan,
        "truth_kl": np.nan,
    }
    if graph.name.partition(":")[0] == synthetic.NAME and not result.split.left_out:
        truth = synthetic.true_posterior(graph.name, links=True, known=result.split.train)[nodes]
        row |= distance_to_truth(probs, truth)
    return row


def distance_to_truth(probs: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Total variation (percent) and KL(truth | learned) in nats, means over nodes."""
    probs = probs.astype(np.float64).clip(metrics.SMALLEST)
    return {
        "truth_distance": 50 * float(np.abs(probs - truth).sum(axis=1).mean()),
        "truth_kl": float(rel_entr(truth, probs).sum(axis=1).mean()),
    }


def unseen_figures(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """The paper's Q2: how sure a model is of known and of unseen classes."""
    ood = result.split.is_ood(graph.labels[result.split.test])
    row: Row = {}
    for key, values in (
        ("confidence", metrics.confidence(result.probs)),
        ("prob_std", metrics.prob_std(result.probs)),
    ):
        values = values[result.split.test]
        row |= {f"{key}_in": float(values[~ood].mean()), f"{key}_out": float(values[ood].mean())}
    both = row["confidence_in"] > row["confidence_out"] and row["prob_std_in"] > row["prob_std_out"]
    return row | {"in_above_out": 100.0 * both} | ood_figures(result, graph, protocol)


def ood_figures(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """AUROC (percent) of every score for finding the left-out classes."""
    split = result.split
    nodes = split.test[~np.isin(graph.labels[split.test], protocol.unjudged)]
    ood = split.is_ood(graph.labels[nodes])
    found = {k: 100 * metrics.auroc(v[nodes], ood) for k, v in result.scores().items()}
    own, best = own_score(result.spec.method), max(found, key=lambda k: found[k])
    return {
        "own_score": own,
        "auroc_own": found[own],
        "best_score": best,
        "auroc_best": found[best],
        **{f"auroc_{score}": value for score, value in found.items()},
    }


def own_score(method: str) -> str:
    """What a method offers for doubt that comes from lack of evidence, else the entropy."""
    scores = [score.name for score in find(method).scores if score.kind == "epistemic"]
    return scores[0] if scores else "predictive_entropy"


def structure_figures(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """The paper's Q3: rank correlation of message uncertainty with degree and distance."""
    row: Row = {}
    for against, values in (
        ("degree", graph.degree),
        ("distance", graph.mean_hops(result.split.train)),
    ):
        for score in ("message_std", "message_entropy"):
            known = result.var is not None
            value = metrics.spearman(values, result.scores()[score], 1).value if known else np.nan
            row[f"{score}_{against}"] = value
    return row


def ablation_figures(result: Result, graph: Graph, protocol: Protocol) -> Row:
    return plain_figures(result, graph, protocol) | structure_figures(result, graph, protocol)


def validation_figures(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """What the validation nodes say of a run, with and without a fitted variance scale.

    The scale is fitted on one half of them and judged on the other, both ways round. No test node
    is looked at.
    """
    assert result.mean is not None and result.var is not None
    nodes = result.split.validation
    labels = result.split.targets(graph.labels[nodes])
    rule = str(dict(result.spec.settings)["prediction"])
    mean, var = (torch.from_numpy(a[nodes]) for a in (result.mean, result.var))
    y = torch.from_numpy(labels)
    halves = np.arange(len(nodes)) % 2 == 0
    scaled = np.empty(len(nodes))
    for fitted in (torch.from_numpy(halves), torch.from_numpy(~halves)):

        def nll(scale: float, on: torch.Tensor = fitted) -> float:
            return -log_probability(mean[on], scale * var[on], y[on], rule).mean().item()

        judged = ~fitted
        scale = fit_scale(nll)
        log_lik = log_probability(mean[judged], scale * var[judged], y[judged], rule)
        scaled[judged.numpy()] = -log_lik.numpy()
    probs = result.probs[nodes]
    return {
        "validation_nll": metrics.negative_log_likelihood(probs, labels),
        "validation_nll_scaled": float(scaled.mean()),
        "validation_accuracy": 100 * metrics.accuracy(probs, labels),
        "validation_ece": 100 * metrics.expected_calibration_error(probs, labels),
    }


def ablation_contenders() -> tuple[Contender, ...]:
    """Propagation rule x loss x prediction, each part of the paper on and off."""
    return tuple(
        Contender(
            f"{rule} / {loss} / {prediction}",
            "bup",
            (("propagation", rule), ("loss", loss), ("prediction", prediction)),
        )
        for rule, loss, prediction in itertools.product(
            ("paper", "evidence", "gcn", "none"),
            ("erf", "exact", "sampled"),
            ("erf", "exact", "sampled"),
        )
    )


def sweep_contenders() -> tuple[Contender, ...]:
    """The settings among which the defaults were chosen."""
    return tuple(
        Contender(
            f"{loss}, dropout {dropout}, weight decay {decay}",
            "bup",
            (("loss", loss), ("prediction", loss), ("dropout", dropout), ("weight_decay", decay)),
        )
        for loss, dropout, decay in itertools.product(
            ("erf", "exact"), (0.5, 0.8, 0.9), (5e-4, 5e-3, 1e-2)
        )
    )


def contenders(*labels: str) -> tuple[Contender, ...]:
    return tuple(contender(label) for label in labels)


ACCURACY, ACE, ECE = (
    Figure("accuracy", "accuracy", 1),
    Figure("ace", "ACE", -1),
    Figure("ece", "ECE", -1),
)
NLL = Figure("nll", "NLL", -1, 3)
PAPERS = [m for m in ("bup", "gcn", "vgcn", "bbgdc", "bbde", "ggp") if m in METHODS]

QUESTIONS: dict[str, Question] = {
    question.name: question
    for question in (
        Question(
            "q1",
            "Accuracy and calibration, all classes known (the paper's Table 1)",
            ("cora", "citeseer", "pubmed"),
            (5, 10, 15, 20),
            contenders(*PAPERS, "gcn+temperature"),
            plain_figures,
            (ACCURACY, ACE, ECE, NLL),
            note="Accuracy and errors in percent, 10 bins; ACE is the average calibration error.",
        ),
        Question(
            "q2",
            "One class never seen (the paper's Table 2)",
            ("cora", "citeseer"),
            (5, 10, 15, 20),
            contenders("bup", "evidence", "gcn", "gcn+temperature"),
            unseen_figures,
            (
                Figure("confidence_in", "confidence, known", 0, 3),
                Figure("confidence_out", "confidence, unseen", 0, 3),
                Figure("prob_std_in", "std of probabilities, known", 0, 3),
                Figure("prob_std_out", "std of probabilities, unseen", 0, 3),
                Figure("in_above_out", "known above unseen in both, % of reruns", 1, 0),
                Figure("auroc_confidence", "AUROC by confidence", 1, 1),
                Figure("auroc_message_std", "AUROC by message std", 1, 1),
            ),
            last_class,
            note="The paper's standard deviations are too small for its confidences: no six "
            "probabilities with a maximum of 0.70 have one below 0.23. Compare directions.",
        ),
        Question(
            "q3",
            "Message uncertainty against degree and distance to training nodes (Spearman)",
            ("cora", "citeseer", "pubmed"),
            (20,),
            contenders("bup", "evidence"),
            structure_figures,
            tuple(
                Figure(f"message_{score}_{against}", f"{score} ~ {against}", 0, 3)
                for against in ("degree", "distance")
                for score in ("std", "entropy")
            ),
            note="The paper shows these relations as pictures, without a figure.",
        ),
        Question(
            "ablation",
            "Propagation rule / loss / prediction, each part of the paper on and off",
            ("cora", "citeseer"),
            (20,),
            ablation_contenders(),
            ablation_figures,
            (ACCURACY, ACE, ECE, NLL, Figure("message_std_degree", "std ~ degree", 0, 3)),
            reruns=5,
            note="How variance travels along links / what training maximises / how class "
            "probabilities come out of messages; std ~ degree is Spearman's rank correlation of "
            "message uncertainty with degree.",
        ),
        Question(
            "calibration",
            "BUP against opponents that were calibrated too",
            ("cora", "citeseer", "pubmed", "synthetic"),
            (5, 20),
            contenders("bup", "bup+variance", "gcn", "gcn+temperature", "gcn+cagcn", "gcn+gats"),
            calibration_figures,
            (
                ACCURACY,
                ECE,
                NLL,
                Figure("aurc", "AURC", -1),
                Figure("accuracy_80", "accuracy on the surest 80 %", 1),
                Figure("coverage", "sets cover (wanted: 90 %)", 0, 1),
                Figure("set_size", "classes per set", -1),
                Figure("truth_distance", "distance to the truth", -1),
                Figure("truth_kl", "KL from the truth", -1, 3),
            ),
            note="A calibrated GCN has width 64 and keeps its best epoch; all calibrate on the "
            "validation nodes. Sets: conformal, diffused adaptive scores. Only the synthetic graph "
            "has a known truth, the posterior given words, links and training labels; the distance "
            "is total variation in percent.",
        ),
        Question(
            "ood",
            "Finding classes that were never shown, under three protocols (AUROC in percent)",
            ("cora", "citeseer", "pubmed"),
            (20,),
            contenders(*METHODS, EVIDENCE.label),
            ood_figures,
            (
                Figure("auroc_confidence", "by confidence", 1, 1),
                Figure("auroc_own", "by its own score", 1, 1),
                Figure("auroc_best", "by the best of its scores", 1, 1),
            ),
            published_protocols,
            words=("own_score",),
            note="A method's own score is the one that it offers for lack of evidence, fixed "
            "beforehand; the best one is picked in hindsight, per rerun. GNNSafe's protocol learns "
            "Cora's classes 4 to 6; class 3, its outlier exposure, is neither shown nor judged. "
            "Figures in brackets are published ones on Cora's fixed split.",
        ),
        Question(
            "sweep",
            "The settings among which the defaults were chosen, on validation nodes only",
            ("cora", "citeseer"),
            (5, 20),
            sweep_contenders(),
            validation_figures,
            (
                Figure("validation_nll", "validation NLL", -1, 4),
                Figure("validation_nll_scaled", "with a variance scale (cross-fitted)", -1, 4),
                Figure("validation_accuracy", "accuracy", 1),
                Figure("validation_ece", "ECE", -1),
            ),
            reruns=5,
            first_seed=100,  # which no other question uses
            pooled=True,
        ),
    )
}


def chosen_contenders(question: Question, labels: Sequence[str]) -> list[Contender]:
    """By their labels in this question, or by the names of methods."""
    own = {c.label: c for c in question.contenders}
    return [own[label] if label in own else contender(label) for label in labels]


def summary(question: Question, rows: pd.DataFrame) -> pd.DataFrame:
    """One line per cell and figure: mean, std, the published figure, and the test against bup."""
    lines = []
    by_cell = dict(iter(rows.groupby(CELL, sort=False)))
    for cell, part in by_cell.items():
        paper = published(question.name, *cell)
        reference = by_cell.get((*cell[:3], REFERENCE))
        for figure in question.figures:
            values = part.get(figure.key, pd.Series(dtype=float)).dropna()
            if values.empty:
                continue
            p = math.nan
            gain = math.nan
            if reference is not None and cell[3] != REFERENCE and figure.key in reference:
                pairs = (r.set_index("seed")[figure.key] for r in (part, reference))
                difference = next(pairs) - next(pairs)
                p, gain = paired_p(difference), float(difference.mean() * figure.better)
            lines.append(
                dict(zip(CELL, cell, strict=True))
                | {
                    "figure": figure.key,
                    "reruns": len(values),
                    "mean": values.mean(),
                    "std": values.std(ddof=1) if len(values) > 1 else math.nan,
                    "paper": paper.get(figure.key, math.nan),
                    "difference": values.mean() - paper.get(figure.key, math.nan),
                    "p": p,
                    "verdict": np.sign(gain) if p < LEVEL else 0.0,
                }
            )
    measured = ["figure", "reruns", "mean", "std", "paper", "difference", "p", "verdict"]
    return pd.DataFrame(lines, columns=[*CELL, *measured])


def paired_p(difference: pd.Series) -> float:
    """Two-sided p of the Wilcoxon signed-rank test on differences between the same splits."""
    difference = difference.dropna()
    if len(difference) < 2:
        return math.nan
    return 1.0 if (difference == 0).all() else float(wilcoxon(difference).pvalue)


VERDICTS = {1.0: " ▲", -1.0: " ▼", 0.0: ""}
TEST_NOTE = (
    f"▲ better, ▼ worse than {REFERENCE} on the same splits: two-sided Wilcoxon signed-rank test, "
    f"p < {LEVEL}, each comparison on its own. It pairs rerun with rerun and assumes no normal "
    "distribution, which calibration errors do not have; with fewer than six reruns it cannot "
    "reach that level."
)


def cell_text(line: Any, digits: int) -> str:
    """A line of ``summary`` in words: ``69.98 ± 4.84 (69.41, +0.57) ▼``."""
    text = f"{line.mean:.{digits}f}"
    if not math.isnan(line.std):
        text += f" ± {line.std:.{digits}f}"
    if not math.isnan(line.paper):
        text += f" ({line.paper:.{digits}f}, {line.difference:+.{digits}f})"
    return text + VERDICTS[line.verdict]


def markdown(question: Question, rows: pd.DataFrame) -> str:
    """The question's table: ours, the paper's figure, the difference, the test."""
    head = f"## {question.title}\n\n"
    if rows.empty:
        return head + "No run of it is there.\n"
    lines = summary(question, rows)
    notes = [f"Mean ± standard deviation over {_reruns(lines)} reruns.", question.note]
    if question.pooled:
        return head + _pooled_table(question, rows) + _paragraph(question.note)
    if lines.paper.notna().any():
        notes.insert(1, "In brackets: the published figure, and ours minus it.")
    if lines.p.notna().any():
        notes.append(TEST_NOTE)
    places = CELL if rows.protocol.any() else [c for c in CELL if c != "protocol"]
    table = _line([c.replace("_", " ") for c in (*places, *question.words)], question.figures)
    for cell, part in lines.groupby(CELL, sort=False):
        where = dict(zip(CELL, cell, strict=True))
        of_cell = (rows[list(where)] == pd.Series(where)).all(axis=1)
        words = [str(rows.loc[of_cell, word].iloc[0]).replace("_", " ") for word in question.words]
        found = {line.figure: line for line in part.itertuples()}
        texts = [
            cell_text(found[f.key], f.digits) if f.key in found else "" for f in question.figures
        ]
        table += "| " + " | ".join([*(str(where[c]) for c in places), *words, *texts]) + " |\n"
    return head + table + _paragraph(" ".join(filter(None, notes)))


def _pooled_table(question: Question, rows: pd.DataFrame) -> str:
    keys = [f.key for f in question.figures]
    means = rows.groupby("method")[keys].mean().sort_values(keys[1])
    table = _line(["settings"], question.figures)
    for label, row in means.iterrows():
        texts = [f"{row[f.key]:.{f.digits}f}" for f in question.figures]
        table += "| " + " | ".join([str(label), *texts]) + " |\n"
    return table


def _line(places: Sequence[str], figures: Sequence[Figure]) -> str:
    names = [*places, *(f.title for f in figures)]
    return "| " + " | ".join(names) + " |\n" + "|" + "---|" * len(names) + "\n"


def _reruns(lines: pd.DataFrame) -> str:
    low, high = lines.reruns.min(), lines.reruns.max()
    return str(low) if low == high else f"{low} to {high}"


def _paragraph(text: str) -> str:
    return f"\n{text}\n" if text else ""
