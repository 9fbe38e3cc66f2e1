"""The paper's questions, and ours, as grids of runs that end in a tidy table."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bup import metrics, runs
from bup.calibration import fit_scale
from bup.datasets import load_graph
from bup.graph import Graph
from bup.methods import complete
from bup.methods.bup import log_probability
from bup.results import Result, evaluate
from bup.spec import Spec, Value
from bup.store import Store

Settings = Mapping[str, Value]


@dataclass(frozen=True)
class Contender:
    """A column of a table: a method with settings, under a name of its own."""

    label: str
    method: str
    settings: tuple[tuple[str, Value], ...] = ()


STRONG_GCN = (("hidden", 64), ("keep", "best"), ("patience", 40))
CONTENDERS = {
    c.label: c
    for c in (
        Contender("bup", "bup"),
        Contender("bup-raw", "bup", (("calibrate", "none"),)),
        Contender("evidence", "bup", (("propagation", "evidence"),)),
        Contender("gcn", "gcn"),
        Contender("gcn+temperature", "gcn", (*STRONG_GCN, ("calibrate", "temperature"))),
    )
}

# Table 1 of the paper: accuracy, average and expected calibration error, in percent.
PAPER_Q1: dict[tuple[str, int], dict[str, tuple[float, float, float]]] = {
    ("cora", 5): {"gcn": (69.93, 19.43, 23.14), "bup": (69.41, 9.78, 7.82)},
    ("cora", 10): {"gcn": (75.73, 19.22, 21.68), "bup": (75.02, 9.45, 6.93)},
    ("cora", 15): {"gcn": (77.99, 18.93, 20.75), "bup": (77.40, 9.90, 6.90)},
    ("cora", 20): {"gcn": (79.10, 18.80, 20.06), "bup": (78.64, 10.03, 6.80)},
    ("citeseer", 5): {"gcn": (40.14, 34.21, 18.81), "bup": (53.69, 10.69, 9.93)},
    ("citeseer", 10): {"gcn": (53.75, 25.63, 20.58), "bup": (60.38, 10.29, 8.63)},
    ("citeseer", 15): {"gcn": (63.66, 18.78, 20.84), "bup": (63.37, 10.80, 8.36)},
    ("citeseer", 20): {"gcn": (67.42, 17.00, 20.23), "bup": (64.77, 10.58, 8.01)},
}

OnRun = Callable[[str], None]
"""Told in words what is being trained."""


def results_of(
    graph: Graph, specs: Sequence[Spec], store: Store | None = None, say: OnRun | None = None
) -> list[Result]:
    """Results of runs that differ in their seed only; those that are stored are not trained."""
    found = {spec: runs.stored(spec, graph, store) for spec in map(complete, specs)}
    missing = [spec for spec, result in found.items() if result is None]
    if missing:
        if say is not None:
            first = missing[0]
            left = f", without {list(first.left_out)}" if first.left_out else ""
            say(
                f"{first.graph} {first.method}, {first.per_class} per class{left}: "
                f"{len(missing)} seeds"
            )
        for result in runs.fit_specs(graph, missing):
            runs.keep(result, graph, store)
            found[result.spec] = result
    return [result for result in found.values() if result is not None]


def grid(
    graphs: Iterable[str],
    sizes: Iterable[int],
    contenders: Iterable[Contender],
    seeds: Iterable[int],
    left_out: Callable[[Graph], tuple[int, ...]] = lambda graph: (),
    store: Store | None = None,
    say: OnRun | None = None,
    measure: Callable[[Result, Graph], dict[str, Any]] | None = None,
) -> pd.DataFrame:
    """One row per run: graph, size, contender, seed and what ``measure`` says of the result."""
    measure = measure or flat_figures
    rows = []
    sizes, contenders, seeds = list(sizes), list(contenders), list(seeds)
    for name in graphs:
        graph = load_graph(name)
        for size, contender in itertools.product(sizes, contenders):
            spec = Spec(
                graph=graph.name,
                method=contender.method,
                per_class=size,
                left_out=left_out(graph),
                settings=contender.settings,
            )
            specs = [dataclasses.replace(spec, seed=seed) for seed in seeds]
            for result in results_of(graph, specs, store, say):
                who = {"graph": name, "per_class": size, "contender": contender.label}
                rows.append(who | {"seed": result.spec.seed} | measure(result, graph))
    return pd.DataFrame(rows)


def flat_figures(result: Result, graph: Graph) -> dict[str, Any]:
    """A run's figures as one flat row; percentages as such."""
    report = evaluate(result, graph)
    row: dict[str, Any] = {
        key: value * (100 if key in metrics.METRICS and metrics.METRICS[key].percent else 1)
        for key, value in report["test"].items()
    }
    if "ood" in report:
        for key in ("confidence", "prob_std"):
            for side in ("in", "out"):
                row[f"{key}_{side}"] = report["ood"][key][side]
        for score, found in report["ood"]["scores"].items():
            row[f"ood_auroc_{score}"] = 100 * found["auroc"]
    for score, found in report.get("structure", {}).items():
        for against in ("degree", "distance"):
            row[f"spearman_{score}_{against}"] = found[against]["spearman"]
    return row | {"epochs": len(result.history["loss"]), "seconds": result.seconds}


