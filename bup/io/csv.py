"""Tables for spreadsheets."""

from __future__ import annotations

import re

from bup.io.lazy import pandas as pd

_FORMULA = re.compile(r"[\s\ufeff\u200b-\u200d\u2060]*[=+\-@|%\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""What makes a spreadsheet take a cell for something to run: signs, also as wide as East Asian
letters, behind anything that one does not see."""


def csv_text(frame: pd.DataFrame) -> str:
    """A table as CSV in which no text is a formula: names and ids come from anybody's files.

    Such a text begins with an apostrophe, which spreadsheets take for "this is text".
    """
    plain = frame.rename(columns=_as_text)
    # With both in the line end, a stray one of either inside a cell is quoted.
    return plain.map(_as_text).to_csv(index=False, lineterminator="\r\n")


def escape_formula(text: str) -> str:
    """A text as it stands in such a table."""
    return f"'{text}" if _FORMULA.match(text) else text


def _as_text(cell: object) -> object:
    return escape_formula(cell) if isinstance(cell, str) else cell
