"""A table as people save them: any separator, decimal mark and usual encoding."""

from __future__ import annotations

import codecs
import io
import re

import numpy as np
import pandas as pd

from bup.datasets.folder.wording import shown
from bup.datasets.own import limits
from bup.errors import BupError

SEPARATORS = {"Comma": ",", "Semicolon": ";", "Tab": "\t", "Bar": "|"}
DECIMALS = {"Point": ".", "Comma": ","}
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def decoded(name: str, content: bytes) -> tuple[str, str]:
    """The text, and what to say of its encoding (nothing where it is UTF-8)."""
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            try:
                text = content.decode(encoding)
            except UnicodeDecodeError:
                raise BupError(f"{shown(name)} is no sound text: save it as UTF-8") from None
            return _lines(name, text), "" if mark == codecs.BOM_UTF8 else "UTF-16"
    try:
        return _lines(name, content.decode()), ""
    except UnicodeDecodeError:
        # Every byte means something here: whether it is right, the preview shows.
        return _lines(name, content.decode("cp1252", errors="replace")), "Latin-1"


def _lines(name: str, text: str) -> str:
    if "\0" in text:
        raise BupError(f"{shown(name)} has NUL bytes, so it is no text: save it as UTF-8 csv")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def separator_of(text: str) -> str:
    """The separator that splits the first line into most cells."""
    line = re.sub('"[^"]*"', "", text.partition("\n")[0])
    return max(SEPARATORS.values(), key=lambda mark: (line.count(mark), mark == ","))


def read_table(name: str, text: str, separator: str | None = None) -> pd.DataFrame:
    """Cells as text: ``007``, ``NA`` and ``null`` stay what they are."""
    separator = separator or separator_of(text)
    header = text.partition("\n")[0].count(separator) + 1
    rows = text.count("\n")
    if rows > max(limits.NODES.value, limits.LINKS.value):
        raise BupError(f"{shown(name)} has {rows:,} lines: give a smaller graph")
    if rows * header > limits.CELLS.value:
        raise BupError(
            f"{shown(name)} has about {rows * header:,} cells, more than {limits.CELLS.value:,} "
            f"({limits.CELLS.name}): put features into features.npz (scipy.sparse.save_npz)"
        )
    try:
        table = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            dtype=str,
            na_filter=False,
            skipinitialspace=True,
            index_col=False,
        )
    except ValueError as error:  # pandas' own errors are ValueErrors
        reason = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")
        raise BupError(
            f"{shown(name)} is no table separated by {shown(separator)} ({reason}): give one cell "
            "per column, quote cells that contain the separator"
        ) from error
    except pd.errors.ParserWarning:
        raise BupError(f"{shown(name)} has rows with more cells than columns: mend them") from None
    table.columns = [str(column).strip() for column in table.columns]
    if not len(table.columns) or not len(table):
        raise BupError(f"{shown(name)} has no rows: give a header line and a row for each")
    return table.fillna("").map(str.strip)


def numbers(column: pd.Series, decimal: str | None = None) -> np.ndarray | None:
    """The column as numbers, with a decimal comma where nothing else makes sense; else None."""
    for mark in [decimal] if decimal else DECIMALS.values():
        text = column.str.replace(",", ".", regex=False) if mark == "," else column
        values = pd.to_numeric(text, errors="coerce").to_numpy(np.float64, na_value=np.nan)
        if np.isfinite(values).all():
            return values
    return None
