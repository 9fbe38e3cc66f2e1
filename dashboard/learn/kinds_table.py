"""The figures behind lesson 9, trained ahead by ``python -m docs.kinds``."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path

from bup.datasets import synthetic
from bup.datasets.synthetic import Knobs

SHIPPED = Path(__file__).parent.parent / "shipped" / "kinds.json"
NOISES = (0.0, 0.2, 0.4)
LABELS = (20, 5)
HIDDEN = 3  # the class that can be held back, and whose papers are looked at

TOTAL_DOUBT = "total doubt"  # U, in nats

READ: dict[tuple[str, tuple[tuple[str, str], ...]], dict[str, str]] = {
    ("ensemble", ()): {
        "total": "predictive_entropy",
        "aleatoric": "expected_entropy",
        "epistemic": "mutual_information",
    },
    ("mc_dropout", ()): {"dropout": "mutual_information"},
    ("gpn", ()): {"gpn": "lack_of_evidence"},
    ("sgcn", ()): {"vacuity": "vacuity", "dissonance": "dissonance"},
    ("bup", (("calibrate", "none"),)): {"paper": "message_std"},
    ("bup", (("propagation", "doubt"),)): {"answer": "confidence", "doubt": TOTAL_DOUBT},
}
"""Runs, and which of their scores are read under what name.

A calibration scales all variances of a run, and doubt compares nodes with their graph's mean:
across runs only learned variances and doubt in nats can be compared.
"""


@dataclass(frozen=True)
class Reading:
    """A score over the papers of one class: its mean, and how far papers lie apart."""

    mean: float
    std: float


def graph_of(noise: float) -> str:
    drawn = synthetic.graph_name(Knobs(nodes=800, classes=4, words=400))
    return f"noisy:{drawn}:{noise:g}" if noise else drawn


@functools.cache
def _table() -> dict[tuple[float, int, bool], dict[str, Reading]]:
    rows = json.loads(SHIPPED.read_text(encoding="utf-8"))
    return {
        (row["noise"], row["labels"], row["hidden"]): {
            name: Reading(*pair) for name, pair in row["scores"].items()
        }
        for row in rows
    }


def readings(noise: float, labels: int, hidden: bool) -> dict[str, Reading]:
    """Every score where the three knobs stand like this."""
    return _table()[noise, labels, hidden]
