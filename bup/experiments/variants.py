"""The rows of a table: methods with settings."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bup import calibrators
from bup.methods import METHODS, TRAINED, find, resolve_name
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
    find(resolve_name(label)[0])  # raises for an unknown name
    return MethodVariant(label, label)


def find_variants(*labels: str) -> tuple[MethodVariant, ...]:
    return tuple(find_variant(label) for label in labels)


def read_variants(entries: Iterable[str | Mapping[str, Any]]) -> tuple[MethodVariant, ...]:
    """The rows that entries of ``questions.toml`` describe."""
    groups = {
        "every trained method": [name for name in TRAINED if name != "bup"],
        "every rule (uncalibrated)": [label for label in AS_PUBLISHED if label != PAPERS_BUP],
        "gcn+every calibrator": [f"gcn+{c}" for c in calibrators.choices(with_variance=False)[1:]],
    }
    variants: list[MethodVariant] = []
    for entry in entries:
        if isinstance(entry, str):
            variants += find_variants(*groups.get(entry, [entry]))
            continue
        grid = entry.get("grid", {})
        for values in itertools.product(*grid.values()):
            cell = dict(zip(grid, values, strict=True))
            settings = {} if "method" in entry else dict(PUBLISHED)
            settings |= cell | {
                name: value.format(**cell) if isinstance(value, str) else value
                for name, value in entry.get("settings", {}).items()
            }
            label, method = entry["label"].format(**cell), entry.get("method", "bup")
            variants.append(MethodVariant(label, method, tuple(settings.items())))
    return tuple(variants)
