"""A csv file as rows that know their line."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import BinaryIO

from bup.datasets.folder import limits
from bup.datasets.folder.files import opened
from bup.errors import BupError
from bup.io.quoting import quote, quote_all


def read_table(
    folder: str, name: str, required: tuple[str, ...], max_rows: int
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The column names and the rows, each with the line where it starts; at least one row."""
    lines = _read_rows(folder, name)
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


def _read_rows(folder: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line where it starts."""
    start = 1
    size = 0  # bytes of the present row, which goes on over lines inside quotes

    def lines(file: BinaryIO) -> Iterator[str]:
        nonlocal size
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)
        for line in count(1):
            raw = file.readline(limits.MAX_ROW_BYTES + 1)
            if not raw:
                return
            size += len(raw)
            if size > limits.MAX_ROW_BYTES:
                raise BupError(
                    f"{name}, line {start}: the row has over {limits.MAX_ROW_BYTES:,} bytes: "
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

    with opened(folder, name, limits.MAX_CSV_BYTES) as file:
        reader = csv.reader(lines(file), strict=True)
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
