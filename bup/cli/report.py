"""The metrics of a run as tables for people."""

from __future__ import annotations

from typing import Any

from rich.console import Console

import bup
from bup.cli.output import print_table


def print_report(result: bup.Result, report: dict[str, Any], bins: int, was_stored: bool) -> None:
    from bup.metrics import METRICS

    epochs = len(result.history["loss"])
    how = f"trained in {result.seconds:.1f} s, kept epoch {result.kept_epoch} of {epochs}"
    if "predictions" in dict(result.spec.settings):
        how = "made elsewhere"
    constants = (f", {name.replace('_', ' ')} {v:.3g}" for name, v in result.constants.items())
    Console().print("read from the store, " * was_stored + how + "".join(constants))
    test = report["test"]
    rows: list[tuple[str, ...]] = []
    for key, metric in METRICS.items():
        if key in test:
            value = f"{100 * test[key]:.2f} %" if metric.percent else f"{test[key]:.4f}"
            rows.append((metric.label, value, metric.meaning))
    print_table([f"{test['nodes']:,} test nodes, {bins} bins", "value", "what it says"], rows)

    rows = [
        (rule, f"{s['level']:.0%}", f"{s['coverage']:.1%}", f"{s['size']:.2f}")
        for rule, s in report["conformal"].items()
    ]
    print_table(["sets that shall contain the class", "wanted", "covered", "classes per set"], rows)
    if report["errors"]:
        _print_detection("finding mistakes by", report["errors"])
    if "ood" in report:
        ood = report["ood"]
        labels = {"confidence": "confidence", "prob_std": "std of probabilities"}
        print_table(
            ["mean over test nodes", "known classes", f"left out ({ood['nodes']:,} nodes)"],
            [
                (label, *(f"{mean:.3f}" for mean in ood[key].values()))
                for key, label in labels.items()
            ],
        )
        _print_detection("finding left-out classes by", ood["scores"])
    if "structure" in report:
        print_table(
            ["Spearman with", "degree", "95 % interval", "distance to training", "95 % interval"],
            [
                (name.replace("_", " "), *_rank(row["degree"]), *_rank(row["distance"]))
                for name, row in report["structure"].items()
            ],
        )


def _print_detection(title: str, scores: dict[str, dict[str, float]]) -> None:
    print_table(
        [title, "AUROC", "AUPR", "FPR at 95 % TPR"],
        [
            (name.replace("_", " "), *(f"{100 * value:.1f}" for value in measures.values()))
            for name, measures in scores.items()
        ],
    )


def _rank(rank: dict[str, float] | None) -> tuple[str, str]:
    """A rank correlation and its interval."""
    if rank is None:
        return "does not vary", ""
    return f"{rank['spearman']:+.3f}", f"{rank['low']:+.3f} to {rank['high']:+.3f}"
