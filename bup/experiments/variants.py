"""The rows of a table: methods with settings."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from bup.methods import METHODS, find, resolve_name
from bup.methods.bup import LAYERS
from bup.propagation import RULES
from bup.run.spec import Value


@dataclass(frozen=True)
class MethodVariant:
    """A row of a table: a method with settings, under a name of its own."""

    label: str
    method: str
    settings: tuple[tuple[str, Value], ...] = ()


PUBLISHED = {"prediction": "erf", "calibrate": "none"}
"""BUP as its authors predict with it, without a calibration afterwards."""

PAPERS_BUP = "bup (published)"
AS_PUBLISHED = {PAPERS_BUP: "bup"} | {
    f"{rule} (uncalibrated)": rule for rule in RULES if rule not in ("paper", *METHODS)
}
"""Rows that predict in that way: the paper's rule, and others in its place."""


def find_variant(label: str) -> MethodVariant:
    """By a name that ``bup fit --method`` takes, or one of ``AS_PUBLISHED``.

    A name is the same model here as everywhere: what differs from it is called otherwise.
    """
    if label in AS_PUBLISHED:
        return MethodVariant(label, AS_PUBLISHED[label], tuple(PUBLISHED.items()))
    find(resolve_name(label)[0])  # raises for a name that nothing has
    return MethodVariant(label, label)


def bup_variant(label: str, **settings: Value) -> MethodVariant:
    """BUP as published, but for these settings."""
    return MethodVariant(label, "bup", tuple((PUBLISHED | settings).items()))


def find_variants(*labels: str) -> tuple[MethodVariant, ...]:
    return tuple(find_variant(label) for label in labels)


def ablation_variants() -> tuple[MethodVariant, ...]:
    """Propagation rule x loss x prediction, each part of the paper on and off."""
    return tuple(
        bup_variant(
            f"{rule} / {loss} / {prediction}", propagation=rule, loss=loss, prediction=prediction
        )
        for rule, loss, prediction in itertools.product(
            ("paper", "evidence", "gcn", "none"),
            ("erf", "exact", "sampled"),
            ("erf", "exact", "sampled"),
        )
    )


def rule_variants() -> tuple[MethodVariant, ...]:
    """The paper's rule and what it leaves open; our rule and its parts; the other rules."""
    return (
        find_variant(PAPERS_BUP),
        bup_variant("bup (published; correlation words)", correlation="words"),
        bup_variant("bup (published; neighbours linked)", neighbours="linked"),
        bup_variant("bup (published; layers paper)", layers="paper"),
        *find_variants(*(label for label in AS_PUBLISHED if label != PAPERS_BUP)),
        bup_variant("doubt (uncalibrated; links do not count)", propagation="doubt", isolation=0.0),
        _doubt_with_validation_labels(),
        bup_variant("GCN averaging", propagation="gcn"),
    )


def _doubt_with_validation_labels() -> MethodVariant:
    label = "doubt (uncalibrated; validation labels too)"
    return bup_variant(label, propagation="doubt", known="validation")


def more_labels_variants() -> tuple[MethodVariant, ...]:
    """Methods that find unseen classes, told of more labels or links, or set as for that task."""
    return (
        _doubt_with_validation_labels(),
        MethodVariant("grasp (validation labels too)", "grasp", (("known", "validation"),)),
        MethodVariant("gebm (evidence from links)", "gebm", (("evidence", "links"),)),
        MethodVariant("sgcn (prior weight 0.1)", "sgcn", (("prior_weight", 0.1),)),
    )


def many_labels_variants() -> tuple[MethodVariant, ...]:
    """Ours with the dropout that suits a fifth of all labels.

    Among six settings (dropout 0.5 and 0.8, three weight decays) it has the lowest validation NLL
    on that split, summed over three graphs with seeds that no table uses (100 to 102).
    """
    return tuple(
        MethodVariant(f"{label} (dropout 0.5)", found.method, (*found.settings, ("dropout", 0.5)))
        for label in ("doubt+spread", "doubt+spread+bias")
        for found in (find_variant(label),)
    )


def choice_variants() -> tuple[MethodVariant, ...]:
    """Ways from layer to layer, strengths of weight decay, rules of ours, how to predict."""
    layers = (
        bup_variant(
            f"paper's rule, layers {layers}, weight decay {decay}",
            layers=layers,
            weight_decay=decay,
        )
        for layers, decay in itertools.product(LAYERS, (5e-4, 0.01))
    )
    predictions = (
        bup_variant(
            f"{name} (loss {loss} and prediction exact)",
            propagation=rule,
            loss=loss,
            prediction="exact",
        )
        for name, rule in (("bup", "paper"), ("doubt", "doubt"))
        for loss in ("erf", "exact")
    )
    return (
        *layers,
        *find_variants("evidence (uncalibrated)", "doubt (uncalibrated)"),
        *predictions,
    )


def sweep_variants() -> tuple[MethodVariant, ...]:
    """The settings among which the defaults were chosen."""
    return tuple(
        bup_variant(
            f"{loss}, dropout {dropout}, weight decay {decay}",
            loss=loss,
            prediction=loss,
            dropout=dropout,
            weight_decay=decay,
        )
        for loss, dropout, decay in itertools.product(
            ("erf", "exact"), (0.5, 0.8, 0.9), (5e-4, 5e-3, 1e-2)
        )
    )