def last_class(graph: Graph) -> tuple[int, ...]:
    return (graph.num_classes - 1,)


def q1_table(rows: pd.DataFrame) -> str:
    """Table 1 in Markdown: ours as mean ± std over reruns, the paper's figure behind it."""
    lines = [
        "| graph | per class | method | accuracy | ACE | ECE | NLL | reaches the paper's row |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (graph, size, who), part in rows.groupby(["graph", "per_class", "contender"], sort=False):
        paper = PAPER_Q1.get((graph, size), {}).get(_PAPERS_NAME.get(who, who))
        cells = [_spread(part[key]) for key in ("accuracy", "ace", "ece")]
        reaches = ""
        if paper is not None:
            cells = [f"{c} ({p:.2f})" for c, p in zip(cells, paper, strict=True)]
            ours = part[["accuracy", "ace", "ece"]].mean()
            wins = ours.accuracy >= paper[0], ours.ace <= paper[1], ours.ece <= paper[2]
            names = [n for n, won in zip(("accuracy", "ACE", "ECE"), wins, strict=True) if not won]
            reaches = "yes" if not names else "not in " + ", ".join(names)
        nll = _spread(part["nll"], digits=3)
        lines.append(f"| {graph} | {size} | {who} | {' | '.join(cells)} | {nll} | {reaches} |")
    return "\n".join(lines)


_PAPERS_NAME = {"bup-raw": "bup", "evidence": "bup"}


def q2_table(rows: pd.DataFrame) -> str:
    """The paper's Table 2: confidence and spread of the probabilities, known and left-out class."""
    lines = [
        "| graph | per class | method | confidence in / out | std of probabilities in / out | "
        "reruns with in > out in both | AUROC by confidence | AUROC by message std |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (graph, size, who), part in rows.groupby(["graph", "per_class", "contender"], sort=False):
        right = (part.confidence_in > part.confidence_out) & (part.prob_std_in > part.prob_std_out)
        message = part.get("ood_auroc_message_std")
        message_text = "" if message is None or message.isna().any() else _spread(message, 1)
        lines.append(
            f"| {graph} | {size} | {who} "
            f"| {part.confidence_in.mean():.3f} / {part.confidence_out.mean():.3f} "
            f"| {part.prob_std_in.mean():.3f} / {part.prob_std_out.mean():.3f} "
            f"| {right.sum()} of {len(part)} | {_spread(part.ood_auroc_confidence, 1)} "
            f"| {message_text} |"
        )
    return "\n".join(lines)


def q3_table(rows: pd.DataFrame) -> str:
    """Rank correlation of message uncertainty with degree and with distance to training nodes."""
    keys = [f"spearman_message_{s}_{a}" for a in ("degree", "distance") for s in ("std", "entropy")]
    lines = [
        "| graph | per class | method | std ~ degree | entropy ~ degree | std ~ distance | "
        "entropy ~ distance |",
        "|---|---|---|---|---|---|---|",
    ]
    for (graph, size, who), part in rows.groupby(["graph", "per_class", "contender"], sort=False):
        cells = " | ".join(_spread(part[key], digits=3) for key in keys)
        lines.append(f"| {graph} | {size} | {who} | {cells} |")
    return "\n".join(lines)


def ablation_contenders() -> list[Contender]:
    """Propagation rule x loss x prediction, each part of the paper on and off."""
    contenders = []
    for rule, loss, prediction in itertools.product(
        ("paper", "evidence", "gcn", "none"),
        ("erf", "exact", "sampled"),
        ("erf", "exact", "sampled"),
    ):
        settings = {
            "propagation": rule,
            "loss": loss,
            "prediction": prediction,
            "calibrate": "none",
        }
        label = f"{rule} / {loss} / {prediction}"
        contenders.append(Contender(label, "bup", tuple(settings.items())))
    return contenders


def ablation_table(rows: pd.DataFrame) -> str:
    keys = ("accuracy", "ace", "ece", "nll", "spearman_message_std_degree")
    lines = [
        "| graph | per class | rule / loss / prediction | accuracy | ACE | ECE | NLL | "
        "Spearman std ~ degree |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (graph, size, who), part in rows.groupby(["graph", "per_class", "contender"], sort=False):
        cells = " | ".join(_spread(part[k], 3 if k in keys[3:] else 2) for k in keys)
        lines.append(f"| {graph} | {size} | {who} | {cells} |")
    return "\n".join(lines)


SWEEP_SEEDS = range(100, 105)
"""Seeds of the sweep, none of which any reported rerun uses."""


def sweep_contenders() -> list[Contender]:
    """The settings among which the defaults were chosen."""
    contenders = []
    for loss, dropout, decay in itertools.product(
        ("erf", "exact"), (0.5, 0.8, 0.9), (5e-4, 5e-3, 1e-2)
    ):
        settings: dict[str, Value] = {
            "loss": loss,
            "prediction": loss,
            "dropout": dropout,
            "weight_decay": decay,
            "calibrate": "none",
        }
        label = f"{loss}, dropout {dropout}, weight decay {decay}"
        contenders.append(Contender(label, "bup", tuple(settings.items())))
    return contenders


def validation_figures(result: Result, graph: Graph) -> dict[str, Any]:
    """What the validation nodes say of a run, with and without a fitted variance scale.

    The scale is fitted on one half of them and judged on the other, both ways round. No test node
    is looked at.
    """
    import torch

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


def sweep_table(rows: pd.DataFrame) -> str:
    """Mean over cells of what the validation nodes say, the best first."""
    keys = ["validation_nll", "validation_nll_scaled", "validation_accuracy", "validation_ece"]
    best = rows.groupby("contender")[keys].mean().sort_values("validation_nll_scaled")
    lines = [
        "| settings | validation NLL | with a variance scale (cross-fitted) | accuracy | ECE |",
        "|---|---|---|---|---|",
    ]
    for who, row in best.iterrows():
        cells = f"{row.iloc[0]:.4f} | {row.iloc[1]:.4f} | {row.iloc[2]:.2f} | {row.iloc[3]:.2f}"
        lines.append(f"| {who} | {cells} |")
    return "\n".join(lines)


def _spread(values: pd.Series, digits: int = 2) -> str:
    spread = values.std(ddof=1) if len(values) > 1 else 0.0
    return f"{values.mean():.{digits}f} ± {spread:.{digits}f}"
