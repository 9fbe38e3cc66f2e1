"""The table of calibrators. A calibrator is one file in this package and one line here."""

from __future__ import annotations

from bup.calibrators import bias, cagcn, gats, spread, temperature, variance, wats
from bup.calibrators.base import Calibrated, Calibrator, LabelledNodes, Outputs
from bup.graph import Graph
from bup.run.splits import Split

CALIBRATORS: dict[str, Calibrator] = {
    calibrator.name: calibrator
    for calibrator in (
        temperature.CALIBRATOR,
        cagcn.CALIBRATOR,
        gats.CALIBRATOR,
        wats.CALIBRATOR,
        spread.CALIBRATOR,
        variance.CALIBRATOR,
        bias.CALIBRATOR,
    )
}

NONE = "none"
JOIN = "+"
"""``spread+bias`` is one calibrator after the other."""


def choices(with_variance: bool) -> tuple[str, ...]:
    """What a method may be calibrated by, alone and with what may come after it."""
    fitting = [c for c in CALIBRATORS.values() if with_variance or not c.needs_variance]
    last = [c.name for c in fitting if c.acts_on_probabilities]
    first = [c.name for c in fitting if not c.acts_on_probabilities]
    joined = [f"{a}{JOIN}{b}" for a in first for b in last]
    return (NONE, *first, *last, *joined)


def parse_calibrate(chosen: str) -> list[Calibrator]:
    """The calibrators that a setting names; none of them for ``none``."""
    return [] if chosen == NONE else [CALIBRATORS[name] for name in chosen.split(JOIN)]


def calibrate(
    outputs: Outputs, chosen: str, held: LabelledNodes, graph: Graph, split: Split, seed: int
) -> Calibrated | None:
    """Outputs after every calibrator that a setting names; None if it names none."""
    done: Calibrated | None = None
    for calibrator in parse_calibrate(chosen):
        if done is not None:
            outputs = Outputs(done.probs.clamp_min(1e-30).log())
        found = calibrator.fit(outputs, held, graph, split, seed)
        before = done or Calibrated(found.probs, {})
        done = Calibrated(
            found.probs, before.constants | found.constants, before.var_factor * found.var_factor
        )
    return done


__all__ = [
    "CALIBRATORS",
    "JOIN",
    "Calibrated",
    "Calibrator",
    "LabelledNodes",
    "Outputs",
    "calibrate",
    "choices",
    "parse_calibrate",
]
