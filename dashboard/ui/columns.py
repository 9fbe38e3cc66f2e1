"""The columns of a node table: labels, explanations and colour scales for menus and charts.

The texts about scores come from ``bup.scores``. A score that only one method has is offered for
runs of that method.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from bup.errors import BupError
from bup.methods import METHODS
from bup.methods.imported import is_score, score_of
from bup.scores import KINDS, SCORES, Score


@dataclass(frozen=True)
class Column:
    """A column of ``bup.results.result.node_table`` that charts can show."""

    label: str
    meaning: str
    kind: Literal["score", "category"] = "score"
    uncertain: bool = False  # the column says how sure the model is
    low: str = ""  # what the first colour of a score means
    high: str = ""  # and the last
    axis: str = ""  # title of an axis, where it is longer than the label
    log: bool = False  # colours follow the logarithm: a few nodes have far larger values
    in_menus: bool = True
    reverse: bool = False  # the highest value has the first colour, so that bright is uncertain
    dot_meaning: str = ""  # what the colour of a dot means: the end of ``map_sentence``

    def map_sentence(self, dark: bool) -> str:
        """Explain the colours of a map to the visitor."""
        if self.kind == "category":
            return f"The colour of a dot shows {self.dot_meaning}."
        more = "brighter" if self.uncertain or dark else "darker"
        return f"The {more} a dot, {self.dot_meaning}."

    def shade(self, values: np.ndarray) -> np.ndarray:
        """Numbers that the colours are proportional to."""
        return np.log10(1 + values) if self.log else -values if self.reverse else values

    def value(self, shade: float) -> float:
        """The value that a shade stands for."""
        return 10**shade - 1 if self.log else -shade if self.reverse else shade

    def format_shade(self, shade: float) -> str:
        """That value as text, for the end of a colour scale."""
        return f"{self.value(shade) + 0.0:{'.0f' if self.log else '.3g'}}"


def _of_score(score: Score) -> Column:
    meaning = score.help
    if score.kind != "neither":
        meaning += f" {KINDS[score.kind].capitalize()}."
    return Column(
        score.title,
        meaning,
        uncertain=True,
        low="more certain",
        high="less certain",
        axis=score.axis,
        in_menus=score.offered,
        reverse=score.certain,
        dot_meaning="the less sure it is",
    )


_TABLE = (Path(__file__).parent / "columns.toml").read_text(encoding="utf-8")
OTHERS = {name: Column(**facts) for name, facts in tomllib.loads(_TABLE).items()}
"""Columns that do not say how sure the model is."""


def menu_columns(table: pd.DataFrame) -> dict[str, Column]:
    """The columns that menus offer for a run; the scores of its own method come first."""
    return {name: column for name, column in all_columns(table).items() if column.in_menus}


def all_columns(table: pd.DataFrame) -> dict[str, Column]:
    """The same, with the scores that no menu offers."""
    method = METHODS.get(table.attrs.get("method", ""))
    own = [s for s in method.scores if s.name not in SCORES] if method is not None else []
    if method is not None and method.is_imported:
        own = [score_of(name) for name in table.columns if is_score(name)]
    scores = {score.name: _of_score(score) for score in (*own, *SCORES.values())}
    return {name: column for name, column in (scores | OTHERS).items() if name in table}


def column_of(table: pd.DataFrame, name: str) -> Column:
    """The column of this name; raises BupError if charts cannot show it."""
    known = all_columns(table)
    if name not in known:
        raise BupError(f"this run cannot be coloured by {name!r}: choose one of {', '.join(known)}")
    return known[name]


def score_title(name: str) -> str:
    """The title of a score of any method."""
    every = (score for method in METHODS.values() for score in method.all_scores)
    return next((score.title for score in every if score.name == name), score_of(name).title)


def numeric_columns(table: pd.DataFrame) -> dict[str, Column]:
    return {name: column for name, column in menu_columns(table).items() if column.kind == "score"}


def score_columns(table: pd.DataFrame) -> dict[str, Column]:
    """The columns that say how sure the model is."""
    return {name: column for name, column in menu_columns(table).items() if column.uncertain}


def colour_limits(shades: np.ndarray) -> tuple[float, float]:
    """The 1st and 99th percentile of the finite shades: a few extremes do not flatten the rest."""
    finite = shades[np.isfinite(shades)]
    if len(finite) == 0:
        return 0.0, 1.0
    low, high = np.percentile(finite, [1, 99]).tolist()
    return (low, high) if high - low >= 1e-6 else (low - 0.5, high + 0.5)


RIGHT, WRONG, LEFT_OUT = 0, 1, 2


def names(table: pd.DataFrame) -> pd.Series:
    """What the nodes are called [n]."""
    return table[table.attrs.get("named_by", "id")]


def verdicts(table: pd.DataFrame) -> np.ndarray:
    """``WRONG`` or ``LEFT_OUT`` [n] for such nodes, ``RIGHT`` for the others and the unlabelled."""
    wrong = table["correct"].eq(False).fillna(False).to_numpy(bool)
    return np.select([table["ood"].to_numpy(bool), wrong], [LEFT_OUT, WRONG], RIGHT)


def categories(table: pd.DataFrame, name: str) -> np.ndarray:
    """The category of each node [n]: a key of ``theme.category_colours``."""
    ood = table["ood"].to_numpy(bool)
    if name == "correct":
        right = table["correct"].fillna(False).to_numpy(bool)
        judged = table["correct"].notna().to_numpy()
        return np.select([ood, ~judged, right], ["left out", "unlabelled", "correct"], "wrong")
    if name == "part":
        return np.where(ood, "left out", table["part"].to_numpy(str))
    return table[name].to_numpy(str)
