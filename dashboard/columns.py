"""What the columns of a node table mean: the one list from which pages offer colours and scores.

A method with scores of its own names them in ``table.attrs["scores"]``, as a mapping from column to
label and meaning; they are then offered everywhere. Higher must mean less certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Column:
    """A column of ``bup.results.node_table`` that charts can show."""

    label: str
    meaning: str
    kind: Literal["score", "category"] = "score"
    uncertain: bool = False  # it says how sure the model is
    low: str = ""  # what the ends of a score mean
    high: str = ""
    axis: str = ""  # longer than the label, for an axis of its own
    log: bool = False  # coloured by its logarithm, because a few nodes have far more than most

    def shade(self, values: np.ndarray) -> np.ndarray:
        """What colours are proportional to."""
        return np.log10(values) if self.log else values

    def value(self, shade: float) -> float:
        """The value that a shade stands for."""
        return 10**shade if self.log else shade


def _doubt(label: str, meaning: str, axis: str = "") -> Column:
    """A score that grows with the model's doubt."""
    return Column(label, meaning, "score", True, "more certain", "less certain", axis)


def _trust(label: str, meaning: str, axis: str) -> Column:
    """A score that grows with the model's certainty."""
    return Column(label, meaning, "score", True, "less certain", "more certain", axis)


KNOWN = {
    "message_std": _doubt(
        "Message std",
        "How unsure the model is of the message itself: its standard deviation, averaged over "
        "classes.",
        "std of the message, mean over classes",
    ),
    "message_entropy": _doubt(
        "Message entropy",
        "How widely the message may vary over all classes together, in nats.",
        "entropy of the message (nats)",
    ),
    "confidence": _trust(
        "Confidence",
        "The probability that the model gives to the class it predicts.",
        "confidence in the predicted class",
    ),
    "predictive_entropy": _doubt(
        "Predictive entropy",
        "How evenly the probability is spread over the classes, in nats: 0 is a firm answer.",
        "entropy of the class probabilities (nats)",
    ),
    "prob_std": _trust(
        "Spread of the probabilities",
        "How far the class probabilities lie apart (their standard deviation): 0 is a pure guess.",
        "spread of the class probabilities (std)",
    ),
    "correct": Column(
        "Right or wrong",
        "Whether the predicted class is the true one; left-out classes can only be got wrong.",
        "category",
    ),
    "predicted": Column("Predicted class", "The class that the model predicts.", "category"),
    "true": Column("True class", "The class that the data give.", "category"),
    "part": Column(
        "Part of the split",
        "What a node was used for: training, choosing the best epoch (validation), testing, or "
        "nothing; nodes of left-out classes are never trained on.",
        "category",
    ),
    "degree": Column(
        "Degree",
        "How many links a node has, counting one to itself; the colours are on a log scale.",
        low="few links",
        high="many links",
        log=True,
    ),
    "distance": Column(
        "Distance to training",
        "How many links away the nearest training node is.",
        low="near",
        high="far",
    ),
}
"""Column name -> what it shows, for every method."""


def of(table: pd.DataFrame) -> dict[str, Column]:
    """What this run can be coloured by, the scores of its own method first."""
    own = {name: _doubt(*words) for name, words in table.attrs.get("scores", {}).items()}
    return {name: column for name, column in (own | KNOWN).items() if name in table}


def numbers(table: pd.DataFrame) -> dict[str, Column]:
    """Those that are numbers."""
    return {name: column for name, column in of(table).items() if column.kind == "score"}


def scores(table: pd.DataFrame) -> dict[str, Column]:
    """Those that say how sure the model is."""
    return {name: column for name, column in of(table).items() if column.uncertain}


def colour_limits(shades: np.ndarray) -> tuple[float, float]:
    """The 1st and 99th percentile of the finite ones: a few extremes do not flatten the rest."""
    finite = shades[np.isfinite(shades)]
    if len(finite) == 0:
        return 0.0, 1.0
    low, high = np.percentile(finite, [1, 99]).tolist()
    return (low, high) if high - low >= 1e-6 else (low - 0.5, high + 0.5)
