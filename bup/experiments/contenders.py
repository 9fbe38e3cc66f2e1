"""The rows of a table: methods with settings."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from bup.calibrators import JOIN
from bup.methods import METHODS
from bup.methods.bup import LAYERS
from bup.propagation import RULES
from bup.spec import Value


@dataclass(frozen=True)
class Contender:
    """A row of a table: a method with settings, under a name of its own."""

    label: str
    method: str
    settings: tuple[tuple[str, Value], ...] = ()


STRONG_GCN = (("hidden", 64), ("keep", "best"), ("patience", 40))
"""What a GCN that is calibrated afterwards is given: as much width and patience as BUP has."""


UNCALIBRATED = (("calibrate", "none"),)
PUBLISHED = {"prediction": "erf", "calibrate": "none"}
"""BUP as its authors predict with it, without a calibration afterwards."""


def contender(label: str) -> Contender:
    """By the name of a method or of one of BUP's rules, ``+calibrator`` after either.

    A name alone stands for what its authors published, without a calibration afterwards.
    """
    name, joined, calibrator = label.partition(JOIN)
    rule = {"propagation": name} if name in RULES and name not in METHODS else {}
    if rule or name == "bup":
        settings = rule if joined else rule | PUBLISHED
        return Contender(label, f"bup{joined}{calibrator}", tuple(settings.items()))
    if joined:
        return Contender(label, label, STRONG_GCN if name == "gcn" else ())
    return Contender(label, label, UNCALIBRATED)


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
        of_bup("bup"),
        of_bup("bup (correlation words)", correlation="words"),
        of_bup("bup (neighbours linked)", neighbours="linked"),
        of_bup("bup (layers paper)", layers="paper"),
        *(contender(name) for name in RULES if name not in ("paper", *METHODS)),
        of_bup("doubt (links do not count)", propagation="doubt", isolation=0.0),
        of_bup("doubt (validation labels too)", propagation="doubt", known="validation"),
        of_bup("GCN averaging", propagation="gcn"),
    )


def told_more_contenders() -> tuple[Contender, ...]:
    """Methods that find unseen classes, told of more labels or links, or set as for that task."""
    return (
        of_bup("doubt (validation labels too)", propagation="doubt", known="validation"),
        Contender(
            "grasp (validation labels too)", "grasp", (("known", "validation"), *UNCALIBRATED)
        ),
        Contender("gebm (evidence from links)", "gebm", (("evidence", "links"), *UNCALIBRATED)),
        Contender("sgcn (prior weight 0.1)", "sgcn", (("prior_weight", 0.1), *UNCALIBRATED)),
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
    return (*layers, *contenders("evidence", "doubt"), *predictions)


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
