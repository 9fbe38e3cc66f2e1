"""A table's comparisons: every variant against the reference, on the same splits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from bup.experiments.question import CELL, Quantity
from bup.metrics.comparison import LEVEL, Paired, holm, paired, reruns_to_settle


@dataclass(frozen=True)
class Comparison:
    """A variant and the reference, by one quantity, over the reruns that both have."""

    cell: tuple  # graph, labels per class, protocol, variant
    reference: str
    quantity: Quantity
    difference: Paired  # of variant minus reference
    corrected: float  # p, for all comparisons of its column on its graph
    among: int  # how many these are

    @property
    def differs(self) -> bool:
        return self.corrected < LEVEL

    @property
    def verdict(self) -> int:
        """1: better than the reference, -1: worse, 0: open."""
        gain = self.difference.mean * self.quantity.better
        return (gain > 0) - (gain < 0) if self.differs else 0

    @property
    def reruns_needed(self) -> int | None:
        """How many reruns would settle it, where it is open and that can be said."""
        more = None if self.differs else reruns_to_settle(self.difference, self.among)
        return None if more is None else max(more, self.difference.reruns + 1)

    def in_words(self) -> str:
        """``ECE of gcn is 1.20 above that of bup (95% interval 0.40 to 2.00, ...): worse.``"""
        digits, test = self.quantity.digits, self.difference
        what = f"{self.quantity.title} of {self.cell[3]}"
        if test.reruns < 2:
            return f"{what} against {self.reference}: one rerun says nothing of chance."
        where, ends = "above", (test.interval.low, test.interval.high)
        if test.mean < 0:
            where, ends = "below", (-test.interval.high, -test.interval.low)
        low, high = (f"{end:.{digits}f}" for end in ends)
        text = (
            f"{what} is {abs(test.mean):.{digits}f} {where} that of {self.reference} on the same "
            f"splits (95% interval {low} to {high}, p = {_p(test.p)}, corrected "
            f"{_p(self.corrected)}): "
        )
        if self.differs:
            return text + {1: "better.", -1: "worse.", 0: "it differs."}[self.verdict]
        if (more := self.reruns_needed) is None:
            return text + "open, and more reruns are unlikely to settle it."
        return text + f"open; about {more} reruns would settle it, {test.reruns} are there."


def comparisons(
    rows: pd.DataFrame, quantities: Sequence[Quantity], reference: str
) -> list[Comparison]:
    """Every comparison of a table, each column of a graph corrected for its own number."""
    by_cell = dict(iter(rows.groupby(CELL, sort=False)))
    columns: dict[tuple[str, str], list[tuple[tuple, Quantity, Paired]]] = {}
    for cell, part in by_cell.items():
        other = by_cell.get((*cell[:3], reference))
        if other is None or cell[3] == reference:
            continue
        for quantity in quantities:
            if quantity.key not in part or quantity.key not in other:
                continue
            ours, theirs = (r.set_index("seed")[quantity.key] for r in (part, other))
            differences = (ours - theirs).dropna().to_numpy()
            if len(differences):
                column = columns.setdefault((cell[0], quantity.key), [])
                column.append((cell, quantity, paired(differences)))
    compared = []
    for column in columns.values():
        corrected = holm([test.p for _, _, test in column])
        among = sum(not math.isnan(test.p) for _, _, test in column)
        compared += [
            Comparison(cell, reference, quantity, test, float(p), among)
            for (cell, quantity, test), p in zip(column, corrected, strict=True)
        ]
    return compared


def _p(value: float) -> str:
    return "below 0.001" if value < 0.001 else f"{value:.3f}"
