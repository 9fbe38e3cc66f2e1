"""What the columns of a node table mean: the one list from which pages offer colours and scores.

Scores explain themselves (``bup.scores``); those that only one method has are offered wherever
the table is one of its runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from bup.methods import METHODS
from bup.methods.imported import is_score, score_of
from bup.scores import KINDS, SCORES, Score


@dataclass(frozen=True)
class Column:
    """A column of ``bup.results.result.node_table`` that charts can show."""

    label: str
    meaning: str
    kind: Literal["score", "category"] = "score"
    uncertain: bool = False  # it says how sure the model is
    low: str = ""  # what the first colour of a score means
    high: str = ""  # and the last
    axis: str = ""  # longer than the label, for an axis of its own
    log: bool = False  # coloured by its logarithm, because a few nodes have far more than most
    offered: bool = True  # menus have it
    turned: bool = False  # coloured from its highest value on: bright is doubt, whatever the score
    tells: str = ""  # what a dot's colour says of it, as the end of a sentence

    def seen(self, dark: bool) -> str:
        """What one sees on a map of this colour, in a sentence."""
        if self.kind == "category":
            return f"The colour of a dot is {self.tells}."
        more = "brighter" if self.uncertain or dark else "darker"
        return f"The {more} a dot, {self.tells}."

    def shade(self, values: np.ndarray) -> np.ndarray:
        """What colours are proportional to."""
        return np.log10(1 + values) if self.log else -values if self.turned else values

    def value(self, shade: float) -> float:
        """The value that a shade stands for."""
        return 10**shade - 1 if self.log else -shade if self.turned else shade

    def written(self, shade: float) -> str:
        """That value, for an end of a scale."""
        return f"{self.value(shade) + 0.0:{'.0f' if self.log else '.3g'}}"


def _of_score(score: Score) -> Column:
    meaning = score.help
    if score.kind != "neither":
        meaning += f" {KINDS[score.kind].capitalize()}."
    ends = ("more certain", "less certain")
    return Column(
        score.title,
        meaning,
        "score",
        True,
        *ends,
        score.axis,
        offered=score.offered,
        turned=score.certain,
        tells="the less sure it is",
    )


OTHERS = {
    "correct": Column(
        "Right or wrong",
        "Whether the predicted class is the true one; left-out classes can only be got wrong.",
        "category",
        tells="whether it is answered rightly",
    ),
    "predicted": Column(
        "Predicted class",
        "The class that the model predicts.",
        "category",
        tells="the class that the model answers",
    ),
    "true": Column(
        "True class", "The class that the data give.", "category", tells="its true class"
    ),
    "part": Column(
        "Part of the split",
        "What a node was used for: training, choosing the best epoch (validation), testing, or "
        "nothing; nodes of left-out classes are never trained on.",
        "category",
        tells="what it was used for",
    ),
    "degree": Column(
        "Degree",
        "How many links a node has; the colours are on a log scale.",
        low="few links",
        high="many links",
        log=True,
        tells="the more links it has",
    ),
    "distance": Column(
        "Distance to training",
        "How many links away the nearest training node is.",
        low="near",
        high="far",
        tells="the further it is from the nodes that the model was told",
    ),
}
"""Columns that say nothing of how sure the model is."""


def of(table: pd.DataFrame) -> dict[str, Column]:
    """What this run is offered to be coloured by, the scores of its own method first."""
    return {name: column for name, column in known(table).items() if column.offered}


def known(table: pd.DataFrame) -> dict[str, Column]:
    """The same, with scores that no menu offers."""
    method = METHODS.get(table.attrs.get("method", ""))
    own = [s for s in method.scores if s.name not in SCORES] if method is not None else []
    if method is not None and method.brought:
        own = [score_of(name) for name in table.columns if is_score(name)]
    scores = {score.name: _of_score(score) for score in (*own, *SCORES.values())}
    return {name: column for name, column in (scores | OTHERS).items() if name in table}


def score_title(name: str) -> str:
    """What a score is called, whichever method has it."""
    every = (score for method in METHODS.values() for score in method.every_score)
    return next((score.title for score in every if score.name == name), score_of(name).title)


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


RIGHT, WRONG, LEFT_OUT = 0, 1, 2


def verdicts(table: pd.DataFrame) -> np.ndarray:
    """``WRONG`` or ``LEFT_OUT`` [n] for such nodes, ``RIGHT`` for the others and the unlabelled."""
    wrong = table["correct"].eq(False).fillna(False).to_numpy(bool)
    return np.select([table["ood"].to_numpy(bool), wrong], [LEFT_OUT, WRONG], RIGHT)


def categories(table: pd.DataFrame, name: str) -> np.ndarray:
    """What each node is of a category, in the words that ``theme.category_colours`` has."""
    ood = table["ood"].to_numpy(bool)
    if name == "correct":
        right = table["correct"].fillna(False).to_numpy(bool)
        judged = table["correct"].notna().to_numpy()
        return np.select([ood, ~judged, right], ["left out", "unlabelled", "correct"], "wrong")
    if name == "part":
        return np.where(ood, "left out", table["part"].to_numpy(str))
    return table[name].to_numpy(str)
