"""A table as people save them: any separator, decimal mark and usual encoding."""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings

import numpy as np
import pandas as pd

from bup.datasets.uploads import limits
from bup.errors import BupError
from bup.io.quoting import quote

SEPARATORS = {"Comma": ",", "Semicolon": ";", "Tab": "\t", "Bar": "|"}
MOST_COLUMNS = 20_000
LONGEST_HEADER = 2**22  # characters that are looked at
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
                raise BupError(f"{quote(name)} is no sound text: save it as UTF-8") from None
            return _lines(name, text), "" if mark == codecs.BOM_UTF8 else "UTF-16"
    try:
        return _lines(name, content.decode()), ""
    except UnicodeDecodeError:
        # Every byte means something here: whether it is right, the preview shows.
        return _lines(name, content.decode("cp1252", errors="replace")), "Latin-1"


def _lines(name: str, text: str) -> str:
    if "\0" in text:
        raise BupError(f"{quote(name)} has NUL bytes, so it is no text: save it as UTF-8 csv")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def separator_of(text: str) -> str:
    """The separator that splits the first line into most cells."""
    line = re.sub('"[^"]*"', "", text.lstrip("\n").partition("\n")[0])
    return max(SEPARATORS.values(), key=lambda mark: (line.count(mark), mark == ","))


def read_table(name: str, text: str, separator: str | None = None) -> pd.DataFrame:
    """Cells as text: ``007``, ``NA`` and ``null`` stay what they are."""
    separator = separator or separator_of(text)
    rows = text.count("\n")
    if rows > max(limits.NODES.value, limits.LINKS.value):
        raise BupError(f"{quote(name)} has {rows:,} lines: give a smaller graph")
    # Before the work, by the header, and after it, by what came out: quotes can hide line ends.
    check_cells(name, rows, _columns(text, separator))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                io.BytesIO(text.encode()),
                sep=separator,
                dtype=str,
                na_filter=False,
                skipinitialspace=True,
                index_col=False,
            )
    except ValueError as error:  # pandas' own errors are ValueErrors
        if "out of memory" in str(error):
            raise MemoryError from error
        reason = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")
        raise BupError(
            f"{quote(name)} is no table separated by {quote(separator)} ({reason}): give one cell "
            "per column, quote cells that contain the separator"
        ) from error
    except pd.errors.ParserWarning:
        raise BupError(f"{quote(name)} has rows with more cells than columns: mend them") from None
    check_cells(name, *table.shape)
    table.columns = [str(column).strip() for column in table.columns]
    if not len(table.columns) or not len(table):
        raise BupError(f"{quote(name)} has no rows: give a header line and a row for each")
    return table.fillna("").map(str.strip)


def _columns(text: str, separator: str) -> int:
    """How many cells the first line that is not blank has."""
    lines = csv.reader(
        io.StringIO(text[:LONGEST_HEADER]), delimiter=separator, skipinitialspace=True
    )
    try:
        return len(next((cells for cells in lines if cells), []))
    except csv.Error:  # a cell beyond any header's; pandas says what is wrong, if anything is
        return 1


def check_cells(name: str, rows: int, columns: int) -> None:
    """Refuse more than whoever serves the app takes, whatever the format."""
    if columns > MOST_COLUMNS:
        raise BupError(
            f"{quote(name)} has {columns:,} columns, more than {MOST_COLUMNS:,}: put features into "
            "features.npz (scipy.sparse.save_npz)"
        )
    if rows * columns > limits.CELLS.value:
        raise BupError(
            f"{quote(name)} has about {rows * columns:,} cells, more than {limits.CELLS.value:,} "
            f"({limits.CELLS.name}): put features into features.npz (scipy.sparse.save_npz)"
        )


def numbers(column: pd.Series, decimal: str | None = None) -> np.ndarray | None:
    """The column as numbers, with a decimal comma where nothing else makes sense; else None."""
    for mark in [decimal] if decimal else DECIMALS.values():
        try:  # of thousands of columns, most are given up at once
            float(column.iloc[0].replace(mark, "."))
        except (ValueError, IndexError):
            continue
        text = column.str.replace(",", ".", regex=False) if mark == "," else column
        values = pd.to_numeric(text, errors="coerce").to_numpy(np.float64, na_value=np.nan)
        if np.isfinite(values).all():
            return values
    return None
