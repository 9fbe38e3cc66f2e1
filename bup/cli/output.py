"""What a command prints."""

import json
from collections.abc import Iterable
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON value instead of tables."
)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))


def print_table(columns: list[str], rows: Iterable[Iterable[str]]) -> None:
    """A table for people: numbers right-aligned, everything escaped."""
    table = Table(box=box.SIMPLE_HEAD)
    cells = [[escape(cell) for cell in row] for row in rows]
    for i, column in enumerate(columns):
        numeric = bool(cells) and all(row[i][:1].isdigit() or row[i][:1] in "+-" for row in cells)
        table.add_column(escape(column), justify="right" if numeric else "left")
    for row in cells:
        table.add_row(*row)
    Console().print(table)
