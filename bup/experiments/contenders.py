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


def contender(label: str) -> Contender:
    """By the name of a method or of one of BUP's rules, ``+calibrator`` after either."""
    name, joined, calibrator = label.partition(JOIN)
    if name in RULES and name not in METHODS:
        return Contender(label, f"bup{joined}{calibrator}", (("propagation", name),))
    return Contender(label, label, STRONG_GCN if name == "gcn" and calibrator else ())


def contenders(*labels: str) -> tuple[Contender, ...]:
    return tuple(contender(label) for label in labels)


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


def rule_contenders() -> tuple[Contender, ...]:
    """The paper's rule and what it leaves open; our rule and its parts; the other rules."""
    doubt = ("propagation", "doubt")
    return (
        Contender("bup", "bup"),
        Contender("bup, correlation words", "bup", (("correlation", "words"),)),
        Contender("bup, neighbours linked", "bup", (("neighbours", "linked"),)),
        Contender("bup, layers paper", "bup", (("layers", "paper"),)),
        *(contender(name) for name in RULES if name not in ("paper", *METHODS)),
        Contender("doubt, links do not count", "bup", (doubt, ("isolation", 0.0))),
        Contender("doubt, validation labels too", "bup", (doubt, ("known", "validation"))),
        Contender("GCN averaging", "bup", (("propagation", "gcn"),)),
    )


def choice_contenders() -> tuple[Contender, ...]:
    """Both ways from layer to layer, at two strengths of weight decay, and both rules of ours."""
    layers = (
        Contender(
            f"paper's rule, layers {layers}, weight decay {decay}",
            "bup",
            (("layers", layers), ("weight_decay", decay)),
        )
        for layers, decay in itertools.product(LAYERS, (5e-4, 0.01))
    )
    return (*layers, *contenders("evidence", "doubt"))


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
