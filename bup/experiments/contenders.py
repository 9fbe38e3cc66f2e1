"""The rows of a table: methods with settings."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from bup.methods import METHODS, find, meaning
from bup.methods.bup import LAYERS
from bup.propagation import RULES
from bup.run.spec import Value


@dataclass(frozen=True)
class Contender:
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


def contender(label: str) -> Contender:
    """By a name that ``bup fit --method`` takes, or one of ``AS_PUBLISHED``.

    A name is the same model here as everywhere: what differs from it is called otherwise.
    """
    if label in AS_PUBLISHED:
        return Contender(label, AS_PUBLISHED[label], tuple(PUBLISHED.items()))
    find(meaning(label)[0])  # raises for a name that nothing has
    return Contender(label, label)


def of_bup(label: str, **settings: Value) -> Contender:
    """BUP as published, but for these settings."""
    return Contender(label, "bup", tuple((PUBLISHED | settings).items()))


def contenders(*labels: str) -> tuple[Contender, ...]:
    return tuple(contender(label) for label in labels)


def ablation_contenders() -> tuple[Contender, ...]:
    """Propagation rule x loss x prediction, each part of the paper on and off."""
    return tuple(
        of_bup(
            f"{rule} / {loss} / {prediction}", propagation=rule, loss=loss, prediction=prediction
        )
        for rule, loss, prediction in itertools.product(
            ("paper", "evidence", "gcn", "none"),
            ("erf", "exact", "sampled"),
            ("erf", "exact", "sampled"),
        )
    )


def rule_contenders() -> tuple[Contender, ...]:
    """The paper's rule and what it leaves open; our rule and its parts; the other rules."""
    return (
        contender(PAPERS_BUP),
        of_bup("bup (published; correlation words)", correlation="words"),
        of_bup("bup (published; neighbours linked)", neighbours="linked"),
        of_bup("bup (published; layers paper)", layers="paper"),
        *contenders(*(label for label in AS_PUBLISHED if label != PAPERS_BUP)),
        of_bup("doubt (uncalibrated; links do not count)", propagation="doubt", isolation=0.0),
        _doubt_told_more(),
        of_bup("GCN averaging", propagation="gcn"),
    )


def _doubt_told_more() -> Contender:
    label = "doubt (uncalibrated; validation labels too)"
    return of_bup(label, propagation="doubt", known="validation")


def told_more_contenders() -> tuple[Contender, ...]:
    """Methods that find unseen classes, told of more labels or links, or set as for that task."""
    return (
        _doubt_told_more(),
        Contender("grasp (validation labels too)", "grasp", (("known", "validation"),)),
        Contender("gebm (evidence from links)", "gebm", (("evidence", "links"),)),
        Contender("sgcn (prior weight 0.1)", "sgcn", (("prior_weight", 0.1),)),
    )


def many_label_contenders() -> tuple[Contender, ...]:
    """Ours with the dropout that suits a fifth of all labels.

    Among six settings (dropout 0.5 and 0.8, three weight decays) it has the lowest validation NLL
    on that split, summed over three graphs with seeds that no table uses (100 to 102).
    """
    return tuple(
        Contender(f"{label} (dropout 0.5)", found.method, (*found.settings, ("dropout", 0.5)))
        for label in ("doubt+spread", "doubt+spread+bias")
        for found in (contender(label),)
    )


def choice_contenders() -> tuple[Contender, ...]:
    """Ways from layer to layer, strengths of weight decay, rules of ours, how to predict."""
    layers = (
        of_bup(
            f"paper's rule, layers {layers}, weight decay {decay}",
            layers=layers,
            weight_decay=decay,
        )
        for layers, decay in itertools.product(LAYERS, (5e-4, 0.01))
    )
    predictions = (
        of_bup(
            f"{name} (loss {loss} and prediction exact)",
            propagation=rule,
            loss=loss,
            prediction="exact",
        )
        for name, rule in (("bup", "paper"), ("doubt", "doubt"))
        for loss in ("erf", "exact")
    )
    return (*layers, *contenders("evidence (uncalibrated)", "doubt (uncalibrated)"), *predictions)


def sweep_contenders() -> tuple[Contender, ...]:
    """The settings among which the defaults were chosen."""
    return tuple(
        of_bup(
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
