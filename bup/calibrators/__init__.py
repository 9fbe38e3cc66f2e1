"""The table of calibrators. A calibrator is one file in this package and one line here."""

# ruff: noqa: F401 (names for ``bup.calibrators.NAME``)

import dataclasses

from bup.calibrators import bias, cagcn, gats, spread, temperature, variance, wats
from bup.calibrators.base import Calibrated, CalibrationData, Calibrator, LabelledNodes, Outputs

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
    """The values of the setting ``calibrate``: each calibrator alone, and pairs in their order."""
    fitting = [c for c in CALIBRATORS.values() if with_variance or not c.needs_variance]
    last = [c.name for c in fitting if c.acts_on_probabilities]
    first = [c.name for c in fitting if not c.acts_on_probabilities]
    joined = [f"{a}{JOIN}{b}" for a in first for b in last]
    return (NONE, *first, *last, *joined)


def parse_calibrate(chosen: str) -> list[Calibrator]:
    """The calibrators that a setting names; none of them for ``none``."""
    return [] if chosen == NONE else [CALIBRATORS[name] for name in chosen.split(JOIN)]


def calibrate(data: CalibrationData, chosen: str) -> Calibrated | None:
    """Apply every calibrator that the setting ``calibrate`` names; None if it names none."""
    result: Calibrated | None = None
    for calibrator in parse_calibrate(chosen):
        if result is None:
            result = calibrator.fit(data)
            continue
        data = dataclasses.replace(data, outputs=Outputs(result.probs.clamp_min(1e-30).log()))
        after = calibrator.fit(data)
        constants = result.constants | after.constants
        result = Calibrated(after.probs, constants, result.var_factor * after.var_factor)
    return result
