"""Tables for spreadsheets."""

from __future__ import annotations

import re

import pandas as pd

_FORMULA = re.compile(r"\s*[=+\-@|%\t\r\n]")
"""What makes a spreadsheet take a cell for something to run."""


def csv_text(frame: pd.DataFrame) -> str:
    """A table as CSV in which no text is a formula: names and ids come from anybody's files.

    Such a text begins with an apostrophe, which spreadsheets take for "this is text".
    """
    inert = frame.rename(columns=_inert)
    # With both in the line end, a stray one of either inside a cell is quoted.
    return inert.map(_inert).to_csv(index=False, lineterminator="\r\n")


def _inert(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell
