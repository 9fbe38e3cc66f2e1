"""Tables of text: strictly, row by row with line numbers, or as people save them, as a frame."""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import BinaryIO

import numpy as np

from bup.errors import BupError, quote, quote_all
from bup.io.lazy import pandas as pd
from bup.io.limits import CELLS, LINKS, NODES, TableLimits

SEPARATORS = {"Comma": ",", "Semicolon": ";", "Tab": "\t", "Bar": "|"}
MOST_COLUMNS = 20_000
LONGEST_HEADER = 2**22  # characters that are looked at
DECIMALS = {"Point": ".", "Comma": ","}


def read_rows(
    name: str, file: BinaryIO, required: tuple[str, ...], max_rows: int, limits: TableLimits
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The columns of a UTF-8 table with commas, and its rows, each with the line where it starts.

    Nothing is guessed: every error names its line. The file is never in memory as a whole.
    """
    lines = _rows_by_line(name, file, limits)
    line, columns = next(lines, (1, []))
    columns = [column.strip() for column in columns]
    if not columns:
        raise BupError(f"{name} is empty: start it with the column names {','.join(required)}")
    for column in required:
        if column not in columns:
            raise BupError(
                f"{name}, line {line}: no column {column!r} among {quote_all(columns)}: the first "
                f"line must name the columns {' and '.join(required)}, separated by commas"
            )
    if "" in columns:
        raise BupError(
            f"{name}, line {line}: the name of column {columns.index('') + 1} is '': "
            "name the column or delete it"
        )
    column, times = Counter(columns).most_common(1)[0]
    if times > 1:
        raise BupError(
            f"{name}, line {line}: {times} columns are called {quote(column)}: rename or "
            "delete all but one"
        )

    def rows() -> Iterator[tuple[int, list[str]]]:
        number = 0
        for number, (line, cells) in enumerate(lines, 1):
            if number > max_rows:
                raise BupError(f"{name}, line {line}: more than {max_rows:,} rows: give fewer")
            if len(cells) != len(columns):
                raise BupError(
                    f"{name}, line {line}, starting {quote(cells[0])}: cells: {len(cells)}, "
                    f"columns: {len(columns)}: give one cell per column, quote cells with commas"
                )
            yield line, cells
        if number == 0:
            raise BupError(f"{name} has a header but no rows: add them below it")

    return columns, rows()


def _rows_by_line(
    name: str, file: BinaryIO, limits: TableLimits
) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line where it starts."""
    start = 1
    size = 0  # bytes of the present row, which goes on over lines inside quotes

    def lines() -> Iterator[str]:
        nonlocal size
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)
        for line in count(1):
            raw = file.readline(limits.row_bytes + 1)
            if not raw:
                return
            size += len(raw)
            if size > limits.row_bytes:
                raise BupError(
                    f"{name}, line {start}: the row has over {limits.row_bytes:,} bytes: "
                    "check the line ends and the quotes"
                )
            if b"\0" in raw:
                raise BupError(
                    f"{name}, line {line}: a NUL byte: save the file as plain UTF-8 text"
                )
            try:
                yield raw.decode()
            except UnicodeDecodeError as error:
                offset = file.tell() - len(raw) + error.start
                raise BupError(
                    f"{name}, line {line}: byte {raw[error.start]:#04x} at offset {offset} is not "
                    "UTF-8: save the file as UTF-8"
                ) from error

    reader = csv.reader(lines(), strict=True)
    try:
        for cells in reader:
            if cells:
                yield start, cells
            start, size = reader.line_num + 1, 0
    except csv.Error as error:
        raise BupError(
            f"{name}, line {start}: not valid CSV ({error}): close each quote, double those "
            "inside quoted cells, end lines with LF or CRLF"
        ) from error


def decode(name: str, content: bytes) -> tuple[str, str]:
    """The text, and the name of its encoding where that is not UTF-8."""
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "UTF-16" if is_utf16 else ""
    try:
        text = content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        if is_utf16 or content.startswith(codecs.BOM_UTF8):
            raise BupError(f"{quote(name)} is no sound text: save it as UTF-8") from None
        # Every byte means something here: the preview shows whether it is right.
        text, encoding = content.decode("cp1252", errors="replace"), "Latin-1"
    if "\0" in text:
        raise BupError(f"{quote(name)} has NUL bytes, so it is no text: save it as UTF-8 csv")
    return text.replace("\r\n", "\n").replace("\r", "\n"), encoding


def read_frame(name: str, content: bytes, separator: str | None = None) -> tuple[pd.DataFrame, str]:
    """A table of text, as people save them, and the name of its encoding if that is not UTF-8.

    Cells stay as they are: ``007``, ``NA`` and ``null``. Without a ``separator`` the first line
    tells which one it is.
    """
    text, encoding = decode(name, content)
    if separator is None:
        line = re.sub('"[^"]*"', "", text.lstrip("\n").partition("\n")[0])
        separator = max(SEPARATORS.values(), key=lambda mark: (line.count(mark), mark == ","))
    rows = text.count("\n")
    if rows > max(NODES.value, LINKS.value):
        raise BupError(f"{quote(name)} has {rows:,} lines: give a smaller graph")
    # Before the work, by the header, and after it, by what came out: quotes can hide line ends.
    check_cells(name, rows, _count_columns(text, separator))
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
    return table.fillna("").map(str.strip), encoding


def _count_columns(text: str, separator: str) -> int:
    """How many cells the first line that is not blank has."""
    lines = csv.reader(
        io.StringIO(text[:LONGEST_HEADER]), delimiter=separator, skipinitialspace=True
    )
    try:
        return len(next((cells for cells in lines if cells), []))
    except csv.Error:  # a cell beyond any header's; pandas says what is wrong, if anything is
        return 1


def check_cells(name: str, rows: int, columns: int) -> None:
    """Refuse a table larger than the server reads, whatever its format."""
    if columns > MOST_COLUMNS:
        size = f"{columns:,} columns, more than {MOST_COLUMNS:,}"
    elif rows * columns > CELLS.value:
        size = f"about {rows * columns:,} cells, more than {CELLS}"
    else:
        return
    raise BupError(
        f"{quote(name)} has {size}: put features into features.npz (scipy.sparse.save_npz)"
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
