"""The ``bup`` command."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import bup
from bup.datasets import citation
from bup.graph import describe

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON value instead of tables."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(bup.__version__, message="%(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    """See, question and understand the uncertainty of a graph neural network."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Run the command; what a person can act on is one line on stderr and exit code 2."""
    try:
        code = app(prog_name="bup", standalone_mode=False)
    except bup.BupError as error:
        _fail(str(error))
    except click.ClickException as error:
        _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        print("bup: stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> None:
    print("bup: " + " ".join(message.split()), file=sys.stderr)
    sys.exit(2)


@app.command()
@click.option("--fetch", is_flag=True, help="Fetch the citation graphs that are not cached yet.")
@json_option
def graphs(fetch: bool, as_json: bool) -> None:
    """List the graphs that can be loaded."""
    problems = []
    if fetch:
        for name in citation.CITATION_GRAPHS:
            try:
                bup.load_graph(name)
            except bup.BupError as error:
                problems.append(str(error))
    rows = []
    for name, title in bup.GRAPHS.items():
        known = citation.CITATION_GRAPHS.get(name)
        state = None if known is None else "cached" if citation.is_cached(name) else "not fetched"
        rows.append({"name": name, "title": title, "state": state})
    if as_json:
        print_json(rows)
    else:
        texts = ((row["name"], row["title"], row["state"] or "made on the spot") for row in rows)
        print_table(["graph", "what it is", "data"], texts)
    # The app still runs on the graphs that need no network, so this is a warning, not a failure.
    for problem in problems:
        print(f"bup: {problem}", file=sys.stderr)


@app.command()
@click.argument("name")
@json_option
def graph(name: str, as_json: bool) -> None:
    """Show a graph's figures: size, classes, degrees, homophily, components.

    NAME is one that 'bup graphs' lists, such as cora.
    """
    figures = describe(bup.load_graph(name))
    if as_json:
        print_json(figures)
        return
    homophily = figures["homophily"]
    components = figures["components"]
    facts = [
        ("nodes", f"{figures['nodes']:,}"),
        ("edges", f"{figures['edges']:,}"),
        ("features", f"{figures['features']:,} ({figures['density']:.1%} of the values not zero)"),
        ("classes", f"{figures['classes']}"),
        ("without a label", f"{figures['unlabelled']:,}"),
        (
            "homophily",
            "unknown" if homophily is None else f"{homophily:.3f} of the edges join two of a class",
        ),
        (
            "components",
            f"{components['count']:,}, the largest with {components['largest']:,} nodes",
        ),
        ("isolated nodes", f"{components['isolated']:,}"),
    ]
    print_table([name, ""], facts)
    sizes = figures["class_sizes"]
    print_table(
        ["class", "name", "nodes", "share"],
        (
            (str(c), label, f"{size:,}", f"{size / max(1, sum(sizes.values())):.1%}")
            for c, (label, size) in enumerate(sizes.items())
        ),
    )
    print_table(
        ["degree (self-loop counted)", "nodes", "share"],
        (
            (row["degree"], f"{row['nodes']:,}", f"{row['nodes'] / figures['nodes']:.1%}")
            for row in figures["degrees"]
        ),
    )
    for note in figures["notes"]:
        Console().print(f"[dim]{escape(note)}[/]")


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))


def print_table(columns: list[str], rows: Iterable[Iterable[str]]) -> None:
    """A table for people: numbers right-aligned, everything escaped."""
    table = Table(box=box.SIMPLE_HEAD)
    cells = [[escape(cell) for cell in row] for row in rows]
    for i, column in enumerate(columns):
        numeric = bool(cells) and all(row[i][:1].isdigit() or row[i][:1] == "-" for row in cells)
        table.add_column(escape(column), justify="right" if numeric else "left")
    for row in cells:
        table.add_row(*row)
    Console().print(table)
