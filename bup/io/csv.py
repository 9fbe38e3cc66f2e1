"""CSV files that are safe to open in a spreadsheet."""

from __future__ import annotations

import re

from bup.io.lazy import pandas as pd

_FORMULA = re.compile(r"[\s\ufeff\u200b-\u200d\u2060]*[=+\-@|%\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""Text that a spreadsheet takes for a formula: a sign, perhaps a full-width one, after white space
or characters of no width."""


def csv_text(frame: pd.DataFrame) -> str:
    """A table as CSV in which no text is a formula: names and ids may come from a stranger's file.

    Such a text gets an apostrophe in front, which tells spreadsheets that it is text.
    """
    plain = frame.rename(columns=_as_text)
    # With both characters in the line end, either of them inside a cell is quoted.
    return plain.map(_as_text).to_csv(index=False, lineterminator="\r\n")


def escape_formula(text: str) -> str:
    """A text as ``csv_text`` writes it."""
    return f"'{text}" if _FORMULA.match(text) else text


def _as_text(cell: object) -> object:
    return escape_formula(cell) if isinstance(cell, str) else cell
